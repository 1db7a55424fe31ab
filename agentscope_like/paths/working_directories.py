"""Finds the working directories that a path lies in by its text, without asking the file system."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from agentscope_like.paths.location import Location, lineage, unlinked

__all__ = ["around_by_text"]

_FEW = 8
"""Directories that are looked at faster than they are found among many."""


def around_by_text(
    location: Location, working: tuple[str, ...], *, directory: str
) -> tuple[str, ...]:
    """Return the working directories that a reading of the location lies in by its text.

    They may be the ones that contain it: those that do not are still to be looked at if they do
    not, since symlinks may lead there. None is returned where there are few, and where one is not
    known by its text alone.

    Args:
        location: The path.
        working: The working directories, as they were given.
        directory: What relative ones are relative to.

    Raises:
        PathError: One of the directories is no usable path.
    """
    if len(working) <= _FEW:
        return ()
    known = _by_text(working, directory)
    return tuple(dict.fromkeys(_found(location, known)))


def _found(location: Location, known: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for reading in location.readings:
        for place in lineage(reading):
            yield from known.get(place, ())


@lru_cache(maxsize=16)
def _by_text(working: tuple[str, ...], directory: str) -> Mapping[str, Sequence[str]]:
    """Return the directories by how they read; nothing where a home has to be looked up."""
    known: dict[str, list[str]] = {}
    if not os.path.isabs(directory) or any(path.startswith("~") for path in working):
        return known
    for path in working:
        known.setdefault(unlinked(path, directory=directory), []).append(path)
    return known
