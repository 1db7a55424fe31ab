"""Locates many paths for one decision and looks up each shared directory once."""

from __future__ import annotations

import os

from agentscope_like.paths.errors import PathError
from agentscope_like.paths.file_system import FileSystemNames
from agentscope_like.paths.location import Location, entry_of, locate
from agentscope_like.paths.look_budget import PATH, STEP, WALK, LookBudget

__all__ = ["LocationCache"]

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
