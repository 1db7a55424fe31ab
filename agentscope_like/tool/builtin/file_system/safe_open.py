"""Opens exactly the file that was decided, even if symlinks were swapped since.

A path is opened one name at a time from the root, and no name may be a symlink: `locate` has
resolved them all, so a symlink was created after the decision. The target must be a regular file;
opening never waits, so a FIFO that was swapped in cannot block a call.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from io import BufferedReader

from agentscope_like.sandbox.files import open_regular_file

__all__ = ["open_parent", "open_regular"]

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
