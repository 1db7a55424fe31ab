"""Keeps what files were before their edits, within limits, so that edits can be undone."""

from __future__ import annotations

import threading
from collections import deque

from msgspec import Struct

__all__ = ["EditHistory"]

MAX_EDITS = 200
"""The maximum number of edits that are kept, of all files."""

MAX_BYTES = 32 * 1024 * 1024
"""The maximum size of the contents that are kept, in bytes."""


class _Edit(Struct, frozen=True):
    """One edit of a file.

    Attributes:
        path: The file's resolved path.
        before: Its content before the edit.
        after: The digest of its content after it.
    """

    path: str
    before: bytes
    after: str


class EditHistory:
    """The last edits of one tool, of all files, the oldest first; threads may share it."""

    def __init__(self) -> None:
        self._edits: deque[_Edit] = deque()
        self._bytes = 0
        self._lock = threading.Lock()

    def add(self, path: str, before: bytes, after: str) -> None:
        """Keep an edit, and forget the oldest ones beyond the limits."""
        with self._lock:
            self._edits.append(_Edit(path, before, after))
            self._bytes += len(before)
            while self._edits and (len(self._edits) > MAX_EDITS or self._bytes > MAX_BYTES):
                self._bytes -= len(self._edits.popleft().before)

    def last(self, path: str) -> tuple[bytes, str] | None:
        """Return the file before its last edit, and its digest after it; None without an edit."""
        with self._lock:
            edit = self._last(path)
        return None if edit is None else (edit.before, edit.after)

    def drop(self, path: str) -> None:
        """Forget the last edit of the file."""
        with self._lock:
            edit = self._last(path)
            if edit is not None:
                self._edits.remove(edit)
                self._bytes -= len(edit.before)

    def _last(self, path: str) -> _Edit | None:
        return next((one for one in reversed(self._edits) if one.path == path), None)
