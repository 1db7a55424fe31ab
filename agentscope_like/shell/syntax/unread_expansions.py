"""Finds expansions in the raw text of a command that the reader did not read.

This check shares no code with the reader: a backtick, `$(`, `${`, `<(` or `>(` without a node in
the tree is a reason to ask.
"""

from __future__ import annotations

import re

from msgspec import Struct

from agentscope_like.shell.syntax.tree import (
    Arithmetic,
    ArithmeticCommand,
    ArithmeticFor,
    Heredoc,
    Literal,
    Script,
    Span,
    Substitution,
    Variable,
)

__all__ = ["OPENING", "unread_expansion"]

OPENING = re.compile(r"`|\$\(|\$\{|[<>]\(")
"""What a substitution or an expansion in braces begins with."""

_NAMED = re.compile(r"\$\{(?:[A-Za-z_][A-Za-z0-9_]*|#[A-Za-z_][A-Za-z0-9_]*(?:\[[@*]\])?)\}")


def unread_expansion(text: str, script: Script) -> Span | None:
    """Return the first opening of an expansion or substitution that was not read, or None.

    An opening counts as read where the tree has an expansion, and where none can begin: in single
    quotes, in comments, after a backslash; `<(` and `>(` in all quotes. So does `${name}` in
    arithmetic.
    """
    if OPENING.search(text) is None:
        return None
    marks = _Marks(text, script)
    openings = OPENING.finditer(text)
    return next((Span(*each.span()) for each in openings if not marks.explain(each)), None)


class _Marks:
    """Marks each character of a text with the node that covers it."""

    def __init__(self, text: str, script: Script) -> None:
        self._text = text
        self._openings: set[int] = set()
        self._inert = bytearray(len(text))
        self._quoted = bytearray(len(text))
        self._arithmetic = bytearray(len(text))
        self._whole_commands: set[int] = set()
        self._comments(script)
        for node in script.nodes:
            self._note(node)

    def explain(self, opening: re.Match[str]) -> bool:
        """Return whether a node of the tree explains an opening."""
        place = opening.start()
        if place in self._openings or self._inert[place] or self._is_escaped(place):
            return True
        if opening.group()[0] in "<>":
            return bool(self._quoted[place])
        return bool(self._arithmetic[place]) and _NAMED.match(self._text, place) is not None

    def _note(self, node: Struct) -> None:
        match node:
            case Script():
                self._comments(node)
            case Literal(span=span, quoted=True):
                is_single = self._text.startswith(("'", "$'"), span.start)
                _mark(self._inert if is_single else self._quoted, span)
            case Heredoc(body=body, quoted=True):
                _mark(self._inert, body.span)
            case Variable(span=span):
                self._openings.add(span.start)
            case Substitution(span=span, opener=opener):
                self._openings.add(span.start)
                if opener == "`":
                    self._openings.add(span.end - 1)
            case ArithmeticCommand(expression=expression):
                self._whole_commands.add(id(expression))
            case ArithmeticFor(start=start, test=test, step=step):
                self._whole_commands |= {id(start), id(test), id(step)}
            case Arithmetic(span=span):
                _mark(self._arithmetic, span)
                if id(node) not in self._whole_commands:  # `((` is no opening
                    self._openings.add(span.start)

    def _comments(self, script: Script) -> None:
        _mark(self._inert, *script.comments)

    def _is_escaped(self, place: int) -> bool:
        before = place
        while before and self._text[before - 1] == "\\":
            before -= 1
        return (place - before) % 2 == 1


def _mark(mask: bytearray, *spans: Span) -> None:
    for start, end in spans:
        mask[start:end] = b"\1" * (end - start)
