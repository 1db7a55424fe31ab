"""Reads `traits.toml`: which programs have a trait, and the names of a program."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct

from agentscope_like.nearest import nearest
from agentscope_like.shell.catalog.compiler import CatalogError
from agentscope_like.toml_tables import TableError, WordSet, parse_table

__all__ = [
    "SYSTEM_DIRECTORIES",
    "bare_name",
    "canonical",
    "names_of",
    "parse_traits",
    "program_name",
    "programs_with",
]


class _Written(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `traits.toml`, which says what each field is."""

    no_grammar: WordSet
    aliases: dict[str, WordSet]
    traits: dict[str, WordSet]


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
        written = parse_table(text, _Written, name="traits.toml")
    except TableError as error:
        raise CatalogError(f"The catalog's {error}") from error
    firsts: dict[str, str] = {}
    others: dict[str, frozenset[str]] = {}
    for first, names in written.aliases.items():
        others[first] = names
        for name in names:
            if name in written.aliases or name in firsts:
                raise CatalogError(f"The catalog's aliases: {name!r} stands there twice.")
            firsts[name] = first
    programs: dict[str, frozenset[str]] = {}
    for trait, named in written.traits.items():
        if name := min(named & firsts.keys(), default=""):
            raise CatalogError(
                f"The catalog's trait {trait!r}: {name!r} is another name of {firsts[name]!r}, "
                "and has its traits."
            )
        programs[trait] = named.union(*(others.get(name, ()) for name in named))
    return _Traits(programs, firsts, others, written.no_grammar)


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
