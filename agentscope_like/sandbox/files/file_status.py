"""`FileStatus`: the `lstat` result of a name."""

from __future__ import annotations

import errno
import os
import stat

from msgspec import Struct

__all__ = ["FileStatus"]


class FileStatus(Struct, frozen=True):
    """The status of one name, without following a symlink; fields as in `os.stat_result`.

    Attributes:
        path: Its absolute path.
        st_mode: Its kind and its permissions; 0 where nothing is known.
        st_dev: The device that it is on.
        st_ino: Its inode there.
        st_size: Its size in bytes.
        st_uid: Its owner.
        st_gid: Its group.
        st_mtime_ns: When its content was last changed, in nanoseconds; as exact as it is known.
        target: The target of a symlink.
        error: 0 if the status is known, `errno.ENOENT` if the name does not exist, else the error.
        reason: The error in words, if there are better ones than the system's.
    """

    path: str
    st_mode: int = 0
    st_dev: int = 0
    st_ino: int = 0
    st_size: int = 0
    st_uid: int = -1
    st_gid: int = -1
    st_mtime_ns: int = 0
    target: str | None = None
    error: int = 0
    reason: str = ""

    @classmethod
    def of(cls, path: str, found: os.stat_result, target: str | None = None) -> FileStatus:
        """Return the status of a name on this host."""
        return cls(
            path,
            st_mode=found.st_mode,
            st_dev=found.st_dev,
            st_ino=found.st_ino,
            st_size=found.st_size,
            st_uid=found.st_uid,
            st_gid=found.st_gid,
            st_mtime_ns=found.st_mtime_ns,
            target=target,
        )

    @classmethod
    def missing(cls, path: str) -> FileStatus:
        """Return the status of a name that does not exist."""
        return cls(path, error=errno.ENOENT)

    @property
    def identity(self) -> tuple[int, int]:
        """Return its device and inode, which no other file has at the time."""
        return self.st_dev, self.st_ino

    @property
    def is_directory(self) -> bool:
        """Return whether it is a directory."""
        return stat.S_ISDIR(self.st_mode)

    @property
    def is_regular(self) -> bool:
        """Return whether it is a regular file."""
        return stat.S_ISREG(self.st_mode)

    @property
    def is_link(self) -> bool:
        """Return whether it is a symlink."""
        return stat.S_ISLNK(self.st_mode)

    @property
    def modified(self) -> float:
        """Return when its content was last changed, in seconds."""
        return self.st_mtime_ns / 1e9

    def required(self) -> FileStatus:
        """Return itself, if it is known.

        Raises:
            FileNotFoundError: Nothing is there.
            OSError: Nobody can say.
        """
        if self.error:
            raise OSError(self.error, self.reason or os.strerror(self.error), self.path)
        return self
