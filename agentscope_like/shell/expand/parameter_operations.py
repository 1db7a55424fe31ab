"""Computes `${name OPERATOR argument}` for a known text (bash(1), "Parameter Expansion")."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from agentscope_like.shell.syntax import Literal, Word

__all__ = ["operated"]

_CASES = {"^": str.upper, "^^": str.upper, ",": str.lower, ",,": str.lower}
_TRIMMING = frozenset({"#", "##", "%", "%%"})
_REPLACING = frozenset({"/", "//"})
_SUBSTRING = re.compile(r" *([0-9]+)(?:: *([0-9]+))?")
_MAGIC = frozenset("*?[\\")
_UNSURE = frozenset("[\\()!@+|&~")
"""Characters that mean something in a pattern, or in a replacement, only at times."""


def operated(operator: str, text: str, argument: Word | None) -> str | None:
    """Return the result of an operator on a text; None if it is not certain."""
    if not text.isascii():
        return None  # what is a character depends on the locale
    operand = _written(argument)
    made: str | None = None
    if operator in _CASES:
        first, rest = (text[:1], text[1:]) if len(operator) == 1 else (text, "")
        made = _CASES[operator](first) + rest
    elif operand is not None and operator == ":":
        made = _substring(text, operand)
    elif operand is not None and operator in _TRIMMING:
        made = _trimmed(operator, text, operand)
    elif operand is not None and operator in _REPLACING:
        made = _replaced(text, operand, everywhere=operator == "//")
    return made


def _written(argument: Word | None) -> str | None:
    """Return an argument if no character of it was quoted or computed."""
    text = ""
    for segment in () if argument is None else argument.segments:
        if not isinstance(segment, Literal):
            return None
        if segment.text and len(segment.text) != segment.span.end - segment.span.start:
            return None
        text += segment.text
    return text if text.isascii() else None


def _substring(text: str, operand: str) -> str | None:
    found = _SUBSTRING.fullmatch(operand)
    if found is None:
        return None
    start = int(found[1])
    end = len(text) if found[2] is None else start + int(found[2])
    return text[start:end]


def _trimmed(operator: str, text: str, pattern: str) -> str | None:
    """Return a text without the shortest, or the longest, match of a pattern at one end of it."""
    if not _UNSURE.isdisjoint(pattern):
        return None
    if operator[0] == "%":
        places = range(len(text), -1, -1) if operator == "%" else range(len(text) + 1)
        return next((text[:at] for at in places if fnmatchcase(text[at:], pattern)), text)
    places = range(len(text) + 1) if operator == "#" else range(len(text), -1, -1)
    return next((text[at:] for at in places if fnmatchcase(text[:at], pattern)), text)


def _replaced(text: str, operand: str, *, everywhere: bool) -> str | None:
    """Return a text with a plain text in it replaced.

    Not where `nocasematch` would make a difference, nor where the pattern is more than a text.
    """
    pattern, _, replacement = operand.partition("/")
    plain = (_UNSURE | _MAGIC | {"/"}).isdisjoint(pattern + replacement)
    if not pattern or not plain or pattern[0] in "#%":
        return None
    if text.lower().count(pattern.lower()) != text.count(pattern):
        return None
    return text.replace(pattern, replacement, -1 if everywhere else 1)
