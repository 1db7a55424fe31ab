"""Tells which programs of a command line come from a working directory, through PATH.

What the catalog says of `ls` holds for the system's `ls`. A directory of a project in PATH (an
activated `.venv/bin`, `node_modules/.bin`) may hold another one. So what runs without approval is
searched for only in the other directories of PATH.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from agentscope_like.paths import (
    FileSystemNames,
    Location,
    PathError,
    is_below,
    locate,
    locate_directories,
)
from agentscope_like.shell.analysis import CommandAnalysis, Doubt, Part
from agentscope_like.shell.catalog import SYSTEM_DIRECTORIES

__all__ = ["KnownPrograms", "SearchPath", "search_path"]

_SYSTEM_SEARCH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where programs are searched for if PATH is not set."""

_ONLY_HERE = (
    "`{}` is found in a working directory alone, so it is not the program known by this name"
)
_NOWHERE = "/dev/null"
"""A PATH that finds nothing; an empty one means the current directory."""


class SearchPath(Struct, frozen=True):
    """The directories of PATH.

    Attributes:
        outside: Those outside the working directories, in their order.
        inside: Those inside a working directory.
        working: The working directories; empty where PATH has only the system's directories.
    """

    outside: tuple[str, ...]
    inside: tuple[str, ...] = ()
    working: tuple[Location, ...] = ()

    def programs(self, analysis: CommandAnalysis, names: FileSystemNames = os) -> KnownPrograms:
        """Return where a command that runs without approval finds its programs.

        Args:
            analysis: The command.
            names: The file system.
        """
        return self.programs_named(map(_searched_for, analysis.parts), names)

    def programs_named(self, searched: Iterable[str], names: FileSystemNames = os) -> KnownPrograms:
        """Return where programs of these names are found.

        Args:
            searched: The names; empty for a program that is not searched for.
            names: The file system.
        """
        found: dict[str, bool] = {}
        for name in dict.fromkeys(searched):
            if name and any(_places_of(name, self.inside, names)):
                others = _places_of(name, self.outside, names)
                found[name] = any(not _lies_in(place, self.working) for place in others)
        return KnownPrograms(":".join(self.outside) or _NOWHERE, found)


class KnownPrograms(Struct, frozen=True):
    """Where a command that runs without approval finds its programs.

    Attributes:
        path: The PATH without directories of the project.
        brought: The names that a directory of the project in PATH has, and whether `path` finds
            another program of that name.
    """

    path: str
    brought: Mapping[str, bool] = {}

    def doubted(self, analysis: CommandAnalysis) -> CommandAnalysis:
        """Return the analysis with a doubt for each program that only the project has."""
        if all(self.brought.values()):
            return analysis
        parts = list(analysis.parts)
        for number, part in enumerate(parts):
            name = _searched_for(part)
            if not self.brought.get(name, True):
                span = part.words[0].span if part.words else part.span
                doubt = Doubt(_ONLY_HERE.format(name), span)
                parts[number] = replace(part, doubts=(*part.doubts, doubt))
        return replace(analysis, parts=tuple(parts), names_no_file=False)

    def is_brought(self, part: Part) -> bool:
        """Return whether the whole PATH may find a program of the project for a part."""
        return _searched_for(part) in self.brought


def search_path(
    path: str | None,
    working: Sequence[str],
    *,
    root: str,
    home: str | None = None,
    names: FileSystemNames = os,
) -> SearchPath:
    """Return the directories of PATH, by whether they lie inside a working directory.

    Empty and relative entries are left out: they mean another directory after each `cd`.

    Args:
        path: The value of PATH; None where it is not set.
        working: The working directories.
        root: The directory that commands start in, which counts as one of them.
        home: What `~` stands for.
        names: The file system.

    Raises:
        PathError: A working directory is not a usable path.
    """
    written = (_SYSTEM_SEARCH if path is None else path).split(":")
    entries = tuple(dict.fromkeys(entry for entry in written if entry.startswith("/")))
    if all(map(_is_of_system, entries)):
        return SearchPath(entries)
    own = locate_directories((*working, root), directory=root, home=home, names=names)
    inside = frozenset(entry for entry in entries if _is_inside(entry, own, names))
    return SearchPath(
        tuple(entry for entry in entries if entry not in inside),
        tuple(entry for entry in entries if entry in inside),
        own,
    )


def _is_of_system(entry: str) -> bool:
    return entry.rstrip("/") in SYSTEM_DIRECTORIES


def _is_inside(entry: str, working: Sequence[Location], names: FileSystemNames) -> bool:
    """Return whether any reading of a directory lies in a working directory."""
    if _is_of_system(entry):
        return False
    try:
        location = locate(entry, directory="/", home="", names=names)
    except PathError:
        return True
    return not location.certain or _lies_in(location, working)


def _lies_in(location: Location, working: Sequence[Location]) -> bool:
    return any(
        is_below(reading, base)
        for directory in working
        for base in directory.readings
        for reading in location.readings
    )


def _searched_for(part: Part) -> str:
    """Return the name that a part's program is searched for in PATH; empty if it is not."""
    name = (part.argv[0] or "") if part.argv else ""
    return "" if "/" in name else name


def _places_of(name: str, directories: Sequence[str], names: FileSystemNames) -> Iterator[Location]:
    for directory in directories:
        try:
            location = locate(f"{directory}/{name}", directory="/", home="", names=names)
        except PathError:
            continue
        if location.exists or not location.certain:
            yield location
