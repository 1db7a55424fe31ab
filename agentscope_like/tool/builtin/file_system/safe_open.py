"""Opens exactly the file that was decided, even if symlinks were swapped since.

A path is opened one name at a time from the root, and no name may be a symlink: `locate` has
resolved them all, so a symlink was created after the decision. The target must be a regular file;
opening never waits, so a FIFO that was swapped in cannot block a call.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Generator, Iterator, Sequence
from io import BufferedReader

from msgspec import Struct

from agentscope_like.sandbox.files import READ_FLAGS, open_regular_file

__all__ = ["ListedEntry", "list_directory", "open_each", "open_parent", "open_regular"]

_LISTED = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_DIRECTORY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextlib.contextmanager
def open_parent(path: str, *, made: list[str] | None = None) -> Iterator[tuple[int, str]]:
    """Open the directory of a resolved path and yield its descriptor and the file's name.

    Args:
        path: Absolute, without symlinks, `.` or `..`.
        made: If given, missing directories are created and added here, outermost first.

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


def open_regular(path: str) -> BufferedReader:
    """Open a regular file at a resolved path for reading, without waiting.

    Raises:
        OSError: It cannot be opened, or is not a regular file (ENXIO).
    """
    with open_parent(path) as (directory, name):
        return open_regular_file(name, directory)


class ListedEntry(Struct, frozen=True):
    """An entry of a directory, as it was listed; see `Entry`."""

    name: str
    path: str
    kind: str

    def is_dir(self, *, follow_symlinks: bool) -> bool:
        """Return whether it is a directory; symlinks are not followed."""
        del follow_symlinks
        return self.kind == "directory"

    def is_file(self, *, follow_symlinks: bool) -> bool:
        """Return whether it is a regular file; symlinks are not followed."""
        del follow_symlinks
        return self.kind == "file"

    def stat(self, *, follow_symlinks: bool) -> os.stat_result:
        """Return the status of the entry of this name now."""
        return os.stat(self.path, follow_symlinks=follow_symlinks)


def list_directory(path: str) -> list[ListedEntry]:
    """Return the entries of the directory at a resolved path.

    Raises:
        OSError: It cannot be listed, or a symlink was put in its way.
    """
    if path == "/":
        descriptor = os.open("/", _LISTED)
    else:
        with open_parent(path) as (directory, name):
            descriptor = os.open(name, _LISTED, dir_fd=directory)
    base = path.rstrip("/")
    try:
        with os.scandir(descriptor) as entries:
            return [ListedEntry(each.name, f"{base}/{each.name}", _kind(each)) for each in entries]
    finally:
        os.close(descriptor)


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_dir(follow_symlinks=False):
        return "directory"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


def open_each(directory: str, relative: Sequence[str]) -> Generator[tuple[str, int], None, None]:
    """Yield each regular file below a resolved directory that can be opened, and its descriptor.

    Args:
        directory: Absolute, without symlinks, `.` or `..`.
        relative: Paths below it, best ordered by directory, each of which is walked once.

    Yields:
        The path as given, and a descriptor, which the caller closes.
    """
    parent: str | None = None
    opened = -1
    try:
        for each in relative:
            place, _, name = f"{directory.rstrip('/')}/{each}".rpartition("/")
            if place != parent:
                parent, before = place, opened
                if before >= 0:
                    os.close(before)
                opened = _open_directory(place)
            if opened >= 0 and (descriptor := _regular(name, opened)) >= 0:
                yield each, descriptor
    finally:
        if opened >= 0:
            os.close(opened)


def _open_directory(path: str) -> int:
    """Return a descriptor of the directory, or -1."""
    try:
        if not path:
            return os.open("/", _DIRECTORY)
        with open_parent(path) as (directory, name):
            return os.open(name, _DIRECTORY, dir_fd=directory)
    except OSError:
        return -1


def _regular(name: str, directory: int) -> int:
    """Return a descriptor of the regular file, or -1."""
    try:
        descriptor = os.open(name, READ_FLAGS, dir_fd=directory)
    except OSError:
        return -1
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return -1
