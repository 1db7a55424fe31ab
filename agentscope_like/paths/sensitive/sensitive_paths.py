"""Tells whether a path is sensitive to write or to read, with a sentence that says why."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Literal, TypeAlias

from msgspec import Struct

from agentscope_like.paths.case_folding import fold, without_invisible
from agentscope_like.paths.errors import PatternError
from agentscope_like.paths.location import FileKind, Location, is_below, names_of
from agentscope_like.paths.sensitive.sensitive_names import SensitiveNames, is_name
from agentscope_like.paths.sensitive.sensitive_table import (
    SensitivePaths,
    paths_asked_to_read,
    paths_asked_to_write,
    standard_devices,
)

__all__ = [
    "PathShape",
    "folded_homes",
    "folded_names",
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

Anchor: TypeAlias = Literal["root", "home", "anywhere"]
_Homes: TypeAlias = tuple[tuple[str, ...], ...]


class PathShape(Struct, frozen=True):
    """One path of the table as folded names."""

    anchor: Anchor
    names: tuple[str, ...]
    deep: bool

    @classmethod
    def read(cls, path: str) -> PathShape:
        """Return the shape of a path as the table writes it."""
        deep = path.endswith("/**")
        names = path.removesuffix("/**").split("/")
        anchor: Anchor = "anywhere"
        if names[0] in ("", "~"):
            anchor = "root" if names[0] == "" else "home"
            names = names[1:]
        return cls(anchor, tuple(fold(name) for name in names), deep)

    def starts(self, names: Sequence[str], start: int, homes: _Homes) -> bool:
        """Return whether a path may begin to match this one at its name number `start`."""
        if self.anchor == "anywhere":
            return True
        if self.anchor == "root":
            return start == 0
        return any(start == len(home) and tuple(names[:start]) == home for home in homes)

    def fits(self, names: Sequence[str], start: int) -> bool:
        """Return whether a path matches from its name number `start` to its end."""
        end = start + len(self.names)
        if end > len(names) or (end < len(names) and not self.deep):
            return False
        return all(
            name == own or ("*" in own and fnmatchcase(name, own))
            for name, own in zip(names[start:end], self.names, strict=True)
        )

    def begins_with(self, names: Sequence[str]) -> bool:
        """Return whether these are the first names of this path."""
        return all(map(fnmatchcase, names, self.names))


class _Entry(Struct, frozen=True):
    path: str
    shape: PathShape
    does: str
    but: tuple[PathShape, ...] = ()

    def covers(self, names: Sequence[str], start: int, homes: _Homes) -> bool:
        return (
            self.shape.starts(names, start, homes)
            and self.shape.fits(names, start)
            and not any(
                but.starts(names, at, homes) and but.fits(names, at)
                for but in self.but
                for at in range(len(names))
            )
        )


class _Table:
    """Entries, indexed by the first name that a path must contain."""

    __slots__ = ("_by_name", "_ends", "_leading", "_starts", "_wild", "_wild_paths")

    def __init__(self, entries: Iterable[_Entry]) -> None:
        self._by_name: dict[str, list[_Entry]] = {}
        self._leading: dict[str, list[tuple[int, _Entry]]] = {}
        self._wild: list[_Entry] = []
        self._wild_paths: list[_Entry] = []
        starts, ends = set(), set()
        for entry in entries:
            for depth, leading in enumerate(entry.shape.names[:-1], 1):
                self._leading.setdefault(leading, []).append((depth, entry))
            name = entry.shape.names[0]
            if "*" not in name:
                self._by_name.setdefault(name, []).append(entry)
            elif entry.shape.deep or len(entry.shape.names) > 1:
                self._wild_paths.append(entry)
            else:
                self._wild.append(entry)
                start, end = name[: name.index("*")], name[name.rindex("*") + 1 :]
                (ends.add(end) if len(end) >= len(start) else starts.add(start))
        self._starts, self._ends = tuple(starts), tuple(ends)

    def knows(self, path: str) -> bool:
        """Return whether an entry may match a path: whether one of its names occurs in an entry."""
        folder, _, name = path.rpartition("/")
        key = _key(name)
        return (
            key in self._by_name
            or key.endswith(self._ends)
            or key.startswith(self._starts)
            or _holds_any(self, folder)
        )

    def holds_any(self, folder: str) -> bool:
        """Return whether an entry may match a path in a directory, by the directory's names."""
        return bool(self._wild_paths) or not self._by_name.keys().isdisjoint(folded_names(folder))

    def find(self, names: Sequence[str], homes: _Homes) -> _Entry | None:
        """Return the most specific entry for a path, or None."""
        found = [
            entry for start, entry in self._candidates(names) if entry.covers(names, start, homes)
        ]
        return max(found, key=lambda entry: len(entry.shape.names)) if found else None

    def find_below(self, names: Sequence[str], homes: _Homes) -> _Entry | None:
        """Return an entry for a path below a directory of this name."""
        for leading in (names[-1], "*") if names else ():
            for depth, entry in self._leading.get(leading, ()):
                start = len(names) - depth
                if (
                    start >= 0
                    and entry.shape.starts(names, start, homes)
                    and entry.shape.begins_with(names[start:])
                ):
                    return entry
        return None

    def _candidates(self, names: Sequence[str]) -> Iterator[tuple[int, _Entry]]:
        if self._wild_paths or not self._by_name.keys().isdisjoint(names):
            for start, name in enumerate(names):
                for entry in self._by_name.get(name, ()):
                    yield start, entry
                for entry in self._wild_paths:
                    yield start, entry
        if names and (names[-1].endswith(self._ends) or names[-1].startswith(self._starts)):
            for entry in self._wild:
                yield len(names) - 1, entry


