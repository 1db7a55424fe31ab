"""Expands braces, `{a,b}` and `{1..3}`, as bash does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import TypeGuard

from agentscope_like.shell.syntax.lexer import ReadError
from agentscope_like.shell.syntax.tree import Literal, Segment, Span, Substitution, Variable

__all__ = ["MAXIMUM_WORDS", "expand_braces"]

MAXIMUM_WORDS = 100
"""Most words that one word with braces may become."""

_MAXIMUM_PIECES = 300
_MAXIMUM_CHARACTERS = 10_000
_MAXIMUM_DEPTH = 8

_FIRST_MARK = 0xD800
"""The first of the characters that stand for quoted and computed segments: no command has them."""

_PIECE = re.compile("[\ud800-\udfff{},]|[^\ud800-\udfff{},]+")
_SEGMENT = re.compile("[\ud800-\udfff]|[^\ud800-\udfff]+")
_NUMBERS = re.compile(r"(-?[0-9]{1,9})\.\.(-?[0-9]{1,9})(?:\.\.(-?[0-9]{1,9}))?")
_LETTERS = re.compile(r"(?:([a-z])\.\.([a-z])|([A-Z])\.\.([A-Z]))(?:\.\.(-?[0-9]{1,9}))?")
_ZERO_PADDED = re.compile(r"-?0[0-9]")
_SIGNS = ("{", "}", ",", "..")


def expand_braces(segments: Sequence[Segment], span: Span) -> list[list[Segment]] | None:
    """Expand the braces of a word.

    Args:
        segments: The word's segments; only its unquoted literals can hold braces that count.
        span: The word's place.

    Returns:
        One list of segments for each word, empty words left out as bash leaves them out; None
        where the word has no braces to expand and stays as it is.

    Raises:
        ReadError: It is not certain whether bash expands the braces, or they make more than 100
            words.
    """
    marks = map(chr, range(_FIRST_MARK, _FIRST_MARK + len(segments)))
    by_mark = dict(zip(marks, segments, strict=True))
    text = "".join(each.text if _is_bare(each) else mark for mark, each in by_mark.items())
    opening, closing = text.find("{"), text.rfind("}")
    if opening < 0 or closing < opening:
        return None
    if not any(sign in text[opening:closing] for sign in (",", "..")):
        return None
    words = _Braces(text, by_mark, span).expand()
    if words is None:
        return None
    _check_neighbours(segments, span)
    return [
        [by_mark.get(piece) or Literal(piece, span) for piece in _SEGMENT.findall(word)]
        for word in words
        if word
    ]


class _Braces:
    """Reads a word as nested, balanced groups, and multiplies them out."""

    def __init__(self, text: str, by_mark: dict[str, Segment], span: Span) -> None:
        self.by_mark = by_mark
        self.span = span
        self.pieces = _PIECE.findall(text)
        if len(self.pieces) > _MAXIMUM_PIECES:
            raise self._refusal("So many braces and commas in a word are not understood.")
        self.position = 0
        self.active = False
        self.inert = False

    def expand(self) -> list[str] | None:
        """Return the words, or None where no group is a list or a range."""
        words = self._sequence(depth=0)
        if self.position < len(self.pieces):
            raise self._refusal("Braces that do not match are not understood.")
        if self.active and self.inert:
            raise self._refusal("Braces that expand beside braces that do not are not understood.")
        return words if self.active else None

    def _sequence(self, *, depth: int) -> list[str]:
        """Read up to a comma or a closing brace of the group around, or the end of the word."""
        words = [""]
        while self.position < len(self.pieces):
            piece = self.pieces[self.position]
            if piece == "}" or (depth and piece == ","):
                break
            if piece == "{":
                alternatives = self._group(depth=depth + 1)
            else:
                alternatives = [piece]
                self.position += 1
            if len(words) * len(alternatives) > MAXIMUM_WORDS:
                raise self._refusal(
                    f"Braces that make more than {MAXIMUM_WORDS} words are not understood."
                )
            words = [before + after for before, after in product(words, alternatives)]
            if len(words) * len(words[0]) > _MAXIMUM_CHARACTERS:
                raise self._refusal("So many words from braces are not understood.")
        return words

    def _group(self, *, depth: int) -> list[str]:
        if depth > _MAXIMUM_DEPTH:
            raise self._refusal(
                f"Braces nested deeper than {_MAXIMUM_DEPTH} levels are not understood."
            )
        begin = self.position
        items: list[list[str]] = []
        while not items or self.pieces[self.position] == ",":
            self.position += 1
            items.append(self._sequence(depth=depth))
            if self.position >= len(self.pieces):
                raise self._refusal("Braces that do not match are not understood.")
        self.position += 1
        if len(items) > 1:
            self.active = True
            return [each for item in items for each in item]
        return self._range("".join(self.pieces[begin : self.position]))

    def _range(self, group: str) -> list[str]:
        """Read a group without commas: a range, or plain text in braces."""
        body = group[1:-1]
        if ".." not in body or "{" in body:
            self.inert = True
            return [group]
        hidden = [self.by_mark[each] for each in body if each in self.by_mark]
        if any(isinstance(each, Variable) for each in hidden):
            self.inert = True
            terms = None if any(map(_may_hold_comma, hidden)) else [group]
        else:
            self.active = True
            terms = _terms(body)
        if terms is None:
            raise self._refusal("This range in braces is not understood.")
        return terms

    def _refusal(self, message: str) -> ReadError:
        return ReadError(message, self.span)


def _check_neighbours(segments: Sequence[Segment], span: Span) -> None:
    """Refuse what brace expansion, which is textual, could join to something new."""
    for segment, following in zip(segments, [*segments[1:], None], strict=True):
        if isinstance(segment, Literal):
            safe = segment.quoted or "$" not in segment.text
        elif isinstance(segment, Variable):
            named = segment.span.end - segment.span.start == len(segment.name) + 1
            joins = _is_bare(following) and following.text.startswith(_SIGNS)
            safe = segment.operator is None and not (named and not segment.quoted and joins)
        else:
            safe = isinstance(segment, Substitution) and segment.opener == "$("
        if not safe:
            raise ReadError("This expansion in a word with braces is not understood.", span)


def _is_bare(segment: Segment | None) -> TypeGuard[Literal]:
    return isinstance(segment, Literal) and not segment.quoted


def _may_hold_comma(segment: Segment) -> bool:
    if isinstance(segment, Variable):
        return segment.operator is not None
    return not isinstance(segment, Literal) or "," in segment.text


def _terms(body: str) -> list[str] | None:
    """Return the terms of a range such as `1..5` or `a..e..2`, or None where it is not one."""
    if (match := _NUMBERS.fullmatch(body)) is not None:
        first, last, step = match.groups()
        padded = _ZERO_PADDED.match(first) or _ZERO_PADDED.match(last)
        width = max(len(first), len(last)) if padded else 0
        return [f"{number:0{width}d}" for number in _count(int(first), int(last), step)]
    if (match := _LETTERS.fullmatch(body)) is not None:
        lower_first, lower_last, upper_first, upper_last, step = match.groups()
        first, last = lower_first or upper_first, lower_last or upper_last
        return [chr(code) for code in _count(ord(first), ord(last), step)]
    return None


def _count(first: int, last: int, step: str | None) -> range:
    size = abs(int(step or "1")) or 1
    numbers = range(first, last + 1, size) if first <= last else range(first, last - 1, -size)
    return numbers[: MAXIMUM_WORDS + 1]
