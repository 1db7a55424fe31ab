"""Builds the environment of a held command."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct

from agentscope_like.toml_tables import read_table

__all__ = ["held_environment"]


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `variables.toml`, which says what each is."""

    offline: dict[str, str]
    places: dict[str, str]


@cache
def _table() -> _Table:
    return read_table(Path(__file__).with_name("variables.toml"), _Table)


def held_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment with what a command needs that has no network.

    Args:
        environment: The variables of the command, without secrets.
    """
    return {**environment, **_table().offline, **_table().places}
