"""Tells which names and paths are credentials, by the table of sensitive paths."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase, translate
from functools import cache

from agentscope_like.paths import (
    FileKind,
    Location,
    paths_asked_to,
    read_objection,
    xdg_places,
)

__all__ = ["directories_of_credentials", "is_credential", "known_places", "may_be_credential"]

_KERNEL = ("/dev", "/proc", "/inet", "/inet4", "/inet6")
_PATTERN = re.compile(r"[*?\[]")
_BELOW = "/**"


def is_credential(*readings: str, home: str) -> bool:
    """Return whether a path is a credential; a directory is if every file in it is one.

    Args:
        readings: The path and its symlink targets; all absolute.
        home: The home directory.
    """
    location = Location(
        written=readings[0],
        absolute=readings[0],
        resolved=readings[-1],
        readings=readings,
        kind=FileKind.FILE,
        identity=None,
        home=home,
    )
    return read_objection(location) is not None


def may_be_credential(name: str) -> bool:
    """Return whether a file of this name can be a credential by its name; quick, for many names."""
    return not name.isascii() or bool(_file_name()(name.lower()))


@cache
def directories_of_credentials() -> tuple[frozenset[str], frozenset[str]]:
    """Return the lowercase names of directories in which every file is a credential.

    Second are those in which only some files are.
    """
    whole, partly = set[str](), set[str]()
    for entry in paths_asked_to("read"):
        for path in entry.paths:
            if path.endswith(_BELOW) and not path.startswith(_KERNEL):
                name = path.removesuffix(_BELOW).rpartition("/")[2]
                (partly if entry.but else whole).add(name.lower())
    return frozenset(whole - partly), frozenset(partly)


def known_places(home: str) -> Iterator[str]:
    """Yield the existing credentials at their usual paths, of the user and of the system.

    Args:
        home: The home directory; without one, only the system's are known.
    """
    own, system = _listed()
    places = list(system)
    if home not in ("", "/"):
        moved = [place for path in own for place in xdg_places(path)]
        places = [*(f"{home}/{each}" for each in own), *moved, *places]
    names_in, is_there = cache(_names_in), cache(os.path.lexists)
    for path in places:
        directory, _, name = path.rpartition("/")
        if not is_there(directory or "/"):
            continue
        if not _PATTERN.search(name):
            if is_there(path):
                yield path
            continue
        for other in names_in(directory):
            if fnmatchcase(other.lower(), name.lower()):
                yield f"{directory}/{other}"


@cache
def _listed() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the usual paths of credentials: those below the home directory, and the system's."""
    listed = [path.removesuffix(_BELOW) for entry in paths_asked_to("read") for path in entry.paths]
    own = tuple(path.removeprefix("~/") for path in listed if not path.startswith("/"))
    return own, tuple(p for p in listed if p.startswith("/") and not p.startswith(_KERNEL))


def _names_in(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


@cache
def _file_name() -> Callable[[str], object]:
    names = {
        path.rpartition("/")[2].lower()
        for entry in paths_asked_to("read")
        for path in entry.paths
        if not path.endswith(_BELOW) and not path.startswith(_KERNEL)
    }
    return re.compile("|".join(map(translate, sorted(names)))).match
