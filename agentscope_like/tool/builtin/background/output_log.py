"""Keeps the output of one background command, to be read by offset."""

from __future__ import annotations

import codecs
import os
import tempfile
import weakref

__all__ = ["MAX_LOG_BYTES", "OutputLog"]

MAX_LOG_BYTES = 64 << 20
"""The maximum size of a log; what is written after that is not kept."""

_LAST_CHARACTER_BYTES = 4


class OutputLog:
    """The output of a command, in a file without a name; every method may block.

    Attributes:
        size: How many bytes are kept.
        lost: How many bytes are not, since the log or the disk is full.
    """

    def __init__(self) -> None:
        descriptor, path = tempfile.mkstemp(prefix="agentscope-like-")
        os.unlink(path)
        self._descriptor = descriptor
        self._close = weakref.finalize(self, os.close, descriptor)
        self.size = 0
        self.lost = 0

    def add(self, text: str) -> None:
        """Add text; what there is no room for is counted as lost."""
        data = text.encode(errors="replace")
        kept = 0
        if self._close.alive and not self.lost and self.size + len(data) <= MAX_LOG_BYTES:
            try:
                kept = os.pwrite(self._descriptor, data, self.size)
            except OSError:
                kept = 0
        self.size += kept
        self.lost += len(data) - kept

    def read(self, offset: int, max_bytes: int) -> tuple[str, int]:
        """Return whole characters from an offset on, and the offset after them."""
        if not self._close.alive:
            return "", offset
        data = os.pread(self._descriptor, max(_LAST_CHARACTER_BYTES, max_bytes), offset)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = decoder.decode(data, final=offset + len(data) >= self.size)
        return text, offset + len(data) - len(decoder.getstate()[0])

    def close(self) -> None:
        """Forget the output."""
        self._close()
