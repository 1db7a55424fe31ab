"""Tells whether a path is sensitive to write or to read, with a sentence that says why."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

from msgspec import Struct

from agentscope_like.paths.case_folding import fold, without_invisible
from agentscope_like.paths.errors import PatternError
from agentscope_like.paths.location import FileKind, Location, is_below, names_of
from agentscope_like.paths.pattern_table import Component, PatternNode, PatternTable
from agentscope_like.paths.sensitive.sensitive_names import SensitiveNames, is_name
from agentscope_like.paths.sensitive.sensitive_table import (
    SensitivePaths,
    paths_asked_to_read,
    paths_asked_to_write,
    standard_devices,
)

__all__ = [
    "ListedPaths",
    "folded",
    "folded_homes",
    "read_objection",
    "shown",
    "write_objection",
    "xdg_places",
]


_USUAL = SensitiveNames()


def write_objection(
    location: Location, names: SensitiveNames = _USUAL, *, recursive: bool = False
) -> str | None:
    """Return why a person must approve writing or removing the location, or None.

    Args:
        location: What would be changed; one sensitive reading is enough.
        names: The names that are sensitive in any directory; by default those of the table.
        recursive: Whether everything below the location is changed as well; then a directory that
            would hold something sensitive is sensitive too.

    Paths that the table knows by more than a name (`.config/fish`, `/etc`) are sensitive whatever
    the names are.
    """
    return _reason(location, _write_table(names), recursive=recursive)


def read_objection(location: Location, *, recursive: bool = False) -> str | None:
    """Return why a person must approve reading the location, or None.

    Args:
        location: What would be read. Listing a directory does not read the files in it.
        recursive: Whether the contents of everything below are read as well, such as by `grep -r`.
            Not for a command that only lists names.
    """
    if not recursive and location.kind is _DIRECTORY:
        return None
    return _reason(location, _read_table(), recursive=recursive)


def shown(path: str, home: str) -> str:
    """Return the path as a person would write it, the home directory as `~`."""
    if home and home != "/" and is_below(path, home):
        return "~" + path[len(home) :]
    return path


_DIRECTORY = FileKind.DIRECTORY
_DEEP = Component("deep", "**")

_Homes: TypeAlias = tuple[tuple[str, ...], ...]
_Nodes: TypeAlias = Sequence[PatternNode]


class ListedPaths:
    """Paths as a table lists them: `/etc/x`, `~/x`, and `x/y` in any directory.

    `x/**` is `x` and everything below it, anything else only that path; `*` stays within one name.
    """

    def __init__(self) -> None:
        self._anywhere = PatternTable(strict=False)
        self._in_home = PatternTable(strict=False)
        self._folders = lru_cache(maxsize=1024)(self._nodes)

    def add(self, path: str, position: int) -> None:
        """Add a path, at a position that is not below those of the others."""
        parts = [Component("glob" if "*" in name else "name", name) for name in _own_names(path)]
        if path.endswith("/**"):
            parts.append(_DEEP)
        if path.startswith("~/"):
            self._in_home.add(parts, position)
        else:
            self._anywhere.add(parts if path.startswith("/") else (_DEEP, *parts), position)

    def find(self, path: str, homes: _Homes) -> set[int]:
        """Return the positions of the listed paths that match a path, which is folded."""
        return {position for node in self._reached(path, homes) for position in node.positions}

    def find_below(self, path: str, homes: _Homes) -> int | None:
        """Return the least position of a listed path below a directory, or None.

        What may be in any directory does not count.
        """
        nodes = (node for node in self._reached(path, homes) if not node.is_deep)
        return min(
            (node.first_below for node in nodes if node.first_below is not None), default=None
        )

    def _reached(self, path: str, homes: _Homes) -> list[PatternNode]:
        folder, _, name = path.rpartition("/")
        anywhere, in_home = self._folders(folder, homes)
        last = (name,) if name else ()
        found = [*self._anywhere.walk(last, anywhere)]
        for nodes in in_home:
            found += self._in_home.walk(last, nodes)
        return found

    def _nodes(self, folder: str, homes: _Homes) -> tuple[_Nodes, list[_Nodes]]:
        """Return where the names of a folder lead to, from the root and from each home above it."""
        names = tuple(names_of(folder))
        below = (names[len(home) :] for home in homes if names[: len(home)] == home)
        return self._anywhere.walk(names), [self._in_home.walk(each) for each in below]


def _own_names(path: str) -> list[str]:
    """Return the names of a listed path, without what says where it begins."""
    names = path.removesuffix("/**").split("/")
    return names[1:] if names[0] in ("", "~") else names


class _Entry(Struct, frozen=True):
    path: str
    does: str
    but: tuple[str, ...] = ()


class _Table:
    """Entries, and the exceptions from them."""

    def __init__(self, entries: Iterable[tuple[str, _Entry]]) -> None:
        self._entries: list[tuple[str, _Entry]] = list(entries)
        self._paths, self._but = ListedPaths(), ListedPaths()
        for position, (spelled, entry) in enumerate(self._entries):
            self._paths.add(spelled, position)
            for but in entry.but:
                self._but.add(but, position)

    def find(self, path: str, homes: _Homes) -> _Entry | None:
        """Return the most specific entry for a folded path, or None."""
        found = self._paths.find(path, homes)
        if found:
            found -= self._but.find(path, homes)
        entries = [self._entries[position] for position in sorted(found)]
        most = max(entries, key=lambda each: len(_own_names(each[0])), default=None)
        return None if most is None else most[1]

    def find_below(self, path: str, homes: _Homes) -> _Entry | None:
        """Return an entry for a path below a directory, which is folded, or None."""
        position = self._paths.find_below(path, homes)
        return None if position is None else self._entries[position][1]


@lru_cache(maxsize=64)
def _write_table(names: SensitiveNames) -> _Table:
    """Build the table of writes."""
    wanted = {
        *map(_bare, names.all_files),
        *(f"{_bare(directory)}/**" for directory in names.all_directories),
    }
    entries = [
        (spelled, entry)
        for spelled, entry in _entries(paths_asked_to_write())
        if entry.path in wanted or not is_name(entry.path)
    ]
    known = {entry.path for _, entry in entries}
    entries += [
        (path, _Entry(path, "is on the list of what to protect")) for path in sorted(wanted - known)
    ]
    return _Table(entries)


@lru_cache(maxsize=1)
def _read_table() -> _Table:
    return _Table(_entries(paths_asked_to_read()))


def _entries(listed: Iterable[SensitivePaths]) -> Iterator[tuple[str, _Entry]]:
    """Yield each entry with each spelling of its path."""
    for sensitive in listed:
        for path in sensitive.paths:
            entry = _Entry(path, sensitive.does, sensitive.but)
            yield from ((spelled, entry) for spelled in (path, *xdg_places(path)))


def xdg_places(path: str) -> Iterator[str]:
    """Yield the locations of a path below `.config` or similar that XDG variables name."""
    for usual, variable in _XDG:
        chosen = os.environ.get(variable, "") if path.startswith(usual) else ""
        if chosen.startswith("/"):
            yield chosen.rstrip("/") + "/" + path[len(usual) :]


_XDG = (
    (".config/", "XDG_CONFIG_HOME"),
    (".local/share/", "XDG_DATA_HOME"),
    (".local/state/", "XDG_STATE_HOME"),
)


def _bare(name: str) -> str:
    bare = name.removesuffix("/**").rstrip("/")
    if not bare.strip("*"):
        raise PatternError(f"dangerous name {name!r} would match every path: name what is meant")
    return bare


@lru_cache(maxsize=16)
def folded_homes(home: str) -> _Homes:
    """Return the folded names of a home directory, as written and as resolved."""
    if home in ("", "/"):
        return ()
    return tuple({tuple(fold(path)[1:].split("/")) for path in (home, os.path.realpath(home))})


def _reason(location: Location, table: _Table, *, recursive: bool) -> str | None:
    if location.absolute in standard_devices():
        return None
    homes = folded_homes(location.home)
    for reading in location.readings:
        path = folded(reading)
        if entry := table.find(path, homes):
            return f"{_here(location, reading)} {entry.does}"
        if not recursive:
            continue
        names = names_of(path)
        if not names or any(list(home[: len(names)]) == names for home in homes):
            return f"{_here(location, reading)} holds everything of a person's home directory"
        if entry := table.find_below(path, homes):
            place = f"is the place of `{entry.path}`, which {entry.does}"
            return f"{_here(location, reading)} {place}"
    return None


def folded(path: str) -> str:
    """Return a path folded, without characters that nobody sees."""
    return path.lower() if path.isascii() else fold(without_invisible(path))


def _here(location: Location, reading: str) -> str:
    here = f"`{shown(reading, location.home)}`"
    if reading == location.absolute:
        return here
    return f"`{shown(location.absolute, location.home)}` leads to {here}, which"
