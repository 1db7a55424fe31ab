"""Looks up names in a file system; a command that needs more lookups than its budget asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from itertools import islice
from typing import Protocol

__all__ = [
    "ENDING",
    "ENTRY",
    "FOLDER",
    "KEPT_FOR_PATHS",
    "MAX_BELOW",
    "MAX_EFFORT",
    "PATH",
    "RULE",
    "STEP",
    "TOO_MANY",
    "WALK",
    "FileSystemNames",
    "LookBudget",
    "NameEntry",
    "NameStatus",
    "TooManyFilesError",
]


class NameStatus(Protocol):
    """The status of a name, as in an `os.stat_result`."""

    @property
    def st_mode(self) -> int:
        """Return its file type and permissions."""

    @property
    def st_dev(self) -> int:
        """Return the device that it is on."""

    @property
    def st_ino(self) -> int:
        """Return its inode there."""


class NameEntry(Protocol):
    """An entry of a directory, as an `os.DirEntry`."""

    @property
    def name(self) -> str:
        """Return its name."""

    @property
    def path(self) -> str:
        """Return its path."""

    def is_dir(self, *, follow_symlinks: bool) -> bool:
        """Return whether it is a directory."""

    def is_symlink(self) -> bool:
        """Return whether it is a symlink."""


class FileSystemNames(Protocol):
    """Looks up names in a file system; the module `os` does so for this host."""

    def lstat(self, path: str, /) -> NameStatus:
        """Return the status of the name; a symlink is not followed.

        Raises:
            FileNotFoundError, NotADirectoryError: There is no such name.
            OSError: It cannot be determined.
        """

    def readlink(self, path: str, /) -> str:
        """Return the target of a symlink.

        Raises:
            OSError: It is none, or cannot be read.
        """

    def scandir(self, path: str, /) -> AbstractContextManager[Iterator[NameEntry]]:
        """Return the entries of a directory.

        Raises:
            OSError: It is none, or cannot be listed.
        """


MAX_EFFORT = 20_000
"""What one decision may spend on a command and on looking at files; about as many microseconds."""

KEPT_FOR_PATHS = 5_000
"""What a search for paths that rules match must leave for the paths of the command."""

MAX_BELOW = 5_000
"""What it may spend besides to list what is below directories."""

_CHARACTER = 1
"""A character of a command is read."""

_PART = 40
"""A simple command among those of a line is judged."""

ENTRY = 1
"""An entry of a directory is compared with a pattern or a rule."""

PATH = 4
"""A path is judged."""

RULE = 8
"""A path is compared with the rules about files."""

ENDING = 60
"""What is known of the end of a path is compared with all that is sensitive."""

FOLDER = 10
"""A directory is opened, or remembered with all that it lies in; more where that is much."""

WALK = 15
"""A path is followed from the root, as a symlink has to be; more where it has many names."""

STEP = 2
"""A name of a path that is followed, where it has many."""

TOO_MANY = "reaches too many files to check each one"
"""What a command does that is asked about because enough has been looked at."""


class TooManyFilesError(Exception):
    """A command reaches more files than the budget allows."""

    def __init__(self) -> None:
        super().__init__(f"it {TOO_MANY}")


class LookBudget:
    """The remaining budget of one decision.

    Args:
        left: The units to spend.

    Attributes:
        left: The units that remain.
    """

    __slots__ = ("_read", "left")

    def __init__(self, left: int = MAX_EFFORT) -> None:
        self.left = left
        self._read: str | None = None

    def read(self, text: str, parts: int) -> None:
        """Charge for reading a text, once per text.

        Args:
            text: The text.
            parts: The number of simple commands in it.
        """
        if text is not self._read:
            self._read = text
            self.left -= _CHARACTER * len(text) + _PART * parts

    def spend(self, effort: int, *, keep: int = 0) -> None:
        """Spend units.

        Args:
            effort: The units.
            keep: The units that must remain.

        Raises:
            TooManyFilesError: Too few are left; all but `keep` are then gone.
        """
        self.left -= effort
        if self.left < keep:
            self.left = min(self.left + effort, keep)
            raise TooManyFilesError

    def entries(self, directory: str, names: FileSystemNames, *, keep: int = 0) -> list[NameEntry]:
        """Return the entries of a directory; none where it cannot be listed.

        Args:
            directory: Its path.
            names: The file system.
            keep: The units that must remain.

        Raises:
            TooManyFilesError: There are more than the budget allows.
        """
        deep = STEP * directory.count("/") - FOLDER
        self.spend(max(FOLDER, deep), keep=keep)
        try:
            with names.scandir(directory) as entries:
                found = list(islice(entries, self.left - keep + 1))
        except OSError:
            return []
        self.spend(ENTRY * len(found), keep=keep)
        return found
