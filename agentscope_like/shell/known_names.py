"""What is known of the file names that a text computed at run time holds."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

__all__ = [
    "NO_NAMES",
    "SPOKEN_NAMES",
    "UNKNOWN_NAMES",
    "VARIABLE",
    "Names",
    "any_of",
    "put_together",
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


def unknown_names(what: str) -> Names:
    """Return names of which nothing is known."""
    return Names(unknown=what, exact=False)


NO_NAMES = Names()
SPOKEN_NAMES = Names(spoken=True, exact=False)
UNKNOWN_NAMES = unknown_names("files whose names are only known at run time")


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
