"""What a file is, as far as a layer records it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

__all__ = [
    "DIRECTORY_FLAGS",
    "FILE_FLAGS",
    "FileKind",
    "FileState",
    "Identity",
    "opened_directory",
    "read_file_below",
    "state_of",
]

DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

_PLAIN_MODE = 0o777


class FileKind(StrEnum):
    """What kind of file a path names.

    Attributes:
        FILE: A regular file.
        DIRECTORY: A directory.
        LINK: A symlink.
        OTHER: A named pipe, a socket or a device.
    """

    FILE = "file"
    DIRECTORY = "directory"
    LINK = "link"
    OTHER = "other"


class Identity(Struct, frozen=True):
    """Which file it is, and when the kernel last changed anything of it.

    Attributes:
        device: Its file system.
        inode: Its number there.
        changed_ns: Its ctime in nanoseconds, which no program can set.
        names: How many names it has.
    """

    device: int
    inode: int
    changed_ns: int
    names: int


class FileState(Struct, frozen=True):
    """What a file is: two files with equal states are the same for whoever reads them.

    Attributes:
        kind: The kind of file.
        mode: Its permission bits, without set-id bits and the sticky bit.
        size: Bytes of a regular file; else 0.
        modified_ns: Its mtime in nanoseconds; 0 for a directory and a symlink.
        content: The SHA-256 of a regular file in hexadecimal, or where a symlink leads.
    """

    kind: FileKind
    mode: int
    size: int = 0
    modified_ns: int = 0
    content: str = ""


@contextlib.contextmanager
def opened_directory(top: int, path: str) -> Iterator[int]:
    """Open a directory below another one, never through a symlink, and close it afterwards.

    Args:
        top: Descriptor of the other one.
        path: Relative to it, with `/`; empty for itself.

    Raises:
        OSError: It cannot be opened, or is no directory.
    """
    descriptor = os.open(".", DIRECTORY_FLAGS, dir_fd=top)
    try:
        for name in filter(None, path.split("/")):
            below = os.open(name, DIRECTORY_FLAGS, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)


def read_file_below(top: int, path: str, most: int) -> bytes | None:
    """Return the content of a regular file, or None: it is gone, is no file, or larger.

    Args:
        top: Descriptor of the directory that the path is relative to.
        path: With `/`.
        most: The largest size in bytes.
    """
    parent, _, name = path.rpartition("/")
    try:
        with opened_directory(top, parent) as directory:
            descriptor = os.open(name, FILE_FLAGS, dir_fd=directory)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            data = file.read(most + 1)
    except OSError:
        return None
    return data if len(data) <= most else None


def state_of(name: str, directory: int) -> tuple[FileState, Identity] | None:
    """Return what a name in a directory is now; None if there is nothing of that name.

    Args:
        name: One name, no path.
        directory: The directory's descriptor.

    Raises:
        OSError: It cannot be read, or changed meanwhile (ESTALE).
    """
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    mode = stat.S_IMODE(found.st_mode) & _PLAIN_MODE
    if stat.S_ISREG(found.st_mode):
        return _regular_file(name, directory)
    identity = _identity(found)
    if stat.S_ISDIR(found.st_mode):
        return FileState(FileKind.DIRECTORY, mode), identity
    if stat.S_ISLNK(found.st_mode):
        target = os.readlink(name, dir_fd=directory)
        return FileState(FileKind.LINK, _PLAIN_MODE, content=target), identity
    return FileState(FileKind.OTHER, mode), identity


def _regular_file(name: str, directory: int) -> tuple[FileState, Identity]:
    descriptor = os.open(name, FILE_FLAGS, dir_fd=directory)
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        content = hashlib.file_digest(file, "sha256").hexdigest()
    mode = stat.S_IMODE(found.st_mode) & _PLAIN_MODE
    state = FileState(FileKind.FILE, mode, found.st_size, found.st_mtime_ns, content)
    return state, _identity(found)


def _identity(found: os.stat_result) -> Identity:
    return Identity(found.st_dev, found.st_ino, found.st_ctime_ns, found.st_nlink)
