"""Looks up the grammar of a program; the TOML tables are compiled on first use.

The list of programs needs only the headers `[program.NAME]`; the table of a program is parsed and
compiled at its first lookup. Aliases and traits of programs are in `traits.toml`.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from agentscope_like.shell.catalog.compiler import CatalogError, parse_program
from agentscope_like.shell.catalog.grammar import Grammar
from agentscope_like.shell.catalog.traits import canonical, names_of, programs_with

__all__ = ["canonical", "family_names", "lookup", "names", "programs_with"]

_HEADER = re.compile(r'^\[program\.(?:"([^"]+)"|([^."\]]+))\]', re.MULTILINE)
_NOT_PROGRAMS = frozenset({"command_families.toml", "steered_by.toml", "traits.toml"})


class _Section(Struct, frozen=True):
    """The text of one program's table, as a range of its file."""

    header: str
    text: str
    family: str = ""


@lru_cache(maxsize=1)
def _sections() -> dict[str, _Section]:
    sections: dict[str, _Section] = {}
    for file in sorted(Path(__file__).parent.glob("*.toml")):
        if file.name in _NOT_PROGRAMS:
            continue
        text = file.read_text("utf-8")
        found = list(_HEADER.finditer(text))
        ends = [*(match.start() for match in found[1:]), len(text)]
        for match, end in zip(found, ends, strict=True):
            header = match[1] or match[2]
            section = _Section(header, text[match.start() : end], file.stem)
            for name in header.split():
                if name in sections:
                    raise CatalogError(f"The catalog has two tables for the program {name!r}.")
                sections[name] = section
    return sections


@lru_cache(maxsize=1024)
def lookup(name: str) -> Grammar | None:
    """Return the grammar of the program `name`, or None where the catalog has none.

    Raises:
        CatalogError: The program's table cannot be compiled.
    """
    sections = _sections()
    section = sections.get(name) or sections.get(canonical(name))
    if section is None:
        return None
    try:
        table = tomllib.loads(section.text)["program"][section.header]
    except (tomllib.TOMLDecodeError, KeyError) as error:
        raise CatalogError(f"The catalog's [program.{section.header}]: {error}.") from error
    return parse_program(name, table)


def names() -> frozenset[str]:
    """Return the names of all programs that the catalog knows."""
    return frozenset().union(*map(names_of, _sections()))


def family_names(family: str) -> tuple[str, ...]:
    """Return the first names of the programs of one file of the catalog.

    Raises:
        CatalogError: There is no such file.
    """
    found = tuple(name for name, section in _sections().items() if section.family == family)
    if not found:
        raise CatalogError(f"The catalog has no family {family!r}.")
    return found
