"""Reads `sensitive.toml`: the sensitive paths, each with its reason."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from agentscope_like.nearest import nearest
from agentscope_like.toml_tables import TableError, parse_table

__all__ = [
    "Act",
    "SensitivePaths",
    "SensitiveTable",
    "credential_names",
    "parse_sensitive",
    "paths_asked_to",
    "standard_devices",
]

Act: TypeAlias = Literal["read", "write", "remove"]
"""What a person must approve; to write is also to replace or remove."""

_ACTS = frozenset(get_args(Act))
_SOURCE = "# "


class SensitivePaths(Struct, frozen=True):
    """One entry: the paths, the exceptions, and what the paths do."""

    does: str
    asks: frozenset[str]
    paths: tuple[str, ...]
    but: tuple[str, ...] = ()


class SensitiveTable(Struct, frozen=True):
    """The tables of `sensitive.toml`, which says what each field is."""

    standard_devices: frozenset[str]
    credential_names: tuple[str, ...]
    sensitive: tuple[SensitivePaths, ...]


class _Row(Struct, frozen=True, forbid_unknown_fields=True):
    """One entry as written, one path per line, and between them lines that name their sources."""

    does: str
    asks: str
    paths: str
    but: str = ""


class _Rows(Struct, frozen=True, forbid_unknown_fields=True):
    """The table as written."""

    standard_devices: frozenset[str]
    credential_names: tuple[str, ...]
    sensitive: tuple[_Row, ...]


@cache
def paths_asked_to(act: Act) -> tuple[SensitivePaths, ...]:
    """Return the paths of which a person must approve an act."""
    return tuple(entry for entry in _table().sensitive if act in entry.asks)


def standard_devices() -> frozenset[str]:
    """Return the devices that are harmless to read and write."""
    return _table().standard_devices


def credential_names() -> tuple[str, ...]:
    """Return the names, and patterns of names, that credentials often have."""
    return _table().credential_names


def parse_sensitive(text: str) -> SensitiveTable:
    """Compile the text of `sensitive.toml`.

    Raises:
        TableError: A field is unknown, missing or of the wrong type; or an entry lacks a path or
            source, or asks about anything but reading, writing or removing.
    """
    rows = parse_table(text, _Rows, _Row, name="sensitive.toml")
    entries = tuple(map(_entry, rows.sensitive))
    return SensitiveTable(rows.standard_devices, rows.credential_names, entries)


@cache
def _table() -> SensitiveTable:
    return parse_sensitive(Path(__file__).with_name("sensitive.toml").read_text("utf-8"))


def _entry(row: _Row) -> SensitivePaths:
    asks = frozenset(row.asks.split())
    place = f"sensitive.toml, the entry {row.does!r}"
    if unknown := sorted(asks - _ACTS):
        raise TableError(f"{place}: nothing asks {unknown[0]!r}{nearest(unknown[0], _ACTS)}.")
    lines = [line for line in row.paths.split("\n") if line]
    paths = tuple(line for line in lines if not line.startswith(_SOURCE))
    but = tuple(filter(None, row.but.split("\n")))
    if not asks or not paths:
        raise TableError(f"{place}: it has no path, or asks about nothing.")
    if "read" in asks and not lines[0].startswith(_SOURCE):
        raise TableError(f"{place}: `{paths[0]}` has no source: put a line `# SOURCE` before it.")
    return SensitivePaths(row.does, asks, paths, but)
