"""Locating many paths at one moment: what they share is looked at once."""

from __future__ import annotations

import os

from agentscope_like.permission.errors import PathError
from agentscope_like.permission.paths.location import Location, entry_of, locate
from agentscope_like.permission.paths.names import Names

__all__ = ["Folders"]

_NO_NAMES = ("", ".", "..")


class Folders:
    """Locates paths as `locate` does; a folder that several are in is looked at once.

    It is made for one decision and forgotten with it, so that what it remembers is of that moment.

    Args:
        directory: What a relative path is relative to.
        home: What `~` stands for; the user's home by default.
        names: The file system; this host's by default.
    """

    __slots__ = ("_directory", "_home", "_located", "_names")

    def __init__(self, *, directory: str, home: str | None = None, names: Names = os) -> None:
        self._directory = directory
        self._home = home
        self._names = names
        self._located: dict[str, Location | None] = {}

    def locate(self, path: str, *, follow: bool = True) -> Location:
        """Return where the path leads.

        Raises:
            PathError: As in `locate`.
        """
        folder, _, name = path.rpartition("/")
        located = self._folder(folder) if name not in _NO_NAMES else None
        if located is not None and (
            found := entry_of(located, name, follow=follow, names=self._names)
        ):
            return found
        return locate(
            path, directory=self._directory, home=self._home, follow=follow, names=self._names
        )

    def _folder(self, path: str) -> Location | None:
        """Return where an absolute and folded folder leads, from the second path in it on."""
        if path not in self._located:
            self._located[path] = None
            return None
        located = self._located[path]
        if located is None and _is_folded(path):
            try:
                located = locate(
                    path, directory=self._directory, home=self._home, names=self._names
                )
            except PathError:
                return None
            self._located[path] = located
        return located


def _is_folded(path: str) -> bool:
    """Return whether a path is absolute, not the root, and the same after folding."""
    inner = f"{path}/"
    return path[:1] == "/" and not any(part in inner for part in ("//", "/./", "/../"))
