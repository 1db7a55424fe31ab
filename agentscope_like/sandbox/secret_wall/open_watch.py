"""Reports which files of a directory were opened, by inotify; none without inotify."""

from __future__ import annotations

import ctypes
import os
import struct
import weakref
from functools import cache

__all__ = ["OpenWatch"]

_OPENED = 0x20
_EVENT = struct.Struct("iIII")
_READ_BYTES = 1 << 16


class OpenWatch:
    """Watches the files of a directory until it is garbage-collected.

    Opening a file through another path, such as a mount, counts as well.

    Args:
        directory: The directory.
    """

    def __init__(self, directory: str) -> None:
        self._descriptor = _new_watch()
        if self._descriptor is not None:
            weakref.finalize(self, os.close, self._descriptor)
            _libc().inotify_add_watch(
                self._descriptor, os.fsencode(directory), ctypes.c_uint32(_OPENED)
            )

    def opened(self) -> frozenset[str]:
        """Return the names of the files opened since the last call."""
        found: set[str] = set()
        while data := self._events():
            at = 0
            while at + _EVENT.size <= len(data):
                _, mask, _, length = _EVENT.unpack_from(data, at)
                at += _EVENT.size + length
                if mask & _OPENED and length:
                    found.add(os.fsdecode(data[at - length : at].rstrip(b"\0")))
        return frozenset(found)

    def _events(self) -> bytes:
        if self._descriptor is None:
            return b""
        try:
            return os.read(self._descriptor, _READ_BYTES)
        except OSError:  # none, or none any more
            return b""


def _new_watch() -> int | None:
    """Return the descriptor of a new inotify instance; None if there is no inotify."""
    libc = _libc()
    if not hasattr(libc, "inotify_init1"):
        return None
    descriptor: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    return descriptor if descriptor >= 0 else None


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)
