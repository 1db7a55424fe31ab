"""Reads small files and directories of a repository; what cannot be read is empty."""

from __future__ import annotations

import os
import stat

__all__ = ["MOST_LINK_BYTES", "content_of", "names_in"]

MOST_LINK_BYTES = 4096
"""How much is read of a file that holds one name."""


def names_in(directory: str) -> list[str]:
    """Return the sorted names in a directory; none of one that cannot be listed."""
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def content_of(path: str, most: int) -> bytes:
    """Return what a regular file begins with; nothing of one that cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        try:
            return file.read(most)
        except OSError:
            return b""
