"""Tells whether a path is sensitive to write or to read, with a sentence that says why."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache

from msgspec import Struct

from agentscope_like.paths.errors import PatternError
from agentscope_like.paths.location import FileKind, Location, is_below, names_of
from agentscope_like.paths.sensitive.listed_paths import (
    Homes,
    ListedPaths,
    folded,
    folded_homes,
    own_names,
)
from agentscope_like.paths.sensitive.sensitive_names import SensitiveNames, is_name
from agentscope_like.paths.sensitive.sensitive_table import (
    Act,
    SensitivePaths,
    paths_asked_to,
    sensitive_table,
    standard_devices,
)
from agentscope_like.paths.working_directories import inside_any

__all__ = [
    "private_objection",
    "read_objection",
    "removal_objection",
    "write_objection",
    "xdg_places",
]

_USUAL = SensitiveNames()
_DIRECTORY = FileKind.DIRECTORY


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
    if location.absolute in standard_devices():
        return None
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
    if location.absolute in standard_devices():
        return None
    return _reason(location, _table_of("read"), recursive=recursive)


def private_objection(location: Location, directories: Sequence[Location]) -> str | None:
    """Return why a person must approve reading a hidden file of a home, or None.

    Programs keep their tokens in files such as `~/.config/NAME/auth.json`; more of them than any
    table knows. So a file below a hidden name of a home is private, unless it is known to be
    harmless, or inside a working directory that is not a home or above it.

    Args:
        location: What is read. Listing a directory, or searching below it, is no matter.
        directories: The working directories.
    """
    if location.kind is _DIRECTORY or not any("/." in each for each in location.readings):
        return None
    own = [each for each in directories if not is_below(location.home, each.resolved)]
    return None if inside_any(location, own) else _reason(location, _private_table())


def removal_objection(location: Location, directories: Sequence[Location]) -> str | None:
    """Return why removing the location would be a disaster, or None.

    Args:
        location: What would be removed; one critical reading is enough.
        directories: The working directories, which must not be removed either.
    """
    kept = [
        *(("working directory", folded(each)) for at in directories for each in at.readings),
        *(("home directory", f"/{'/'.join(names)}") for names in folded_homes(location.home)),
        ("whole file system", "/"),
    ]
    for reading in location.readings:
        path = folded(reading)
        for what, place in kept:
            if is_below(place, path):
                verb = "is" if place == path else "holds"
                return f"{_here(location, reading)} {verb} the {what}"
    return _reason(location, _table_of("remove"))


def _shown(path: str, home: str) -> str:
    """Return the path as a person would write it, the home directory as `~`."""
    if home and home != "/" and is_below(path, home):
        return "~" + path[len(home) :]
    return path


class _Entry(Struct, frozen=True):
    path: str
    does: str
    but: tuple[str, ...] = ()


_PRIVATE = "is a hidden file of a home directory outside the working directories, and may hold one"


class _Table:
    """Entries, and the exceptions from them."""

    def __init__(self, entries: Iterable[tuple[str, _Entry]]) -> None:
        self._entries: list[tuple[str, _Entry]] = list(entries)
        self._paths, self._but = ListedPaths(), ListedPaths()
        for position, (spelled, entry) in enumerate(self._entries):
            self._paths.add(spelled, position)
            for but in entry.but:
                self._but.add(but, position)

    def find(self, path: str, homes: Homes) -> _Entry | None:
        """Return the most specific entry for a folded path, or None."""
        found = self._paths.find(path, homes)
        if found:
            found -= self._but.find(path, homes)
        entries = [self._entries[position] for position in sorted(found)]
        most = max(entries, key=lambda each: len(own_names(each[0])), default=None)
        return None if most is None else most[1]

    def find_below(self, path: str, homes: Homes) -> _Entry | None:
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
        for spelled, entry in _entries(paths_asked_to("write"))
        if entry.path in wanted or not is_name(entry.path)
    ]
    known = {entry.path for _, entry in entries}
    entries += [
        (path, _Entry(path, "is on the list of what to protect")) for path in sorted(wanted - known)
    ]
    return _Table(entries)


@cache
def _table_of(act: Act) -> _Table:
    return _Table(_entries(paths_asked_to(act)))


@cache
def _private_table() -> _Table:
    harmless = tuple(f"~/{path}" for path in sensitive_table().harmless_hidden_files)
    entry = _Entry("~/.*/**", _PRIVATE, harmless)
    return _Table([(entry.path, entry)])


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


def _reason(location: Location, table: _Table, *, recursive: bool = False) -> str | None:
    homes = folded_homes(location.home)
    for reading in location.readings:
        path = folded(reading)
        if entry := table.find(path, homes):
            return f"{_here(location, reading)} {entry.does}"
        if not recursive:
            continue
        names = names_of(path)
        if any(list(home[: len(names)]) == names for home in homes):
            return f"{_here(location, reading)} holds everything of a person's home directory"
        if entry := table.find_below(path, homes):
            place = f"is the place of `{entry.path}`, which {entry.does}"
            return f"{_here(location, reading)} {place}"
    return None


def _here(location: Location, reading: str) -> str:
    here = f"`{_shown(reading, location.home)}`"
    if reading == location.absolute:
        return here
    return f"`{_shown(location.absolute, location.home)}` leads to {here}, which"
