"""Reads `families.toml`, which lists the request fields that families of models refuse."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec
from msgspec import Struct

__all__ = ["FamilyTable", "ModelFamily", "family_of", "family_table"]


class ModelFamily(Struct, frozen=True, forbid_unknown_fields=True):
    """Models that take the same fields of a request.

    Attributes:
        names: Prefixes of the names of its models.
        takes_reasoning_effort: Whether `reasoning_effort` is accepted; None if unknown.
        takes_max_tokens: Whether `max_tokens` is accepted instead of `max_completion_tokens`.
        takes_sampling: When sampling parameters are accepted; "without reasoning" means that
            `reasoning_effort` is "none".
        refuses: Further fields that are refused.
    """

    names: tuple[str, ...] = ()
    takes_reasoning_effort: bool | None = None
    takes_max_tokens: bool = True
    takes_sampling: Literal["always", "without reasoning", "never"] = "always"
    refuses: frozenset[str] = frozenset()


class FamilyTable(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `families.toml`.

    Attributes:
        sampling: Fields that control how the next token is sampled.
        optional: Fields that mean nothing if they are empty.
        family: The families.
    """

    sampling: frozenset[str]
    optional: frozenset[str]
    family: tuple[ModelFamily, ...]


_UNKNOWN = ModelFamily()


def family_of(model: str) -> ModelFamily:
    """Return the family of a model; one without restrictions if it is not in the table.

    Args:
        model: Its name, perhaps with a provider before it (`openai/gpt-5`) or that of a model
            tuned from it (`ft:gpt-4o:...`).
    """
    name = model.strip().lower().removeprefix("ft:").rpartition("/")[2]
    found, longest = _UNKNOWN, ""
    for family in family_table().family:
        for beginning in family.names:
            if len(beginning) > len(longest) and _begins(name, beginning):
                found, longest = family, beginning
    return found


@cache
def family_table() -> FamilyTable:
    """Return the table."""
    text = files(__package__).joinpath("families.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), FamilyTable)


def _begins(name: str, beginning: str) -> bool:
    """Return whether the name is the prefix, or has a new word after it: `o1` is not `o10`."""
    return name.startswith(beginning) and not name[len(beginning) : len(beginning) + 1].isalnum()
