"""Tells which files git tracks, from the index of each work tree."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from agentscope_like.sandbox.repositories.git_index import (
    MOST_INDEX_BYTES,
    GitIndexError,
    recorded_paths,
)

__all__ = ["UnreadIndexError", "WorkTrees"]

_LINK = b"gitdir: "
_MOST_LINK_BYTES = 4096


class UnreadIndexError(Exception):
    """A work tree has an index that cannot be read.

    Attributes:
        root: The work tree.
    """

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.root = root


class WorkTrees:
    """The work trees around paths, as they are now; each index is read once, when it is needed."""

    def __init__(self) -> None:
        self._repositories: dict[str, str | None] = {}
        self._recorded: dict[str, frozenset[bytes] | None] = {}

    def tracks(self, path: str) -> bool:
        """Return whether git tracks a file.

        Args:
            path: Absolute and without symlinks.

        Raises:
            UnreadIndexError: That is not known.
        """
        return any(
            os.fsencode(os.path.relpath(path, root)) in self._paths(root)
            for root in self._roots_around(path)
        )

    def tracks_below(self, directory: str) -> bool:
        """Return whether git tracks a file below a directory, as part of a tree around it.

        Raises:
            UnreadIndexError: That is not known.
        """
        return any(
            name.startswith(os.fsencode(os.path.relpath(directory, root)) + b"/")
            for root in self._roots_around(directory)
            for name in self._paths(root)
        )

    def _roots_around(self, path: str) -> Iterator[str]:
        """Yield the roots of all work trees that the path lies in, the nearest first."""
        while (parent := os.path.dirname(path)) != path:
            path = parent
            if path not in self._repositories:
                self._repositories[path] = _repository_of(path)
            if self._repositories[path] is not None:
                yield path

    def _paths(self, root: str) -> frozenset[bytes]:
        if root not in self._recorded:
            self._recorded[root] = _read_index(self._repositories[root] or root)
        paths = self._recorded[root]
        if paths is None:
            raise UnreadIndexError(root)
        return paths


def _repository_of(directory: str) -> str | None:
    """Return the repository of the work tree that has its root here; None where there is none.

    Submodules and linked work trees have a file that names it.
    """
    place = os.path.join(directory, ".git")
    if not os.path.lexists(place):
        return None
    if not os.path.isdir(place):
        line = _read(place, _MOST_LINK_BYTES) or b""
        if not line.startswith(_LINK):
            return None
        place = os.path.join(directory, os.fsdecode(line[len(_LINK) :].rstrip(b"\r\n")))
    return place if os.path.lexists(os.path.join(place, "HEAD")) else None


def _read_index(repository: str) -> frozenset[bytes] | None:
    """Return the paths that the index of a repository records; None where it cannot be read."""
    path = os.path.join(repository, "index")
    if not os.path.lexists(path):
        return frozenset()
    data = _read(path, MOST_INDEX_BYTES)
    try:
        return None if data is None else recorded_paths(data)
    except GitIndexError:
        return None


def _read(path: str, most: int) -> bytes | None:
    """Return the content of a regular file; None where it is none, is larger or unreadable."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        try:
            data = file.read(most + 1)
        except OSError:
            return None
    return data if len(data) <= most else None
