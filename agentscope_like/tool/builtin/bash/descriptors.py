"""The file descriptors that one bash process holds open."""

from __future__ import annotations

import contextlib
import fcntl
import os

__all__ = ["READ_SIZE", "Descriptors"]

READ_SIZE = 1 << 20
"""Bytes that a pipe should hold, and that are read from it at a time."""

_SHELL_FIRST_DESCRIPTOR = 100


class Descriptors:
    """Descriptors that are open, until each is closed."""

    __slots__ = ("_open",)

    def __init__(self) -> None:
        self._open: set[int] = set()

    def __contains__(self, descriptor: int) -> bool:
        return descriptor in self._open

    def add(self, descriptor: int) -> None:
        """Take over a descriptor that is open."""
        self._open.add(descriptor)

    def pipe(self, *, high: bool = False, read_by_shell: bool = False) -> tuple[int, int]:
        """Return both ends of a new pipe; the shell's end gets a number no command counts with."""
        ends = list(os.pipe())
        self._open.update(ends)
        if high:
            mine = 0 if read_by_shell else 1
            low = ends[mine]
            ends[mine] = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, _SHELL_FIRST_DESCRIPTOR)
            self._open.add(ends[mine])
            self.close(low)
        elif hasattr(fcntl, "F_SETPIPE_SZ"):
            with contextlib.suppress(OSError):
                fcntl.fcntl(ends[0], fcntl.F_SETPIPE_SZ, READ_SIZE)
        if not read_by_shell:
            os.set_blocking(ends[0], False)
        return ends[0], ends[1]

    def file(self, text: str) -> int:
        """Return the descriptor of a file without a name that holds the text."""
        descriptor = os.memfd_create("command")
        self._open.add(descriptor)
        os.write(descriptor, os.fsencode(text))
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor

    def close(self, descriptor: int) -> None:
        """Close one of them."""
        self._open.discard(descriptor)
        os.close(descriptor)

    def close_all(self) -> None:
        """Close all that are still open."""
        for descriptor in tuple(self._open):
            self.close(descriptor)
