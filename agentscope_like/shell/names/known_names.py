"""What is known of file names that a part gets at run time, and of the words they stand in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from agentscope_like.shell.syntax import Glob, Literal, Segment, Tilde, Variable, Word, covered

__all__ = [
    "NO_NAMES",
    "SPOKEN_NAMES",
    "VARIABLE",
    "Names",
    "any_of",
    "cut_at_name",
    "is_computed",
    "put_together",
    "texts",
    "unknown_names",
]

VARIABLE = "`$"
"""What `Names.unknown` begins with where a variable is all that is not known."""


class Names(Struct, frozen=True):
    """What is known of names.

    Attributes:
        producers: Which parts print them, by their number.
        unknown: What the unknown names are, for the message; empty where every source is known.
        spoken: Whether words of the command are among them.
        exact: Whether they are no more than what the producers print, as it is.
        starts_lines: Whether each is the beginning of a line, up to the first colon.
    """

    producers: tuple[int, ...] = ()
    unknown: str = ""
    spoken: bool = False
    exact: bool = True
    starts_lines: bool = False

    @property
    def is_harmless(self) -> bool:
        """Whether there are none: what stands there is a number, or nothing."""
        return not (self.producers or self.unknown or self.spoken)


NO_NAMES = Names()
SPOKEN_NAMES = Names(spoken=True, exact=False)


def unknown_names(what: str) -> Names:
    """Return names of which nothing is known."""
    return Names(unknown=what, exact=False)


def any_of(found: Iterable[Names]) -> Names:
    """Return what is known of names that are among any of several."""
    known = list(dict.fromkeys(found))
    if len(known) == 1:
        return known[0]
    return Names(
        producers=tuple(dict.fromkeys(number for each in known for number in each.producers)),
        unknown=next((each.unknown for each in known if each.unknown), ""),
        spoken=any(each.spoken for each in known),
        exact=all(each.exact for each in known),
        starts_lines=all(each.starts_lines for each in known if not each.is_harmless),
    )


def put_together(names: Names) -> Names:
    """Return names that are built from others, of which nothing is known."""
    what = "files whose names are built at run time"
    return replace(names, unknown=names.unknown or what, exact=False)


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
