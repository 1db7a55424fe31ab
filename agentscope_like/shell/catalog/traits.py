"""Reads `traits.toml`: which programs have a trait, and the names of a program."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from agentscope_like.nearest import nearest
from agentscope_like.shell.catalog.compiler import CatalogError

__all__ = [
    "SYSTEM_DIRECTORIES",
    "bare_name",
    "canonical",
    "names_of",
    "parse_traits",
    "program_name",
    "programs_with",
]

_Table: TypeAlias = Mapping[str, object]

_SECTIONS = frozenset({"aliases", "no_grammar", "traits"})


class _Traits(Struct, frozen=True):
    """The tables of `traits.toml`.

    Attributes:
        programs: All names of the programs that have a trait, by trait.
        firsts: The first name of each program that has another, by the others.
        others: The other names of each program that has any, by its first.
        no_grammar: Names that have a trait and no table in the catalog.
    """

    programs: Mapping[str, frozenset[str]]
    firsts: Mapping[str, str]
    others: Mapping[str, frozenset[str]]
    no_grammar: frozenset[str]


@cache
def programs_with(trait: str) -> frozenset[str]:
    """Return all names of the programs that have a trait.

    Raises:
        CatalogError: There is no such trait.
    """
    known = _traits().programs
    if trait not in known:
        raise CatalogError(f"The catalog has no trait {trait!r}{nearest(trait, known)}.")
    return known[trait]


def canonical(program: str) -> str:
    """Return the first name of a program, which is the name itself where it has no other."""
    return _traits().firsts.get(program, program)


def names_of(program: str) -> frozenset[str]:
    """Return all names of the program whose first name is given."""
    return _traits().others.get(program, frozenset()) | {program}


@cache
def _traits() -> _Traits:
    return parse_traits(Path(__file__).with_name("traits.toml").read_text("utf-8"))


def parse_traits(text: str) -> _Traits:
    """Compile the text of `traits.toml`.

    Raises:
        CatalogError: It is no TOML, has a field that is unknown or of the wrong type, or names a
            program by another name than its first.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CatalogError(f"The catalog's traits: {error}.") from error
    _refuse_unknown("traits", data, _SECTIONS)
    firsts: dict[str, str] = {}
    others: dict[str, frozenset[str]] = {}
    aliases = _table("aliases", data)
    for first in aliases:
        others[first] = frozenset(_words("aliases", aliases, first))
        for name in others[first]:
            if name in aliases or name in firsts:
                raise CatalogError(f"The catalog's aliases: {name!r} stands there twice.")
            firsts[name] = first
    programs: dict[str, frozenset[str]] = {}
    traits = _table("traits", data)
    for trait in traits:
        named = _words("traits", traits, trait)
        for name in named:
            if name in firsts:
                raise CatalogError(
                    f"The catalog's trait {trait!r}: {name!r} is another name of {firsts[name]!r}, "
                    "and has its traits."
                )
        programs[trait] = frozenset(named).union(*(others.get(name, ()) for name in named))
    without = _table("no_grammar", data)
    _refuse_unknown("no_grammar", without, frozenset({"names"}))
    no_grammar = frozenset(_words("no_grammar", without, "names"))
    return _Traits(programs=programs, firsts=firsts, others=others, no_grammar=no_grammar)


def _refuse_unknown(place: str, table: _Table, known: frozenset[str]) -> None:
    for key in table:
        if key not in known:
            raise CatalogError(f"The catalog's {place}: unknown key {key!r}{nearest(key, known)}.")


def _table(key: str, data: _Table) -> _Table:
    table = data.get(key)
    if not isinstance(table, dict):
        raise CatalogError(f"The catalog's traits: `{key}` is not a table.")
    return table


def _words(place: str, table: _Table, key: str) -> list[str]:
    text = table.get(key)
    if not isinstance(text, str):
        raise CatalogError(f"The catalog's {place}: `{key}` is not a text.")
    return text.split()


SYSTEM_DIRECTORIES = frozenset(
    {
        "/bin",
        "/opt/homebrew/bin",
        "/sbin",
        "/usr/bin",
        "/usr/local/bin",
        "/usr/local/sbin",
        "/usr/sbin",
    }
)
"""Directories whose programs are the ones that are known by their names."""


def bare_name(name: str) -> str:
    """Return a program's name without directory, folded as on a case-insensitive file system."""
    return name.rpartition("/")[2].casefold() or name


def program_name(name: str) -> str | None:
    """Return the bare name of a program; None for a path outside the system directories."""
    if "/" not in name:
        return name
    directory, _, base = name.rpartition("/")
    return base if base and directory in SYSTEM_DIRECTORIES else None
