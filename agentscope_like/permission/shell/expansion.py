"""What the patterns of a command match now, looking at no more than a bounded number of files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import translate
from functools import lru_cache

from agentscope_like.permission.paths.location import Names

__all__ = ["Expansion", "TooManyFilesError"]

MAX_ENTRIES = 20_000
"""How many directory entries are looked at for one command."""

MAX_MATCHES = 1_500
"""How many paths the patterns of one command are followed to."""

_MAGIC = re.compile(r"[*?\[]")


class TooManyFilesError(Exception):
    """The patterns of a command reach more files than are looked at."""


class Expansion:
    """Expands the patterns of one command, as long as its budget lasts.

    Args:
        names: The file system; this host's by default.
    """

    __slots__ = ("_entries_left", "_known", "_matches_left", "_names")

    def __init__(self, names: Names = os) -> None:
        self._names = names
        self._entries_left = MAX_ENTRIES
        self._matches_left = MAX_MATCHES
        self._known: dict[str, list[str]] = {}

    def expand(self, pattern: str) -> list[str]:
        """Return the paths that an absolute pattern matches, as bash does without any option.

        `*` and `?` do not match a leading dot, and `**` is `*`.

        Args:
            pattern: An absolute path with `*`, `?` or bracket expressions in it.

        Raises:
            TooManyFilesError: There are more paths, or directory entries to look at, than the
                budget has left.
        """
        known = self._known.get(pattern)
        if known is None:
            known = []
            for path in self._walk("/", [name for name in pattern.split("/") if name]):
                self._matches_left -= 1
                if self._matches_left < 0:
                    raise TooManyFilesError
                known.append(path)
            self._known[pattern] = known
        return known

    def _walk(self, base: str, names: Sequence[str]) -> Iterator[str]:
        if not names:
            if self._exists(base):
                yield base
            return
        name, *rest = names
        if not _MAGIC.search(name):
            yield from self._walk(os.path.join(base, name), rest)
            return
        matches = _compiled(name).fullmatch
        for entry in self._entries(base):
            if (entry[0] != "." or name[0] == ".") and matches(entry):
                yield from self._walk(os.path.join(base, entry), rest)

    def _exists(self, path: str) -> bool:
        try:
            self._names.lstat(path)
        except OSError:
            return False
        return True

    def _entries(self, directory: str) -> Iterator[str]:
        try:
            with self._names.scandir(directory) as entries:
                for entry in entries:
                    self._entries_left -= 1
                    if self._entries_left < 0:
                        raise TooManyFilesError
                    yield entry.name
        except OSError:
            return


@lru_cache(maxsize=256)
def _compiled(name: str) -> re.Pattern[str]:
    return re.compile(translate(name.replace("[^", "[!")))
