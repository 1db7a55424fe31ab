"""Lists everything below the directories of a command, and what its glob patterns match."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from fnmatch import translate

from agentscope_like.paths.file_system import (
    ENTRY,
    MAX_BELOW,
    PATH,
    FileSystemNames,
    LookBudget,
    NameEntry,
)
from agentscope_like.sized_cache import cached_by_size

__all__ = ["DirectoryEntries", "GlobExpansion", "matches", "matching"]


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


_DOUBTFUL_BRACKETS = re.compile(r"\[(?!\[\])[^\]]*[\[\\]")
"""Bracket expressions with a class, an equivalent or an escape, as in `[[:alpha:]]`."""

_MAGIC = re.compile(r"[*?\[]")


class GlobExpansion:
    """Expands the patterns of one command.

    Args:
        names: The file system; this host's by default.
        effort: The budget of lookups; its own by default.
        deep: Whether `**` matches at any depth (bash's option `globstar`).
    """

    def __init__(
        self, names: FileSystemNames = os, effort: LookBudget | None = None, *, deep: bool = False
    ) -> None:
        self._names = names
        self._effort = effort or LookBudget()
        self._deep = deep
        self._known: dict[str, list[str]] = {}

    def expand(self, pattern: str) -> list[str]:
        """Return the paths that an absolute pattern matches, as bash does without other options.

        `*` and `?` do not match a leading dot, and `**` is `*` unless it is deep.

        Args:
            pattern: An absolute path with `*`, `?` or bracket expressions in it.

        Raises:
            TooManyFilesError: There are more paths, or directory entries to look at, than there is
                effort left for.
        """
        known = self._known.get(pattern)
        if known is None:
            known = []
            for path in self._walk("/", [name for name in pattern.split("/") if name]):
                self._effort.spend(PATH)
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
        if self._deep and name == "**":
            yield from self._walk(base, rest)
            if not rest:
                names = ["**", "*"]
                yield from self._walk(base, ["*"])
            for folder in self._directories(base):
                yield from self._walk(os.path.join(base, folder), names)
            return
        fits = _compiled(name).fullmatch
        for entry in self._effort.entries(base, self._names):
            if (entry.name[0] != "." or name[0] == ".") and fits(entry.name):
                yield from self._walk(os.path.join(base, entry.name), rest)

    def _directories(self, directory: str) -> Iterator[str]:
        """Yield the subdirectories of a directory that `**` descends into."""
        for entry in self._effort.entries(directory, self._names):
            if entry.name[0] != "." and entry.is_dir(follow_symlinks=False):
                yield entry.name

    def _exists(self, path: str) -> bool:
        try:
            self._names.lstat(path)
        except OSError:
            return False
        return True


def matches(name: str, pattern: str) -> bool:
    """Return whether a single name matches a pattern."""
    return _compiled(pattern).fullmatch(name) is not None


def matching(pattern: str) -> Callable[[str], object]:
    """Return a predicate that tells whether a name matches a pattern."""
    return _compiled(pattern).fullmatch


@cached_by_size(50_000)
def _compiled(name: str) -> re.Pattern[str]:
    doubtful = _DOUBTFUL_BRACKETS.search(name)
    if doubtful is not None:  # takes more for a match than bash does
        name = f"{name[: doubtful.start()]}*"
    return re.compile(translate(name.replace("[^", "[!")))
