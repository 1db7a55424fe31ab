"""Keeps the beginning and the end of a command's output, within a limit."""

from __future__ import annotations

__all__ = ["Capture"]

_KEPT_BYTES = 1 << 20


class Capture:
    """Captures output of any length, and keeps its beginning and its end.

    Args:
        most: Bytes to keep.
    """

    def __init__(self, most: int = _KEPT_BYTES) -> None:
        self._half = most // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0

    def add(self, data: bytes) -> None:
        """Add the next bytes."""
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * self._half:
            self._shorten()

    def text(self) -> str:
        """Return what was kept, as UTF-8, with a line for what was left out."""
        if len(self._tail) > self._half:
            self._shorten()
        if not self._left_out:
            return (self._head + self._tail).decode(errors="replace")
        return (
            f"{self._head.decode(errors='ignore')}\n[{self._left_out:,} bytes left out]\n"
            f"{self._tail.decode(errors='ignore')}"
        )

    def _shorten(self) -> None:
        surplus = len(self._tail) - self._half
        self._left_out += surplus
        del self._tail[:surplus]
