"""A file system as far as names go: all that a decision asks of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

__all__ = ["FileSystemNames", "NameEntry", "NameStatus"]


class NameStatus(Protocol):
    """What is known of a name, as in an `os.stat_result`."""

    @property
    def st_mode(self) -> int:
        """Return its kind and its permissions."""

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
    """A file system, as far as names go; the module `os` is this host's."""

    def lstat(self, path: str, /) -> NameStatus:
        """Return what is known of the name itself.

        Raises:
            FileNotFoundError, NotADirectoryError: There is no such name.
            OSError: Nobody can say.
        """

    def readlink(self, path: str, /) -> str:
        """Return what a symlink says.

        Raises:
            OSError: It is none, or cannot be read.
        """

    def scandir(self, path: str, /) -> AbstractContextManager[Iterator[NameEntry]]:
        """Return the entries of a directory.

        Raises:
            OSError: It is none, or cannot be listed.
        """
