"""What lies below the directories of a command, as far as a bounded number of files goes."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator

from agentscope_like.permission.paths.names import NameEntry, Names
from agentscope_like.permission.shell.expansion import TooManyFilesError

__all__ = ["Entries"]

MAX_BELOW = 2_000
"""How many directory entries are looked at below one directory; a directory that has to be opened
counts as ten."""

MAX_IN_ALL = 10_000
"""How many are looked at for one command."""


class Entries:
    """Lists what is below directories, each of them once, as long as the budget lasts.

    Args:
        names: The file system; this host's by default.
    """

    __slots__ = ("_known", "_left", "_names")

    def __init__(self, names: Names = os) -> None:
        self._names = names
        self._left = MAX_IN_ALL
        self._known: dict[str, tuple[list[NameEntry], bool]] = {}

    def below(self, directory: str) -> Iterator[NameEntry]:
        """Yield what is below a directory, the nearest first; symlinks are not followed.

        Args:
            directory: An absolute path without symlinks.

        Raises:
            TooManyFilesError: There is more below it than the budget has left.
        """
        if directory not in self._known:
            found: list[NameEntry] = []
            self._known[directory] = found, self._list(directory, found)
        entries, is_all = self._known[directory]
        yield from entries
        if not is_all:
            raise TooManyFilesError

    def _list(self, directory: str, found: list[NameEntry]) -> bool:
        """Add what is below a directory, and return whether that is all."""
        left = min(MAX_BELOW, self._left)
        pending = deque([directory])
        while pending:
            try:
                with self._names.scandir(pending.popleft()) as entries:
                    new = list(entries)
            except OSError:
                continue
            left -= len(new) + 10
            self._left -= len(new) + 10
            if left < 0:
                return False
            found += new
            pending += [each.path for each in new if each.is_dir(follow_symlinks=False)]
        return True
