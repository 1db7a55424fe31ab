"""Remembers which text of each file the agent knows."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

__all__ = ["Known", "ReadTracker"]

Span = tuple[int, int]
"""A range of characters: its start, and the position after its end."""


class Known(Struct, frozen=True):
    """What the agent knows of one file.

    Attributes:
        digest: The version that it knows, as the SHA-256 of the content.
        length: The characters of that version.
        spans: The parts that it read or wrote, in order and apart.
        needs_full_read: Whether a patch failed, so that only a full read allows the next one.
    """

    digest: str
    length: int
    spans: tuple[Span, ...]
    needs_full_read: bool = False

    @property
    def is_full(self) -> bool:
        """Return whether the agent knows the whole text."""
        return self.length == 0 or self.spans == ((0, self.length),)

    def holds(self, start: int, end: int) -> bool:
        """Return whether a range lies within one part that the agent knows."""
        return any(first <= start and end <= last for first, last in self.spans)


class ReadTracker:
    """What one agent knows of the files of its workspace, by their resolved paths."""

    def __init__(self) -> None:
        self._known: dict[str, Known] = {}

    def get(self, path: str) -> Known | None:
        """Return what is known of a file; None where nothing of it was read or written."""
        return self._known.get(path)

    def read(self, path: str, digest: str, length: int, start: int, end: int) -> None:
        """Note that a range of characters of a version was read."""
        known = self._known.get(path)
        same = known is not None and known.digest == digest
        spans = _joined([*(known.spans if known is not None and same else ()), (start, end)])
        needs = known is not None and known.needs_full_read
        found = Known(digest, length, spans, needs)
        self._known[path] = Known(digest, length, spans) if found.is_full else found

    def wrote(self, path: str, digest: str, length: int, spans: Iterable[Span]) -> None:
        """Note what is known of a version that the agent made."""
        self._known[path] = Known(digest, length, _joined(spans))

    def forget(self, path: str) -> None:
        """Forget what was known of a file that is another one now."""
        self._known.pop(path, None)

    def failed(self, path: str) -> None:
        """Note that a patch failed because the file is not what the agent takes it for."""
        known = self._known.get(path)
        if known is not None:
            self._known[path] = Known(known.digest, known.length, known.spans, True)


def _joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return ranges in order, those that touch joined."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)
