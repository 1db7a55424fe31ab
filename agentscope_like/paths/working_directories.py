"""The working directories of a decision, and which of them may contain a path."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import lru_cache

from agentscope_like.paths.file_system import FileSystemNames
from agentscope_like.paths.location import Location, is_below, lineage, locate, unlinked

__all__ = ["around_by_text", "inside_any", "locate_directories"]


def locate_directories(
    paths: Iterable[str],
    *,
    directory: str | None = None,
    home: str | None = None,
    names: FileSystemNames = os,
) -> tuple[Location, ...]:
    """Locate the working directories, or `directory` if there are none.

    Args:
        paths: The working directories of a context.
        directory: The base of relative ones, and the only one if `paths` is empty; the
            process's own by default.
        home: What `~` stands for.
        names: The file system; this host's by default.

    Raises:
        PathError: One of them is not a usable path.
    """
    base = os.getcwd() if directory is None else directory
    located = tuple(locate(path, directory=base, home=home, names=names) for path in paths)
    return located or (locate(base, directory="/", home=home, names=names),)


def inside_any(location: Location, directories: Sequence[Location]) -> bool:
    """Return whether `location` leads into one of the directories, however it was named.

    Where it ends up counts, and where the directories do. Names are compared exactly. An uncertain
    location, with a symlink loop or an unreadable directory on the way, is in none.
    """
    return location.certain and any(
        is_below(location.resolved, directory.resolved) for directory in directories
    )


_FEW = 8
"""Directories that are looked at faster than they are found among many."""


def around_by_text(
    location: Location, working: tuple[str, ...], *, directory: str
) -> tuple[str, ...]:
    """Return the working directories that contain a reading of the location by its text.

    These are candidates only: if none of them really contains the location, the others must be
    tried too, since symlinks may lead there. Returns none if there are only a few directories, or
    if one of them cannot be judged by its text.

    Args:
        location: The path.
        working: The working directories, as they were given.
        directory: The base of relative ones.

    Raises:
        PathError: One of the directories is not a usable path.
    """
    if len(working) <= _FEW:
        return ()
    above = {place for reading in location.readings for place in lineage(reading)}
    return tuple(path for path, text in _by_text(working, directory) if text in above)


@lru_cache(maxsize=16)
def _by_text(working: tuple[str, ...], directory: str) -> tuple[tuple[str, str], ...]:
    """Return the directories with their texts; none if a home has to be looked up."""
    if not os.path.isabs(directory) or any(path.startswith("~") for path in working):
        return ()
    return tuple((path, unlinked(path, directory=directory)) for path in working)
