"""Locates the paths of one decision, and finds the working directories that may contain one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from agentscope_like.paths.errors import PathError
from agentscope_like.paths.file_system import PATH, STEP, WALK, FileSystemNames, LookBudget
from agentscope_like.paths.location import Location, entry_of, lineage, locate, unlinked

__all__ = ["LocationCache", "around_by_text"]

_NO_NAMES = ("", ".", "..")


class LocationCache:
    """Locates paths like `locate`, and caches each path and each directory that several share.

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
        self._names = names
        self._located: dict[tuple[str, bool], Location] = {}
        self._folders: dict[str, Location | None] = {}

    def locate(self, path: str, *, follow: bool = True) -> Location:
        """Return where the path leads.

        Raises:
            PathError: As in `locate`.
            TooManyFilesError: The budget is used up.
        """
        self._effort.spend(PATH)
        found = self._located.get((path, follow))
        if found is not None:
            return found
        folder, _, name = path.rpartition("/")
        located = self._folder(folder) if name not in _NO_NAMES else None
        if located is not None:
            found = entry_of(located, name, follow=follow, names=self._names)
        if found is None:
            found = self._walk(path, follow=follow)
        self._located[path, follow] = found
        return found

    def _walk(self, path: str, *, follow: bool = True) -> Location:
        start = "" if path.startswith("/") else self._directory
        self._effort.spend(max(WALK, STEP * (start.count("/") + path.count("/"))))
        return locate(
            path, directory=self._directory, home=self._home, follow=follow, names=self._names
        )

    def _folder(self, path: str) -> Location | None:
        """Return the location of an absolute normalized directory, from its second path on."""
        if path not in self._folders:
            self._folders[path] = None
            return None
        located = self._folders[path]
        if located is None and _is_folded(path):
            try:
                located = self._walk(path)
            except PathError:
                return None
            self._folders[path] = located
        return located


def _is_folded(path: str) -> bool:
    """Return whether a path is absolute, not the root, and already normalized."""
    inner = f"{path}/"
    return path[:1] == "/" and not any(part in inner for part in ("//", "/./", "/../"))


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
