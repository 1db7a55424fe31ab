"""Records what is known, before a command runs, about the arguments a word expands to.

An argument is a `str` if the program receives exactly that text, else an `Unknown` that keeps what
is proven: a literal prefix, that it does not begin with a dash, that it is one argument, that it is
a number, that it is one of a few texts, that it matches a glob.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

__all__ = [
    "MAX_CHOICES",
    "NO_NAMES",
    "NUMBER",
    "SPOKEN_NAMES",
    "UNKNOWN_NAMES",
    "VARIABLE",
    "Argument",
    "Names",
    "Shape",
    "Unknown",
    "Words",
    "any_of",
    "element",
    "elements_of",
    "is_filled",
    "join",
    "may_be_option",
    "names_of",
    "piece_of",
    "plain",
    "put_together",
    "several",
    "shape_of",
    "split",
    "texts_of",
    "unknown_names",
    "unquoted",
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


class Shape(IntEnum):
    """How much is known about a computed text; a higher shape is also every lower one."""

    ANY = 0
    WORD = 1
    """No blank, no glob character, no leading dash: it stays one argument and is no option."""
    ALPHANUMERIC = 2
    """Letters and digits alone: so is every piece of it."""
    INTEGER = 3
    """Decimal digits with at most a sign."""


class Unknown(Struct, frozen=True, gc=False):
    """What is known of a word that bash computes in part, or of what a command prints.

    Attributes:
        prefix: The literal text that it begins with; empty where that is unknown.
        option: Whether any argument that it expands to, or text up to a NUL, may begin with a dash.
        single: Whether it is exactly one argument, or at most one line.
        shape: What is known of the whole text.
        choices: All possible texts, if they are known.
        pattern: The glob that every argument matches, literal characters escaped.
        numbered: The whole text with `NUMBER` for each number in it, if only numbers are
            computed; else empty.
        rooted: Whether any argument that it expands to may begin with a slash.
        end: A glob that it ends with; empty where that is unknown.
        filled: Whether it is known to be non-empty.
        optional: Whether it is no argument at all if its text is empty.
        names: What is known of the file names that it holds.
    """

    prefix: str = ""
    option: bool = True
    single: bool = True
    shape: Shape = Shape.ANY
    choices: tuple[str, ...] = ()
    pattern: str | None = None
    numbered: str = ""
    rooted: bool = True
    end: str = ""
    filled: bool = False
    optional: bool = False
    names: Names = UNKNOWN_NAMES

    @property
    def tells(self) -> bool:
        """Return whether something is known of the whole text."""
        return bool(self.shape or self.choices)


Argument: TypeAlias = str | Unknown

Words: TypeAlias = Sequence[str | None]
"""The words of a command, its program first; None for one that bash computes."""

NUMBER = "\ue000"
"""Stands for a number that is computed; a text that holds this character itself is not taken."""

_SPECIAL = re.compile(r"[\s*?\[\\]")
_INTEGER = re.compile(r"-?[0-9]+")
MAX_CHOICES = 64
"""Most texts of one value that are told apart."""


def plain(text: str) -> bool:
    """Return whether an unquoted expansion to `text` is exactly that one argument."""
    return bool(text) and not _SPECIAL.search(text)


def join(values: Sequence[Argument]) -> Argument:
    """Return what is known of a text that is one of `values`."""
    first = values[0]
    if all(value == first for value in values):
        return first
    texts = [text for value in values for text in texts_of(value)]
    option = any(may_be_option(value) for value in values)
    shape = min(shape_of(value) for value in values)
    rooted = any(map(_rooted, values))
    filled = all(map(is_filled, values))
    names = any_of(map(names_of, values))
    if not all(isinstance(value, str) or value.single for value in values):
        return Unknown(single=False, names=names)
    if all(isinstance(value, str) or value.choices for value in values) and (
        len(texts) <= MAX_CHOICES
    ):
        choices = tuple(dict.fromkeys(texts))
    else:
        choices = ()
    return Unknown(
        option=option, shape=shape, choices=choices, rooted=rooted, filled=filled, names=names
    )


def element(value: Argument) -> Argument:
    """Return what is known of any one of the arguments that a word expands to."""
    if isinstance(value, str):
        return value
    if value.single:
        return replace(value, optional=False, filled=True) if value.optional else value
    if value.pattern is None:
        return Unknown(
            option=value.option, shape=value.shape, choices=value.choices, names=value.names
        )
    return Unknown(
        prefix=value.prefix,
        option=value.option,
        pattern=value.pattern,
        rooted=_rooted(value),
        end=value.end,
        names=value.names,
    )


def elements_of(name: str) -> str:
    """Return the name under which the elements of the array `name` are recorded."""
    return f"{name}[]"


def piece_of(output: Argument) -> Unknown:
    """Return what is known of any piece of an output, however it is split."""
    shape = shape_of(output)
    return Unknown() if shape < Shape.ALPHANUMERIC else Unknown(option=False, shape=shape)


def several(value: Argument) -> Unknown:
    """Return what is known of zero or more arguments, each of which is `value`."""
    if isinstance(value, str):
        return Unknown(
            option=may_be_option(value),
            single=False,
            shape=shape_of(value),
            choices=(value,),
            names=SPOKEN_NAMES,
        )
    return replace(value, single=False, numbered="")


def texts_of(value: Argument) -> tuple[str, ...]:
    """Return all texts that a value may be, if they are known."""
    return (value,) if isinstance(value, str) else value.choices


def names_of(value: Argument) -> Names:
    """Return what is known of the file names that a value holds."""
    return SPOKEN_NAMES if isinstance(value, str) else value.names


def may_be_option(value: Argument) -> bool:
    """Return whether a value may begin with a dash."""
    return value.startswith("-") if isinstance(value, str) else value.option


def is_filled(value: Argument) -> bool:
    """Return whether a value is known not to be empty."""
    return bool(value) if isinstance(value, str) else value.filled


def _rooted(value: Argument) -> bool:
    """Return whether a value may begin with a slash; a glob without a match stays as it is."""
    if isinstance(value, str):
        return value.startswith("/")
    start = value.prefix or value.pattern
    return start.startswith("/") if start else value.rooted


def shape_of(value: Argument) -> Shape:
    """Return what is known of a whole text."""
    if isinstance(value, Unknown):
        return value.shape
    if _INTEGER.fullmatch(value):
        return Shape.INTEGER
    if value.isascii() and value.isalnum():
        return Shape.ALPHANUMERIC
    return Shape.WORD if plain(value) and not value.startswith("-") else Shape.ANY


def split(value: Unknown) -> Unknown:
    """Return the result of word splitting; an empty text is no argument at all."""
    words = [choice for choice in value.choices if choice]
    if words and all(map(plain, words)):
        return several(join(words))
    whole = "" if value.pattern is None else _as_name(value.pattern)
    return Unknown(prefix=value.prefix, single=False, end=whole or value.end)


def _as_name(text: str) -> str:
    """Return a relative name as the end of a path."""
    return text if text.startswith("/") else f"/{text}"


def unquoted(text: str) -> Unknown:
    """Return what an unquoted expansion to `text` may become: no argument, one or several."""
    pieces = text.split()
    return Unknown(
        prefix=_SPECIAL.split(text, maxsplit=1)[0],
        single=False,
        end=_as_name(pieces[-1]) if pieces else "",
    )
