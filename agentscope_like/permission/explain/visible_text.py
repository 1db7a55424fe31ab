"""Escapes control and invisible characters, so that text cannot steer a terminal or mislead."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

__all__ = ["Piece", "cells", "pieces", "spelt", "visible"]

_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
"""Characters that Unicode counts as letters or marks, and that show nothing."""

_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
"""Variation selectors: invisible, and able to carry any number of hidden bytes."""


class Piece(NamedTuple):
    """A run of text as it may be shown, and whether it spells out what the text really holds."""

    text: str
    is_spelt: bool


def _is_honest(char: str) -> bool:
    return (
        char.isprintable()
        and char not in _UNSEEN
        and not any(ord(char) in selectors for selectors in _SELECTORS)
    )


def spelt(char: str) -> str:
    r"""Return the character itself, or its escape (`\x1b`, `\u202e`) where it cannot be seen."""
    return char if _is_honest(char) else char.encode("unicode_escape").decode("ascii")


def pieces(text: str, *, layout: str = "\n\t") -> Iterator[Piece]:
    r"""Yield the text in runs that can be shown, saying which of them are escapes.

    Control characters, escape sequences, bidirectional and zero-width characters, exotic blanks,
    unassigned code points and lone surrogates are spelt out, as Python would write them. A carriage
    return before a line feed is left out: on a terminal the pair is a line's end.

    Args:
        text: Anything.
        layout: Characters that are kept as they are; the empty string gives a single line.
    """
    if "\n" in layout:
        text = text.replace("\r\n", "\n")
    for honest, run in groupby(text, key=lambda char: char in layout or _is_honest(char)):
        joined = "".join(run)
        yield Piece(joined, False) if honest else Piece("".join(map(spelt, joined)), True)


def visible(text: str, *, layout: str = "\n\t") -> str:
    """Return the text with everything spelt out that would not be seen; see `pieces`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(piece.text for piece in pieces(text, layout=layout))


def cells(text: str) -> int:
    """Return how many columns of a terminal the text takes; it has been made visible before."""
    if text.isascii():
        return len(text)
    return sum(_cell(char) for char in text)


def _cell(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
