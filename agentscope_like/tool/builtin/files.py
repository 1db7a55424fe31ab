"""Opening files that are what they were judged to be, and replacing them in one step.

A path is walked one name at a time from the root, and no name may be a symlink: `locate` has
resolved them all, so one that turns up now was put there after the decision. What is opened must be
a regular file; opening never waits, so a FIFO that was swapped in cannot hold a call up.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from functools import cached_property
from typing import BinaryIO

from msgspec import Struct

from agentscope_like.exception import AgentOrientedException
from agentscope_like.permission.paths import FileKind, Location
from agentscope_like.state import ReadCacheEntry

__all__ = [
    "MAX_WHOLE_BYTES",
    "FileContent",
    "FileToolError",
    "explain",
    "open_parent",
    "open_regular",
    "read_whole",
    "require_file",
]

MAX_WHOLE_BYTES = 64 * 1024 * 1024
"""Largest file, in bytes, that is taken into memory whole, as editing and searching do."""

_DIRECTORY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC


class FileToolError(AgentOrientedException):
    """A file that cannot be used as asked; the message says what to do instead."""


class FileContent(Struct, frozen=True, dict=True):
    """A regular file's bytes and status, taken together."""

    data: bytes
    status: os.stat_result

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 of the bytes, in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()

    def entry(self, path: str, seen: tuple[tuple[int, int], ...] = ()) -> ReadCacheEntry:
        """Return what is remembered of the file, which is at this resolved path."""
        return ReadCacheEntry(
            file_path=path,
            digest=self.digest,
            bytes=len(self.data),
            updated_at=self.status.st_mtime,
            seen=seen,
        )


_NOT_A_FILE = {
    FileKind.DIRECTORY: "is a directory. Name a file; list a directory with Glob",
    FileKind.FIFO: "is a named pipe, not a regular file. Name a regular file",
    FileKind.SOCKET: "is a socket, not a regular file. Name a regular file",
    FileKind.DEVICE: "is a device, not a regular file. Name a regular file",
    FileKind.LOOP: "cannot be followed: its symlinks lead in a circle. Name the file itself",
    FileKind.UNREADABLE: "could not be reached a moment ago. Call again",
}


def require_file(location: Location) -> None:
    """Refuse what is no regular file and not missing either.

    Raises:
        FileToolError: It is a directory, FIFO, socket, device, symlink loop or broken symlink, or
            it cannot be reached.
    """
    shown = location.written
    if location.kind is FileKind.UNREADABLE:
        try:
            os.stat(location.absolute)
        except OSError as error:
            raise explain(error, shown) from None
    if problem := _NOT_A_FILE.get(location.kind):
        raise FileToolError(f"{shown} {problem}.")
    if location.kind is FileKind.MISSING and os.path.islink(location.absolute):
        raise FileToolError(
            f"{shown} is a broken symlink: it leads to {location.resolved}, which does not exist. "
            "Name that file instead, or have the link removed."
        )


def explain(error: OSError, shown: str) -> FileToolError:
    """Return the error for the model: what the system said of the path shown as `shown`."""
    texts = {
        errno.ENOENT: "does not exist (or no longer does). Look for it with Glob",
        errno.EACCES: "cannot be used: permission denied. Use another path, or ask the user",
        errno.EPERM: "cannot be used: operation not permitted. Use another path, or ask the user",
        errno.ELOOP: "was replaced by a symlink in the meantime. Call again",
        errno.ENOTDIR: "cannot be reached: a part of the path is not a directory, or was replaced "
        "in the meantime. Check the path",
        errno.EISDIR: "is a directory. Name a file",
        errno.ENAMETOOLONG: "cannot be used: a name in it is too long. Use a shorter one",
        errno.EROFS: "cannot be written: its file system is read-only. Use another path",
        errno.ENOSPC: "cannot be written: the disk is full. Free some space, or ask the user",
        errno.EDQUOT: "cannot be written: the disk quota is used up. Free some space",
        errno.EAGAIN: "has nothing to read at the moment and is not waited for. Use another file",
        errno.ENXIO: "is not a regular file. Name a regular file",
        errno.ETXTBSY: "is a program that is running. Stop it first",
    }
    said = error.strerror or type(error).__name__
    return FileToolError(f"{shown} {texts.get(error.errno or 0, f'cannot be used: {said}')}.")


@contextlib.contextmanager
def open_parent(path: str, *, made: list[str] | None = None) -> Iterator[tuple[int, str]]:
    """Open the directory of a resolved path and yield its descriptor and the file's name.

    Args:
        path: Absolute, without symlinks, `.` or `..`.
        made: Where given, missing directories are made and noted here, outermost first.

    Raises:
        OSError: A directory on the way is missing, was replaced, or may not be searched.
    """
    *parents, name = path.lstrip("/").split("/")
    if not name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    descriptor = os.open("/", _DIRECTORY)
    try:
        for depth, parent in enumerate(parents, 1):
            inner = _enter(descriptor, parent, "/" + "/".join(parents[:depth]), made)
            os.close(descriptor)
            descriptor = inner
        yield descriptor, name
    finally:
        os.close(descriptor)


def _enter(descriptor: int, name: str, path: str, made: list[str] | None) -> int:
    try:
        return os.open(name, _DIRECTORY, dir_fd=descriptor)
    except FileNotFoundError:
        if made is None:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=descriptor)
        made.append(path)
    return os.open(name, _DIRECTORY, dir_fd=descriptor)


def open_regular(path: str, *, flags: int = _READ, parent: int | None = None) -> BinaryIO:
    """Open a regular file for reading, without ever waiting.

    Args:
        path: A resolved path, or a name within `parent`.
        flags: How to open it.
        parent: A directory's descriptor.

    Raises:
        OSError: It cannot be opened, or is no regular file (ENXIO).
    """
    if parent is None:
        with open_parent(path) as (directory, name):
            return open_regular(name, flags=flags, parent=directory)
    descriptor = os.open(path, flags, dir_fd=parent)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.ENXIO, os.strerror(errno.ENXIO))
    return os.fdopen(descriptor, "rb")


def read_whole(location: Location) -> FileContent:
    """Return the content of a file of up to `MAX_WHOLE_BYTES`.

    Raises:
        FileToolError: It is no regular file, too large, or cannot be read.
    """
    require_file(location)
    try:
        with open_regular(location.resolved) as file:
            return whole(file, location.written)
    except OSError as error:
        raise explain(error, location.written) from None


def whole(file: BinaryIO, shown: str) -> FileContent:
    """Return the content of an open file.

    Raises:
        FileToolError: It is too large.
    """
    data = file.read(MAX_WHOLE_BYTES + 1)
    if len(data) > MAX_WHOLE_BYTES:
        raise FileToolError(
            f"{shown} is larger than {MAX_WHOLE_BYTES // 1024**2} MB, the most that is edited as a "
            "whole. Use a program for large files through the shell."
        )
    return FileContent(data, os.fstat(file.fileno()))
