"""Finds the credentials to cover, nearest first and within limits."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from agentscope_like.paths import is_below
from agentscope_like.sandbox.repositories import UnreadIndexError, WorkTrees
from agentscope_like.sandbox.secret_wall.listings import Listings, list_directory
from agentscope_like.sandbox.secret_wall.places import (
    directories_of_credentials,
    is_credential,
    known_places,
)

__all__ = [
    "LEAST_ENTRIES",
    "MOST_COVERED",
    "MOST_ENTRIES",
    "MOST_SECONDS",
    "Credential",
    "Found",
    "find_credentials",
]

MOST_COVERED = 64
"""bwrap takes a time that grows with the square of the mounts."""

MOST_ENTRIES = 50_000
"""How many entries of directories are looked at."""

LEAST_ENTRIES = 2_000
"""How many of them are looked at however long it takes."""

MOST_SECONDS = 2.0
"""How long directories are searched; a slow file system must not keep commands waiting."""

_NOT_FILES = ("/dev", "/proc", "/sys")


class Credential(Struct, frozen=True):
    """A credential file, or a directory in which every file is one.

    Attributes:
        path: Absolute and without symlinks.
        is_directory: Whether it is a directory.
    """

    path: str
    is_directory: bool


class Found(Struct, frozen=True):
    """The credentials to cover.

    Attributes:
        credentials: The nearest ones.
        left_out: For each reason why there may be more, a sentence.
    """

    credentials: tuple[Credential, ...] = ()
    left_out: tuple[str, ...] = ()


def find_credentials(
    home: str, directories: Sequence[str], listings: Listings | None = None
) -> Found:
    """Return the credentials at their usual places and below directories that git does not track.

    Args:
        home: The home directory; empty where there is none.
        directories: Where to look for more, absolute and without symlinks.
        listings: What earlier searches remember of directories; none if it is None.
    """
    listings = listings or Listings()
    listings.begin()
    search = _Search(home, directories, listings)
    for candidates in (search.usual(), search.below_directories(), search.other_names()):
        if not all(map(search.take, candidates)):
            break
    return search.found()


class _Search:
    """One search.

    Args:
        home: The home directory.
        directories: Where to look for more than what is at its usual place.
        listings: Lists these directories, and those below them.
    """

    def __init__(self, home: str, directories: Sequence[str], listings: Listings) -> None:
        self._home = home
        self._listings = listings
        self._directories = directories
        self._work_trees = WorkTrees()
        self._credentials: dict[str, Credential] = {}
        self._linked: set[tuple[int, int]] = set()
        self._left_out: dict[str, None] = {}
        self._deadline = time.monotonic() + MOST_SECONDS

    def found(self) -> Found:
        """Return what has been found."""
        return Found(tuple(self._credentials.values()), tuple(self._left_out))

    def take(self, path: str) -> bool:
        """Take a credential that can be covered; return whether there is room for more."""
        real = os.path.realpath(path)
        status = _readable(real)
        if status is None or self._is_covered(real):
            return True
        is_directory = stat.S_ISDIR(status.st_mode)
        try:
            if is_directory and self._has_to_stay(real):
                return all(map(self.take, self._files_below(path)))
            if not is_directory and self._work_trees.tracks(real):
                return True
        except UnreadIndexError as error:
            self._leave_out(
                f"the git index of {error.root} cannot be read, so that nothing is covered that "
                "git may track there"
            )
            return True
        if len(self._credentials) >= MOST_COVERED:
            self._leave_out(f"only the nearest {MOST_COVERED} credentials are covered")
            return False
        self._credentials[real] = Credential(real, is_directory)
        if not is_directory and status.st_nlink > 1:
            self._linked.add((status.st_dev, status.st_ino))
        return True

    def usual(self) -> Iterator[str]:
        """Yield what is at the usual places of credentials."""
        for path in known_places(self._home):
            yield from self._at(path, is_directory=os.path.isdir(path))

    def below_directories(self) -> Iterator[str]:
        """Yield what looks like a credential below the directories, level by level.

        The content of `.git` is left out.
        """
        whole, partly = directories_of_credentials()
        waiting = deque((path, self._is_credential(f"{path}/any")) for path in self._directories)
        looked_at = 0
        while waiting and not self._is_late(looked_at):
            directory, all_secret = waiting.popleft()
            most = MOST_ENTRIES - looked_at
            if all_secret:
                listing, _ = list_directory(directory, most, lambda _: True)
            else:
                listing = self._listings.of(directory, most)
            looked_at += listing.entries
            for path in (os.path.join(directory, name) for name in listing.files):
                yield from self._at(path, is_directory=os.path.isdir(path))
            for name in listing.directories:
                path = os.path.join(directory, name)
                lower = name.lower()
                if lower in whole:
                    yield from self._at(path, is_directory=True)
                if not self._is_passed_over(path):
                    may_be = all_secret or lower in whole or lower in partly
                    waiting.append((path, may_be and self._is_credential(f"{path}/any")))
            if listing.is_cut:
                self._leave_out_more()
                return

    def other_names(self) -> Iterator[str]:
        """Yield the other names of what has been found: hard links below the directories."""
        if not self._linked:
            return
        inodes = {inode for _, inode in self._linked}
        for entry in self._entries(self._directories):
            if entry.inode() in inodes and not entry.is_symlink():
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if (status.st_dev, status.st_ino) in self._linked:
                        yield entry.path

    def _at(self, path: str, *, is_directory: bool) -> Iterator[str]:
        whole, partly = directories_of_credentials()
        name = os.path.basename(path).lower()
        if not is_directory:
            if self._is_credential(path):
                yield path
        elif name in partly:
            yield from self._files_below(path)
        elif name in whole and self._is_credential(path) and _holds_any(path):
            yield path

    def _files_below(self, directory: str) -> Iterator[str]:
        """Yield the credentials below a directory, with paths as the caller names it."""
        real = os.path.realpath(directory)
        for entry in self._entries([real]):
            path = directory + entry.path.removeprefix(real)
            if not entry.is_dir(follow_symlinks=False) and self._is_credential(path):
                yield path

    def _entries(self, directories: Iterable[str]) -> Iterator[os.DirEntry[str]]:
        """Yield the entries below directories, level by level, without the content of `.git`."""
        waiting = deque(directories)
        looked_at = 0
        while waiting and not self._is_late(looked_at):
            for entry in _listing(waiting.popleft()):
                looked_at += 1
                if looked_at > MOST_ENTRIES:
                    self._leave_out_more()
                    return
                yield entry
                if entry.is_dir(follow_symlinks=False) and not self._is_passed_over(entry.path):
                    waiting.append(entry.path)

    def _leave_out_more(self) -> None:
        self._leave_out(f"only {MOST_ENTRIES:,} entries of directories are looked at")

    def _is_late(self, looked_at: int) -> bool:
        """Return whether the time for the search is over, after so many entries."""
        if looked_at >= LEAST_ENTRIES and time.monotonic() > self._deadline:
            self._leave_out(f"only what can be looked at in {MOST_SECONDS:g} s is looked at")
            return True
        return False

    def _is_passed_over(self, path: str) -> bool:
        is_git = os.path.basename(path) == ".git"
        return is_git or path in _NOT_FILES or path in self._credentials

    def _is_credential(self, path: str) -> bool:
        real = os.path.realpath(path)
        return is_credential(*dict.fromkeys((path, real)), home=self._home)

    def _is_covered(self, path: str) -> bool:
        """Return whether a path, or a directory above it, is covered already."""
        while path not in self._credentials:
            parent = os.path.dirname(path)
            if parent == path:
                return False
            path = parent
        return True

    def _has_to_stay(self, directory: str) -> bool:
        """Return whether not all of a directory can be covered at once.

        Raises:
            UnreadIndexError: It is not known what git tracks there.
        """
        inside = any(is_below(each, directory) for each in self._directories)
        return inside or self._work_trees.tracks_below(directory)

    def _leave_out(self, reason: str) -> None:
        self._left_out[reason] = None


def _readable(path: str) -> os.stat_result | None:
    """Return the status of a file or directory that this process can read; None for others."""
    with contextlib.suppress(OSError, ValueError):
        status = os.lstat(path)
        is_one = stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)
        return status if is_one and os.access(path, os.R_OK) else None
    return None


def _listing(directory: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as listing:
            yield from listing
    except OSError:
        return


def _holds_any(directory: str) -> bool:
    return next(_listing(directory), None) is not None
