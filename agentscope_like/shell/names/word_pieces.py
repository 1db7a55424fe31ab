"""The pieces of a word: its directory and its name, and which of them are computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from agentscope_like.shell.syntax import Glob, Literal, Segment, Tilde, Variable, Word, covered

__all__ = ["cut_at_name", "is_computed", "texts"]

_PLACES = frozenset({"HOME", "PWD"})
"""Variables of a known text in front of a name."""


def cut_at_name(word: Word) -> tuple[Sequence[Segment], list[Segment]]:
    """Return the segments of the directory that a word begins with, and of the name behind it."""
    segments = list(covered(word.segments))
    for number in range(len(segments) - 1, -1, -1):
        segment = segments[number]
        if isinstance(segment, Literal | Glob) and "/" in segment.text:
            name = segment.text.rpartition("/")[2]
            begun = [replace(segment, text=name)] if name else []
            return segments[: number + 1], [*begun, *segments[number + 1 :]]
    return (), segments


def is_computed(segment: Segment) -> bool:
    """Return whether the text of a segment does not stand in the command."""
    if isinstance(segment, Variable):
        return segment.name not in _PLACES or segment.operator is not None
    return not isinstance(segment, Literal | Glob | Tilde)


def texts(word: Word) -> Iterator[str]:
    """Yield the text of each segment of a word, as far as it stands there."""
    for segment in word.segments:
        if isinstance(segment, Variable):
            yield f"${segment.name}"
        else:
            yield segment.text if isinstance(segment, Literal | Glob) else "..."
