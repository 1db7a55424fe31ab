"""Binds a command to the directory that it was decided for, whatever its path leads to later."""

from __future__ import annotations

import os

__all__ = ["held_path", "open_directory", "place_of"]

_PATH_ONLY: int = getattr(os, "O_PATH", os.O_RDONLY)
_OPEN_FILES = "/proc/self/fd"


def place_of(directory: str) -> str:
    """Return the identity of the directory that stands at a path; empty where there is none."""
    try:
        status = os.stat(directory)
    except OSError:
        return ""
    return _identity(status)


def open_directory(directory: str, place: str) -> int:
    """Return a descriptor of the directory at a path.

    Args:
        directory: The path.
        place: The identity that it has to have; empty for any.

    Raises:
        OSError: There is none, or another one.
    """
    descriptor = os.open(directory, _PATH_ONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    if place and _identity(os.fstat(descriptor)) != place:
        os.close(descriptor)
        raise OSError("it is not the directory that was decided about")
    return descriptor


def held_path(descriptor: int, directory: str) -> str:
    """Return a path of an open directory for a child process: by its number, where that is one."""
    path = f"{_OPEN_FILES}/{descriptor}"
    return path if os.path.isdir(path) else directory


def _identity(status: os.stat_result) -> str:
    return f"#{status.st_dev}.{status.st_ino}"
