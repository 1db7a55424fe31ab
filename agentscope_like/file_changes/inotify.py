"""Calls inotify(7), by which the Linux kernel reports changes of files."""

from __future__ import annotations

import ctypes
import os
from functools import cache

__all__ = ["add_watch", "new_instance"]


def new_instance() -> int | None:
    """Return the descriptor of a new inotify instance; None if there can be none."""
    libc = _libc()
    if not hasattr(libc, "inotify_init1"):
        return None
    descriptor: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    return descriptor if descriptor >= 0 else None


def add_watch(descriptor: int, path: str, mask: int) -> int | None:
    """Watch a path for the events of a mask; return the number of the watch, None if refused."""
    if "\0" in path:
        return None
    watch: int = _libc().inotify_add_watch(descriptor, os.fsencode(path), ctypes.c_uint32(mask))
    return watch if watch >= 0 else None


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)
