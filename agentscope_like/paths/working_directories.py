"""Finds the working directories that contain a path by its text alone."""

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
    """Return the working directories that contain a reading of the location by its text.

    These are candidates only: if none of them really contains the location, the others must be
    tried too, since symlinks may lead there. Returns None if there are only a few directories, or
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
    known = _by_text(working, directory)
    return tuple(dict.fromkeys(_found(location, known)))


def _found(location: Location, known: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for reading in location.readings:
        for place in lineage(reading):
            yield from known.get(place, ())


@lru_cache(maxsize=16)
def _by_text(working: tuple[str, ...], directory: str) -> Mapping[str, Sequence[str]]:
    """Return the directories by their text; nothing if a home has to be looked up."""
    known: dict[str, list[str]] = {}
    if not os.path.isabs(directory) or any(path.startswith("~") for path in working):
        return known
    for path in working:
        known.setdefault(unlinked(path, directory=directory), []).append(path)
    return known
