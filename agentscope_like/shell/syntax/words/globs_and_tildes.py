"""Marks the unquoted tildes and globs of a word."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentscope_like.shell.syntax.lexer import ReadError
from agentscope_like.shell.syntax.tree import Glob, Literal, Segment, Span, Tilde

__all__ = ["assignment_value", "covered", "mark_globs", "mark_tildes", "opens", "subspan"]

_ASSIGNMENT_LIKE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_TILDE = re.compile(r"~([A-Za-z0-9._+-]*)")
_GLOB = re.compile(r"[*?]+|\[[!^]?\]?[^\]]*\]+")
_OPEN_GLOB = re.compile(r"[*?]+|\[")
_OPEN_BRACKET = "["
_UNCLOSED = frozenset({"[]", "[!]", "[^]"})
"""Their `]` is a character of the expression."""


def assignment_value(segments: Sequence[Segment]) -> int | None:
    """Return where the value begins in the text of a word like `name=value`, else None."""
    first = segments[0]
    if not isinstance(first, Literal) or first.quoted:
        return None
    match = _ASSIGNMENT_LIKE.match(first.text)
    return None if match is None else match.end()


def mark_tildes(segments: list[Segment], *, value: int | None = None) -> list[Segment]:
    """Split off the tildes that bash replaces by home directories.

    Args:
        segments: A word's segments.
        value: Where an assigned value begins in the first segment's text; a tilde then also counts
            there and after each colon. None where only the word's first character counts.

    Raises:
        ReadError: A tilde counts, but what follows is not a plain user name.
    """
    if not any(isinstance(each, Literal) and "~" in each.text for each in segments):
        return segments
    marked: list[Segment] = []
    for index, segment in enumerate(segments):
        if isinstance(segment, Literal) and not segment.quoted and "~" in segment.text:
            last = index + 1 == len(segments)
            _split_tildes(segment, marked, value, first=index == 0, last=last)
        else:
            marked.append(segment)
    return marked


def _split_tildes(
    literal: Literal, marked: list[Segment], value: int | None, *, first: bool, last: bool
) -> None:
    text = literal.text
    done = 0
    for match in _TILDE.finditer(text):
        start, end = match.span()
        if start == 0:
            counts = first
        else:
            counts = value is not None and ((first and start == value) or text[start - 1] == ":")
        if not counts:
            continue
        following = text[end : end + 1]
        if not (following == "/" or (following == ":" and value is not None)) and (
            following or not last
        ):
            raise ReadError(
                "A `~` before this text is not understood.", subspan(literal, start, end)
            )
        if start > done:
            marked.append(Literal(text[done:start], subspan(literal, done, start)))
        marked.append(Tilde(match[1], subspan(literal, start, end)))
        done = end
    if done < len(text):
        marked.append(Literal(text[done:], subspan(literal, done, len(text))))


def mark_globs(segments: list[Segment]) -> list[Segment]:
    """Split off the pattern characters that bash matches with file names.

    A `[` counts only where an unquoted `]` follows in the same word. A bracket expression that
    holds quotes or variables is marked at its `[` alone.
    """
    if not any(
        isinstance(each, Literal) and not each.quoted and _OPEN_GLOB.search(each.text)
        for each in segments
    ):
        return segments
    marked: list[Segment] = []
    closes = False
    for segment in reversed(segments):
        if isinstance(segment, Literal) and not segment.quoted:
            marked.extend(reversed(_split_globs(segment, closes=closes)))
            closes = closes or "]" in segment.text
        else:
            marked.append(segment)
    marked.reverse()
    return marked


def _split_globs(literal: Literal, *, closes: bool) -> list[Segment]:
    text = literal.text
    last_close = text.rfind("]") + 1
    found: list[Segment] = []
    done = 0
    for pattern, *region in ((_GLOB, 0, last_close), (_OPEN_GLOB, last_close, len(text))):
        for match in pattern.finditer(text, *region):
            start, end = match.span()
            if closes and match.group() in _UNCLOSED:
                end = start + len(_OPEN_BRACKET)
            if match.group() == _OPEN_BRACKET and not closes:
                continue
            if start > done:
                found.append(Literal(text[done:start], subspan(literal, done, start)))
            found.append(Glob(text[start:end], subspan(literal, start, end)))
            done = end
    if done < len(text):
        found.append(Literal(text[done:], subspan(literal, done, len(text))))
    return found


def covered(segments: Sequence[Segment]) -> Sequence[Segment]:
    """Return the segments with `*` for a bracket expression of several, and for all text after it.

    Quoted text and variables in it are not the `]`, `!` or `-` of a pattern. `*`, and `/*` for each
    slash in the text, match at least what bash matches.
    """
    if not any(map(opens, segments)):
        return segments
    found: list[Segment] = []
    is_open = False
    for each in segments:
        if opens(each) and not is_open:
            found.append(Glob("*", each.span))
            is_open = True
        elif not is_open or not isinstance(each, Literal | Glob):
            found.append(each)
        elif "/" in each.text:
            found.append(Glob("/*" * each.text.count("/"), each.span))
    return found


def opens(segment: Segment) -> bool:
    """Return whether a segment is the `[` of brackets that hold quotes or variables."""
    return isinstance(segment, Glob) and segment.text == _OPEN_BRACKET


def subspan(literal: Literal, start: int, end: int) -> Span:
    """Return the span of a part of a literal; all of it if continued lines shift offsets."""
    span = literal.span
    if span.end - span.start != len(literal.text):
        return span
    return Span(span.start + start, span.start + end)
