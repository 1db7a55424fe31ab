"""Reads `steered_by.toml`: what steers a program, and what switches that off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct, field

from agentscope_like.shell.catalog.tables import family_names
from agentscope_like.shell.catalog.traits import canonical
from agentscope_like.toml_tables import Expression, TableError, read_table

__all__ = [
    "Settings",
    "Steering",
    "SteeringFile",
    "off_switches",
    "seen_steerings",
    "steered_by",
    "steering_table",
]

Settings: TypeAlias = Literal["lines", "toml", "json", "ini", "yaml"]
"""How a file is written."""


class SteeringFile(Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """Names of files that steer a program; `steered_by.toml` describes each field."""

    names: str
    settings: Settings = "lines"
    harmless_if: Expression | None = None
    named: bool = False
    at: bool = False

    @cached_property
    def all_names(self) -> tuple[str, ...]:
        """All names, each relative to a directory."""
        return tuple(self.names.split())


class Steering(Struct, frozen=True, forbid_unknown_fields=True):
    """What steers some programs; `steered_by.toml` describes each field."""

    source: str
    programs: str | tuple[str, ...] = ""
    families: str = ""
    steers: str = ""
    harmless: str = ""
    variables: str = ""
    off: Mapping[str, str] = field(default_factory=dict)
    since: int | None = None
    file: tuple[SteeringFile, ...] = ()

    @property
    def commands(self) -> tuple[str, ...]:
        """Its programs, each perhaps with words that have to be in the command."""
        return tuple(self.programs.split()) if isinstance(self.programs, str) else self.programs


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    steering: tuple[Steering, ...]


_Index: TypeAlias = Mapping[str, tuple[tuple[frozenset[str], Steering], ...]]


def steered_by(program: str) -> tuple[Steering, ...]:
    """Return what steers any command of a program, by any of its names; nothing if unknown."""
    known = _index().get(canonical(program), ())
    return tuple({id(each): each for _, each in known}.values())


@lru_cache(maxsize=1024)
def seen_steerings(program: str) -> tuple[tuple[frozenset[str], Steering], ...]:
    """Return what of a project steers a program, each with the words that it needs."""
    known = _index().get(canonical(program), ())
    return tuple(each for each in known if each[1].file or each[1].variables or each[1].since)


def off_switches() -> dict[str, str]:
    """Return the variables that switch off what steers a program."""
    return dict(item for steering in steering_table() for item in steering.off.items())


@cache
def steering_table() -> tuple[Steering, ...]:
    """Return all records of `steered_by.toml`.

    Raises:
        TableError: A record says of no program, or does not say what steers it or why nothing does.
    """
    file = Path(__file__).with_name("steered_by.toml")
    records = read_table(file, _File, Steering, SteeringFile).steering
    for record in records:
        steers = bool(record.file or record.variables or record.since)
        if not (record.programs or record.families) or steers != bool(record.steers):
            raise TableError(f"{file.name}: the record {record!r} lacks a field.")
        if not (steers or record.harmless):
            raise TableError(f"{file.name}: the record {record!r} names nothing that steers.")
    return records


@cache
def _index() -> _Index:
    found: dict[str, list[tuple[frozenset[str], Steering]]] = {}
    for steering in steering_table():
        for name, words in _programs(steering):
            found.setdefault(name, []).append((words, steering))
    return {name: tuple(entries) for name, entries in found.items()}


def _programs(steering: Steering) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the first names of its programs, each with the words that its command has to have."""
    for family in steering.families.split():
        for name in family_names(family):
            yield name, frozenset()
    for command in steering.commands:
        name, *words = command.split()
        yield name, frozenset(words)
