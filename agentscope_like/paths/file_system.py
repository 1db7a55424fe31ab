"""The protocol through which a decision looks up names in a file system."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

__all__ = ["FileSystemNames", "NameEntry", "NameStatus"]


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
