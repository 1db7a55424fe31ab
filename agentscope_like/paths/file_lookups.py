"""Looks at the file system for one decision: locates paths, expands patterns, lists directories."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator, Sequence
from fnmatch import translate
from functools import cache

from agentscope_like.paths.file_system import (
    ENTRY,
    MAX_BELOW,
    PATH,
    STEP,
    WALK,
    FileSystemNames,
    LookBudget,
    NameEntry,
)
from agentscope_like.paths.location import Location, locate
from agentscope_like.sized_cache import cached_by_size

__all__ = ["FileLookups", "matches"]

_MOST_CHARGED = 2
"""How many paths in one folder are charged for its names, which are cached then."""

_DOUBTFUL_BRACKETS = re.compile(r"\[(?!\[\])[^\]]*[\[\\]")
"""Bracket expressions with a class, an equivalent or an escape, as in `[[:alpha:]]`."""

_MAGIC = re.compile(r"[*?\[]")


class FileLookups:
    """The lookups of one decision; what was found once is not looked up again.

    They live for one decision, so the answers all belong to that moment. They are a file system
    themselves, with the status and the link of each name cached.

    Args:
        directory: The base of relative paths.
        home: What `~` expands to; the user's home by default.
        names: The file system; this host's by default.
        effort: The budget of lookups, but for what is below directories; its own by default.
    """

    def __init__(
        self,
        *,
        directory: str,
        home: str | None = None,
        names: FileSystemNames = os,
        effort: LookBudget | None = None,
    ) -> None:
        self._directory = directory
        self._home = home
        self.lstat = cache(names.lstat)  # but for names that do not exist
        self.readlink = cache(names.readlink)
        self.scandir = names.scandir
        self._effort = effort or LookBudget()
        self._effort_below = LookBudget(MAX_BELOW)
        self._located: dict[tuple[str, bool], Location] = {}
        self._folders: dict[str, int] = {}
        self._expanded: dict[tuple[str, bool], list[str]] = {}
        self._below: dict[str, list[NameEntry]] = {}

    def locate(self, path: str, *, follow: bool = True) -> Location:
        """Return where the path leads, as `locate` does.

        Raises:
            PathError: As in `locate`.
            TooManyFilesError: The budget is used up.
        """
        self._effort.spend(PATH)
        found = self._located.get((path, follow))
        if found is None:
            found = self._follow(path, follow=follow)
            self._located[path, follow] = found
        return found

    def _follow(self, path: str, *, follow: bool) -> Location:
        """Follow a path, and charge for the names that are not cached."""
        folder = path.rpartition("/")[0]
        visits = self._folders.get(folder, 0)
        if visits < _MOST_CHARGED or not path.startswith("/"):
            self._folders[folder] = visits + 1
            start = "" if path.startswith("/") else self._directory
            self._effort.spend(max(WALK, STEP * (start.count("/") + path.count("/"))))
        found = locate(path, directory=self._directory, home=self._home, follow=follow, names=self)
        if len(found.readings) > 1:
            self._effort.spend(WALK)
        return found

    def below(self, directory: str) -> Iterator[NameEntry]:
        """Yield everything below a directory, nearest first; symlinks are not followed.

        Args:
            directory: An absolute path without symlinks.

        Raises:
            TooManyFilesError: There is more below it than the budget allows.
        """
        known = self._below.get(directory)
        if known is not None:
            self._effort_below.spend(ENTRY * len(known))
            yield from known
            return
        found: list[NameEntry] = []
        pending = deque([directory])
        while pending:
            for entry in self._effort_below.entries(pending.popleft(), self):
                found.append(entry)
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
        self._below[directory] = found

    def expand(self, pattern: str, *, deep: bool = False) -> list[str]:
        """Return the paths that an absolute pattern matches, as bash does without other options.

        `*` and `?` do not match a leading dot, and `**` is `*` unless it is deep.

        Args:
            pattern: An absolute path with `*`, `?` or bracket expressions in it.
            deep: Whether `**` matches at any depth (bash's option `globstar`).

        Raises:
            TooManyFilesError: There are more paths, or directory entries to look at, than there is
                effort left for.
        """
        known = self._expanded.get((pattern, deep))
        if known is None:
            known = []
            names = [name for name in pattern.split("/") if name]
            if not deep:
                names = ["*" if name == "**" else name for name in names]
            for path in self._matching("/", names):
                self._effort.spend(PATH)
                known.append(path)
            self._expanded[pattern, deep] = known
        return known

    def _matching(self, base: str, names: Sequence[str]) -> Iterator[str]:
        if not names:
            if self._exists(base):
                yield base
            return
        name, *rest = names
        if not _MAGIC.search(name):
            yield from self._matching(os.path.join(base, name), rest)
            return
        if name == "**":
            yield from self._matching(base, rest)
            if not rest:
                names = ["**", "*"]
                yield from self._matching(base, ["*"])
            for folder in self._directories(base):
                yield from self._matching(os.path.join(base, folder), names)
            return
        fits = _compiled(name).fullmatch
        for entry in self._effort.entries(base, self):
            if (entry.name[0] != "." or name[0] == ".") and fits(entry.name):
                yield from self._matching(os.path.join(base, entry.name), rest)

    def _directories(self, directory: str) -> Iterator[str]:
        """Yield the subdirectories of a directory that `**` descends into."""
        for entry in self._effort.entries(directory, self):
            if entry.name[0] != "." and entry.is_dir(follow_symlinks=False):
                yield entry.name

    def _exists(self, path: str) -> bool:
        try:
            self.lstat(path)
        except OSError:
            return False
        return True


def matches(name: str, pattern: str) -> bool:
    """Return whether a single name matches a pattern."""
    return _compiled(pattern).match(name) is not None


@cached_by_size(50_000)
def _compiled(name: str) -> re.Pattern[str]:
    doubtful = _DOUBTFUL_BRACKETS.search(name)
    if doubtful is not None:  # takes more for a match than bash does
        name = f"{name[: doubtful.start()]}*"
    return re.compile(translate(name.replace("[^", "[!")))
