"""Reports which files of a directory were opened, by inotify; none without inotify."""

from __future__ import annotations

import os
import struct
import weakref

from agentscope_like.file_changes import add_watch, new_instance

__all__ = ["OpenWatch"]

_OPENED = 0x20
_EVENT = struct.Struct("iIII")
_READ_BYTES = 1 << 16


class OpenWatch:
    """Watches the files of a directory until it is garbage-collected.

    Opening a file through another path, such as a mount, counts as well. A command reaches the
    files only through mounts; a process that opens the directory itself searches the host, so what
    is opened after that is not reported.

    Args:
        directory: The directory.
    """

    def __init__(self, directory: str) -> None:
        self._descriptor = new_instance()
        if self._descriptor is not None:
            weakref.finalize(self, os.close, self._descriptor)
            add_watch(self._descriptor, directory, _OPENED)

    def opened(self) -> frozenset[str]:
        """Return the names of the files opened since the last call."""
        found: set[str] = set()
        is_searched = False
        while data := self._events():
            at = 0
            while at + _EVENT.size <= len(data):
                _, mask, _, length = _EVENT.unpack_from(data, at)
                at += _EVENT.size + length
                if not mask & _OPENED:
                    continue
                if not length:
                    is_searched = True
                elif not is_searched:
                    found.add(os.fsdecode(data[at - length : at].rstrip(b"\0")))
        return frozenset(found)

    def _events(self) -> bytes:
        if self._descriptor is None:
            return b""
        try:
            return os.read(self._descriptor, _READ_BYTES)
        except OSError:  # none, or none any more
            return b""
