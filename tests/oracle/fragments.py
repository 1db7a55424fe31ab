"""The pieces that the generator puts together; `fragments.toml` holds them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias, cast

__all__ = ["FRAGMENTS", "VALUES"]

Pool: TypeAlias = tuple[str, ...]


def _pools(table: Mapping[str, object]) -> dict[str, Pool]:
    return {name: tuple(pool) for name, pool in table.items() if isinstance(pool, list)}


_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

FRAGMENTS: Mapping[str, Pool] = _pools(_DATA)
"""Texts by what they are."""

VALUES: Mapping[str, Pool] = {
    **_pools(cast("Mapping[str, object]", _DATA["values"])),
    "text": FRAGMENTS["texts"],
}
"""Texts by the role of the argument that they are for."""
