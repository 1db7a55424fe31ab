"""Caches the names of a sandbox that have been looked up.

A decision cannot wait for a sandbox. So it is first made repeatedly, only to collect the names that
it asks for, which are then looked up, until there are no new ones. Then it is made from the cache,
where a name that was not looked up is unknown and therefore never allowed.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from agentscope_like.sandbox.files import FileStatus

__all__ = ["KnownEntry", "KnownNames", "UnknownNameError"]

MOST_NAMES = 20_000
"""The maximum number of cached names; the least recently looked up are dropped first."""

T = TypeVar("T")

Ask = Callable[[Sequence[str]], Awaitable[list[FileStatus]]]
List = Callable[[Sequence[str]], Awaitable[list[list[FileStatus] | None]]]


class KnownEntry(FileStatus, frozen=True):
    """An entry of a directory, used like an `os.DirEntry`."""

    @property
    def name(self) -> str:
        """Return its name."""
        return self.path[self.path.rindex("/") + 1 :]

    def is_dir(self, *, follow_symlinks: bool) -> bool:
        """Return whether it is a directory; a symlink to one is not."""
        del follow_symlinks
        return self.is_directory

    def is_file(self, *, follow_symlinks: bool) -> bool:
        """Return whether it is a regular file."""
        del follow_symlinks
        return self.is_regular

    def is_symlink(self) -> bool:
        """Return whether it is a symlink."""
        return self.is_link

    def stat(self, *, follow_symlinks: bool) -> FileStatus:
        """Return itself."""
        del follow_symlinks
        return self

    @classmethod
    def entry(cls, found: FileStatus) -> KnownEntry:
        """Return what is known of an entry."""
        return cls(found.path, st_mode=found.st_mode, st_mtime_ns=found.st_mtime_ns)


class _Question:
    """The names that one look asks for, and the answers so far."""

    def __init__(self) -> None:
        self.known: dict[str, FileStatus] = {}
        self.listed: dict[str, list[KnownEntry] | None] = {}
        self.names: dict[str, None] = {}
        self.directories: dict[str, None] = {}


_QUESTION: ContextVar[_Question | None] = ContextVar("question", default=None)


class UnknownNameError(Exception):
    """A decision asks about a file that nobody has looked up, so it cannot be made."""


class KnownNames:
    """See `FileSystemNames`.

    Args:
        insist: Whether a name that was not looked up raises `UnknownNameError`, so that the
            decision is not made; by default such a name is unreadable.
    """

    def __init__(self, *, insist: bool = False) -> None:
        self._insist = insist
        self._known: dict[str, FileStatus] = {}
        self._listed: dict[str, list[KnownEntry] | None] = {}

    def lstat(self, path: str, /) -> FileStatus:
        """Return the status of a name; an unknown name is unreadable.

        Raises:
            OSError: It does not exist, or is unknown.
        """
        return self.status(path).required()

    def readlink(self, path: str, /) -> str:
        """Return the target of a symlink.

        Raises:
            OSError: It is not a symlink, or is unknown.
        """
        target = self.lstat(path).target
        if target is None:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return target

    @contextmanager
    def scandir(self, path: str, /) -> Iterator[Iterator[KnownEntry]]:
        """Return the entries of a directory.

        Raises:
            OSError: It cannot be listed, or nobody has.
        """
        question = _QUESTION.get()
        known = self._listed if question is None else question.listed
        if path not in known:
            if question is not None:
                question.directories[path] = None
            elif self._insist:
                raise UnknownNameError(f"the entries of {path!r} were not looked up")
        listed = known.get(path)
        if listed is None:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        yield iter(listed)

    def status(self, path: str) -> FileStatus:
        """Return the cached status of a name, which may be unknown."""
        question = _QUESTION.get()
        known = (self._known if question is None else question.known).get(path)
        if known is not None:
            return known
        if question is None:
            if self._insist:
                raise UnknownNameError(f"{path!r} was not looked up")
            return FileStatus(path, error=errno.EACCES)
        question.names[path] = None
        return FileStatus.missing(path)

    @property
    def is_asking(self) -> bool:
        """Return whether lookups are only collected now."""
        return _QUESTION.get() is not None

    def from_known(self, look: Callable[[], T]) -> T:
        """Run a look against the cache, also while other lookups are collected."""
        token = _QUESTION.set(None)
        try:
            return look()
        finally:
            _QUESTION.reset(token)

    async def look_up(
        self, look: Callable[[], Awaitable[None]], *, ask: Ask, list_: List, most: int
    ) -> bool:
        """Look up all names that a decision asks for; return whether none is left.

        Args:
            look: Makes the decision; repeated until it asks for no new names.
            ask: Returns the status of names.
            list_: Returns the entries of directories.
            most: The maximum number of repetitions.
        """
        question = _Question()
        for _ in range(most):
            token = _QUESTION.set(question)
            try:
                await look()
            finally:
                _QUESTION.reset(token)
            names, directories = list(question.names), list(question.directories)
            if not names and not directories:
                return True
            question.names.clear()
            question.directories.clear()
            if names:
                self._learn(question, await ask(names))
            if directories:
                self._learn_entries(question, directories, await list_(directories))
        return False

    def _learn(self, question: _Question, found: Sequence[FileStatus]) -> None:
        for status in found:
            question.known[status.path] = status
            _remember(self._known, status.path, status)

    def _learn_entries(
        self,
        question: _Question,
        directories: Sequence[str],
        found: Sequence[Sequence[FileStatus] | None],
    ) -> None:
        for directory, entries in zip(directories, found, strict=True):
            listed = None if entries is None else [KnownEntry.entry(each) for each in entries]
            question.listed[directory] = listed
            _remember(self._listed, directory, listed)


def _remember(known: dict[str, T], path: str, what: T) -> None:
    known.pop(path, None)
    known[path] = what
    if len(known) > MOST_NAMES:
        del known[next(iter(known))]
