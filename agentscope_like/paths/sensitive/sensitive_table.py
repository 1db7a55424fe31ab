"""Reads `sensitive.toml`: the sensitive paths, each with its reason."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from agentscope_like.nearest import nearest
from agentscope_like.toml_tables import Lines, TableError, WordSet, parse_table

__all__ = [
    "Act",
    "SensitivePaths",
    "SensitiveTable",
    "parse_sensitive",
    "paths_asked_to",
    "sensitive_table",
    "standard_devices",
]

Act: TypeAlias = Literal["read", "write", "remove"]
"""What a person must approve; to write is also to replace or remove."""

_ACTS = frozenset(get_args(Act))


class SensitivePaths(Struct, frozen=True, forbid_unknown_fields=True):
    """One entry: the paths, the exceptions, and what the paths do."""

    does: str
    asks: WordSet
    paths: Lines
    but: Lines = Lines()


class SensitiveTable(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `sensitive.toml`, which says what each field is."""

    standard_devices: frozenset[str]
    credential_names: tuple[str, ...]
    harmless_hidden_files: tuple[str, ...]
    sensitive: tuple[SensitivePaths, ...]


@cache
def sensitive_table() -> SensitiveTable:
    """Return the tables."""
    return parse_sensitive(Path(__file__).with_name("sensitive.toml").read_text("utf-8"))


@cache
def paths_asked_to(act: Act) -> tuple[SensitivePaths, ...]:
    """Return the paths of which a person must approve an act."""
    return tuple(entry for entry in sensitive_table().sensitive if act in entry.asks)


def standard_devices() -> frozenset[str]:
    """Return the devices that are harmless to read and write."""
    return sensitive_table().standard_devices


def parse_sensitive(text: str) -> SensitiveTable:
    """Return the tables of the text of `sensitive.toml`.

    Raises:
        TableError: A field is unknown, missing or of the wrong type; or an entry lacks a path, or
            asks about anything but reading, writing or removing.
    """
    table = parse_table(text, SensitiveTable, SensitivePaths, name="sensitive.toml")
    for entry in table.sensitive:
        place = f"sensitive.toml, the entry {entry.does!r}"
        if unknown := sorted(entry.asks - _ACTS):
            raise TableError(f"{place}: nothing asks {unknown[0]!r}{nearest(unknown[0], _ACTS)}.")
        if not entry.asks or not entry.paths:
            raise TableError(f"{place}: it has no path, or asks about nothing.")
    return table
