"""Locates the paths of one decision, and finds the working directories that may contain one."""

from __future__ import annotations

import os
from functools import cache, lru_cache

from agentscope_like.paths.file_system import (
    PATH,
    STEP,
    WALK,
    FileSystemNames,
    LookBudget,
)
from agentscope_like.paths.location import Location, lineage, locate, unlinked

__all__ = ["LocationCache", "around_by_text"]


_MOST_CHARGED = 2
"""How many paths in one folder are charged for its names, which are cached then."""


class LocationCache:
    """Locates paths like `locate`, and caches each path and the status of each name on the way.

    A cache lives for one decision, so its answers all belong to that moment.

    Args:
        directory: The base of relative paths.
        home: What `~` expands to; the user's home by default.
        names: The file system; this host's by default.
        effort: The budget of lookups; its own by default.
    """

    def __init__(
        self,
        *,
        directory: str,
        home: str | None = None,
        names: FileSystemNames = os,
        effort: LookBudget | None = None,
    ) -> None:
        self._effort = effort or LookBudget()
        self._directory = directory
        self._home = home
        self._names = _CachedNames(names)
        self._located: dict[tuple[str, bool], Location] = {}
        self._folders: dict[str, int] = {}

    def locate(self, path: str, *, follow: bool = True) -> Location:
        """Return where the path leads.

        Raises:
            PathError: As in `locate`.
            TooManyFilesError: The budget is used up.
        """
        self._effort.spend(PATH)
        found = self._located.get((path, follow))
        if found is None:
            found = self._walk(path, follow=follow)
            self._located[path, follow] = found
        return found

    def _walk(self, path: str, *, follow: bool) -> Location:
        """Follow a path, and charge for the names that are not cached."""
        folder = path.rpartition("/")[0]
        visits = self._folders.get(folder, 0)
        if visits < _MOST_CHARGED or not path.startswith("/"):
            self._folders[folder] = visits + 1
            start = "" if path.startswith("/") else self._directory
            self._effort.spend(max(WALK, STEP * (start.count("/") + path.count("/"))))
        found = locate(
            path, directory=self._directory, home=self._home, follow=follow, names=self._names
        )
        if len(found.readings) > 1:
            self._effort.spend(WALK)
        return found


class _CachedNames:
    """Looks up each name of a file system once; names that do not exist are looked up again."""

    def __init__(self, names: FileSystemNames) -> None:
        self.lstat = cache(names.lstat)
        self.readlink = cache(names.readlink)
        self.scandir = names.scandir


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
