"""Keeps the beginning and the end of a long output."""

from __future__ import annotations

from collections import deque

__all__ = ["HEAD_CHARACTERS", "TAIL_CHARACTERS", "OutputWindow"]

HEAD_CHARACTERS = 20_000
TAIL_CHARACTERS = 10_000


class OutputWindow:
    """Text of which the first and last characters are kept, and how many are between them."""

    def __init__(self) -> None:
        self._head: list[str] = []
        self._tail: deque[str] = deque()
        self._size = self._tail_size = 0

    @property
    def is_empty(self) -> bool:
        """Return whether there is no text."""
        return self._size == 0

    def add(self, text: str) -> None:
        """Add text at the end."""
        room = max(0, HEAD_CHARACTERS - self._size)
        self._size += len(text)
        if room:
            self._head.append(text[:room])
        rest = text[room:][-TAIL_CHARACTERS:]
        if not rest:
            return
        self._tail.append(rest)
        self._tail_size += len(rest)
        while self._tail_size - len(self._tail[0]) >= TAIL_CHARACTERS:
            self._tail_size -= len(self._tail.popleft())

    def take(self) -> str:
        """Return the text, with a note where characters were left out, and begin anew."""
        head, tail = "".join(self._head), "".join(self._tail)[-TAIL_CHARACTERS:]
        missing = self._size - len(head) - len(tail)
        self.__init__()  # type: ignore[misc]
        if missing <= 0:
            return head + tail
        return f"{head}\n\n[{missing:,} characters are left out here]\n\n{tail}"
