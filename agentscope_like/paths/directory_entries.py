"""Lists everything below the directories of a command."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator

from agentscope_like.paths.file_system import FileSystemNames, NameEntry
from agentscope_like.paths.look_budget import ENTRY, MAX_BELOW, LookBudget

__all__ = ["DirectoryEntries"]


class DirectoryEntries:
    """Lists what is below directories, and remembers each list.

    Args:
        names: The file system; this host's by default.
    """

    __slots__ = ("_effort", "_known", "_names")

    def __init__(self, names: FileSystemNames = os) -> None:
        self._names = names
        self._effort = LookBudget(MAX_BELOW)
        self._known: dict[str, list[NameEntry]] = {}

    def below(self, directory: str) -> Iterator[NameEntry]:
        """Yield everything below a directory, nearest first; symlinks are not followed.

        Args:
            directory: An absolute path without symlinks.

        Raises:
            TooManyFilesError: There is more below it than the budget allows.
        """
        known = self._known.get(directory)
        if known is not None:
            self._effort.spend(ENTRY * len(known))
            yield from known
            return
        found: list[NameEntry] = []
        pending = deque([directory])
        while pending:
            for entry in self._effort.entries(pending.popleft(), self._names):
                found.append(entry)
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
        self._known[directory] = found
