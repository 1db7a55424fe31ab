"""Expands braces, `{a,b}` and `{1..3}`, as bash does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, product
from typing import TypeAlias, TypeGuard

from msgspec import Struct

from agentscope_like.shell.syntax.lexer import ReadError
from agentscope_like.shell.syntax.tree import Literal, Segment, Span, Substitution, Variable
from agentscope_like.shell.syntax.words.globs_and_tildes import subspan

__all__ = ["MAXIMUM_WORDS", "expand_braces"]

MAXIMUM_WORDS = 100
"""Most words that one word with braces may become."""

_MAXIMUM_ATOMS = 300
_MAXIMUM_PIECES = 1_000
_MAXIMUM_DEPTH = 8

_TOKEN = re.compile(r"[{},]|\.\.|[^{},.]+|\.")
_SIGNS = frozenset({"{", "}", ",", ".."})
_NUMBERS = re.compile(r"(-?[0-9]{1,9})\.\.(-?[0-9]{1,9})(?:\.\.(-?[0-9]{1,9}))?")
_LETTERS = re.compile(r"(?:([a-z])\.\.([a-z])|([A-Z])\.\.([A-Z]))(?:\.\.(-?[0-9]{1,9}))?")
_ZERO_PADDED = re.compile(r"-?0[0-9]")

_Alternatives: TypeAlias = "list[tuple[Segment, ...]]"


def expand_braces(segments: list[Segment], span: Span) -> list[list[Segment]] | None:
    """Expand the braces of a word.

    Args:
        segments: The word's segments; only its unquoted literals can hold braces that count.
        span: The word's place, for the error.

    Returns:
        One list of segments for each word, empty words left out as bash leaves them out; None
        where the word has no braces to expand and stays as it is.

    Raises:
        ReadError: It is not certain whether bash expands the braces, or they make more than 100
            words.
    """
    bare = "\0".join(each.text for each in segments if _is_bare(each))
    opening, closing = bare.find("{"), bare.rfind("}")
    if opening < 0 or closing < opening:
        return None
    inside = bare[opening:closing]
    if "," not in inside and ".." not in inside:
        return None
    return _Braces(segments, span).expand()


class _Sign(Struct, frozen=True):
    """An unquoted `{`, `}`, `,` or `..`, with the literal that it is outside of braces."""

    literal: Literal

    @property
    def text(self) -> str:
        return self.literal.text


class _Braces:
    """Reads a word as nested, balanced groups, and multiplies them out."""

    def __init__(self, segments: list[Segment], span: Span) -> None:
        self.span = span
        self.atoms = list(islice(_atoms(segments), _MAXIMUM_ATOMS + 1))
        if len(self.atoms) > _MAXIMUM_ATOMS:
            raise self._refusal("So many braces and commas in a word are not understood.")
        self.position = 0
        self.active = False
        self.inert = False

    def expand(self) -> list[list[Segment]] | None:
        alternatives = self._sequence(depth=0)
        if self.position < len(self.atoms):
            raise self._refusal("Braces that do not match are not understood.")
        if not self.active:
            return None
        if self.inert:
            raise self._refusal("Braces that expand beside braces that do not are not understood.")
        self._check_neighbours()
        return [_merge(each) for each in alternatives if each]

    def _sequence(self, *, depth: int) -> _Alternatives:
        """Read up to a comma or a closing brace of the group around, or the end of the word."""
        result: _Alternatives = [()]
        while self.position < len(self.atoms):
            atom = self.atoms[self.position]
            if len(result) * len(result[0]) > _MAXIMUM_PIECES:
                raise self._refusal("So many words from braces are not understood.")
            if not isinstance(atom, _Sign):
                result = [(*each, atom) for each in result]
            elif atom.text == "{":
                result = self._multiply(result, self._group(depth=depth + 1))
                continue
            elif atom.text == "}" or (depth and atom.text == ","):
                break
            else:
                result = [(*each, atom.literal) for each in result]
            self.position += 1
        return result

    def _group(self, *, depth: int) -> _Alternatives:
        if depth > _MAXIMUM_DEPTH:
            raise self._refusal(
                f"Braces nested deeper than {_MAXIMUM_DEPTH} levels are not understood."
            )
        begin = self.position
        items: list[_Alternatives] = []
        while True:
            self.position += 1
            items.append(self._sequence(depth=depth))
            if self.position >= len(self.atoms):
                raise self._refusal("Braces that do not match are not understood.")
            closing = self.atoms[self.position]
            if isinstance(closing, _Sign) and closing.text == "}":
                break
        self.position += 1
        if len(items) > 1:
            self.active = True
            return [each for item in items for each in item]
        return self._range(begin)

    def _range(self, begin: int) -> _Alternatives:
        """Read a group without commas: a range, or plain text in braces."""
        group = self.atoms[begin : self.position]
        signs = [each.text for each in group if isinstance(each, _Sign)]
        if ".." not in signs or signs.count("{") > 1:
            self.inert = True
            return [tuple(each.literal if isinstance(each, _Sign) else each for each in group)]
        if any(isinstance(each, Variable) for each in group):
            if not all(_without_comma(each) for each in group):
                raise self._refusal("This range in braces is not understood.")
            self.inert = True
            return [tuple(each.literal if isinstance(each, _Sign) else each for each in group)]
        body = "".join(_bare(each) for each in group[1:-1])
        terms = _terms(body)
        if terms is None:
            raise self._refusal("This range in braces is not understood.")
        self.active = True
        span = Span(_span(group[0]).start, _span(group[-1]).end)
        return [(Literal(term, span),) for term in terms]

    def _multiply(self, left: _Alternatives, right: _Alternatives) -> _Alternatives:
        if len(left) * len(right) > MAXIMUM_WORDS:
            raise self._refusal(
                f"Braces that make more than {MAXIMUM_WORDS} words are not understood."
            )
        return [(*before, *after) for before, after in product(left, right)]

    def _check_neighbours(self) -> None:
        """Refuse what brace expansion, which is textual, could join to something new."""
        for atom, following in zip(self.atoms, [*self.atoms[1:], None], strict=True):
            if isinstance(atom, _Sign):
                continue
            if isinstance(atom, Literal):
                safe = atom.quoted or "$" not in atom.text
            elif isinstance(atom, Variable):
                named = atom.span.end - atom.span.start == len(atom.name) + 1
                joins = named and not atom.quoted and isinstance(following, _Sign)
                safe = atom.operator is None and not joins
            else:
                safe = isinstance(atom, Substitution) and atom.opener == "$("
            if not safe:
                raise self._refusal("This expansion in a word with braces is not understood.")

    def _refusal(self, message: str) -> ReadError:
        return ReadError(message, self.span)


def _atoms(segments: list[Segment]) -> Iterator[Segment | _Sign]:
    for segment in segments:
        if not isinstance(segment, Literal) or segment.quoted:
            yield segment
            continue
        for match in _TOKEN.finditer(segment.text):
            literal = Literal(match.group(), subspan(segment, *match.span()))
            yield _Sign(literal) if literal.text in _SIGNS else literal


def _span(atom: Segment | _Sign) -> Span:
    return atom.literal.span if isinstance(atom, _Sign) else atom.span


def _bare(atom: Segment | _Sign) -> str:
    """Return an atom's unquoted text; a quote, which no range has, stands for all others."""
    if isinstance(atom, _Sign):
        return atom.text
    return atom.text if isinstance(atom, Literal) and not atom.quoted else "'"


def _is_bare(segment: Segment) -> TypeGuard[Literal]:
    return isinstance(segment, Literal) and not segment.quoted


def _without_comma(atom: Segment | _Sign) -> bool:
    if isinstance(atom, Variable):
        return atom.operator is None
    return isinstance(atom, _Sign | Literal) and "," not in atom.text


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


def _merge(segments: tuple[Segment, ...]) -> list[Segment]:
    """Join neighbouring unquoted literals, so that tildes and globs are seen whole."""
    merged: list[Segment] = []
    for segment in segments:
        last = merged[-1] if merged else None
        if _is_bare(segment) and last is not None and _is_bare(last):
            span = Span(last.span.start, segment.span.end)
            merged[-1] = Literal(last.text + segment.text, span)
        else:
            merged.append(segment)
    return merged