@lru_cache(maxsize=64)
def _write_table(names: SensitiveNames) -> _Table:
    """Build the table of writes."""
    wanted = {
        *map(_bare, names.all_files),
        *(f"{_bare(directory)}/**" for directory in names.all_directories),
    }
    entries = [
        entry
        for entry in _entries(paths_asked_to_write())
        if entry.path in wanted or not is_name(entry.path)
    ]
    known = {entry.path for entry in entries}
    entries += [
        _Entry(path, PathShape.read(path), "is on the list of what to protect")
        for path in sorted(wanted - known)
    ]
    return _Table(entries)


@lru_cache(maxsize=1)
def _read_table() -> _Table:
    return _Table(_entries(paths_asked_to_read()))


def _entries(listed: Iterable[SensitivePaths]) -> Iterator[_Entry]:
    for sensitive in listed:
        but = tuple(map(PathShape.read, sensitive.but))
        for path in sensitive.paths:
            for spelled in (path, *xdg_places(path)):
                yield _Entry(path, PathShape.read(spelled), sensitive.does, but)


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
        if not recursive and not table.knows(reading):
            continue
        names = folded_names(reading)
        if entry := table.find(names, homes):
            return f"{_here(location, reading)} {entry.does}"
        if not recursive:
            continue
        if not names or any(list(home[: len(names)]) == names for home in homes):
            return f"{_here(location, reading)} holds everything of a person's home directory"
        if entry := table.find_below(names, homes):
            place = f"is the place of `{entry.path}`, which {entry.does}"
            return f"{_here(location, reading)} {place}"
    return None


@lru_cache(maxsize=1024)
def _holds_any(table: _Table, folder: str) -> bool:
    """Return the answer for a directory, which holds for everything in it."""
    return table.holds_any(folder)


def folded_names(path: str) -> list[str]:
    """Return the folded names of a path."""
    return names_of(_key(path))


def _key(path: str) -> str:
    """Return a path, or a part of one, folded."""
    return path.lower() if path.isascii() else fold(without_invisible(path))


def _here(location: Location, reading: str) -> str:
    here = f"`{shown(reading, location.home)}`"
    if reading == location.absolute:
        return here
    return f"`{shown(location.absolute, location.home)}` leads to {here}, which"
