"""Simple commands: assignments, words and redirections."""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import TYPE_CHECKING

from agentscope_like.permission.shell.redirects import RedirectReader
from agentscope_like.permission.shell.tree import (
    Assignment,
    Function,
    Literal,
    SimpleCommand,
    Span,
    Word,
)
from agentscope_like.permission.shell.words import RESERVED, bare_text

if TYPE_CHECKING:
    from agentscope_like.permission.shell.tree import Redirect, Segment

__all__ = ["SimpleReader"]

_PLAIN_WORD = re.compile(r"(?!#)([^ \t\n|&;()<>\"'$`\\*?\[{~]+)(?:[ \t]+|(?=[\n|&;)]|\Z))")
"""A word of which every character stands for itself, and the blanks after it."""

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")
_LOCALE_ASSIGNMENT = re.compile(r"[^\W\d]\w*(?:\+?=|\[)")
_SUBSCRIPT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[")
_FUNCTION_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


class SimpleReader(RedirectReader):
    """Reads simple commands."""

    __slots__ = ()

    @abstractmethod
    def function(self, name: str, start: int) -> Function:
        """Read a function's definition from its `(` on."""

    def simple(self) -> SimpleCommand | Function:
        """Read the simple command, or the function definition, at the cursor."""
        text = self.text
        start = stop = self.position
        self.count(start)
        assignments: list[Assignment] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while True:
            match = _PLAIN_WORD.match(text, self.position, self.end)
            if match is not None and (words or self._surely_word(match[1])):
                self.position = match.end()
                stop = match.end(1)
                span = Span(match.start(), stop)
                words.append(Word((Literal(match[1], span),), span))
                continue
            self.skip_blanks()
            character = self.peek()
            if character in "\n;|)#" or (character == "&" and not self.at("&>")):
                break
            if character == "(":
                return self._function(start, words, plain=not (assignments or redirects))
            redirect = self.redirect()
            if redirect is not None:
                redirects.append(redirect)
                stop = self.position
                continue
            begin = self.position
            segments = self.segments()
            stop = self.position
            if self.begins_redirect(segments):
                raise self.refusal("A descriptor on a line of its own is not understood.", begin)
            if words:
                words.extend(self.expanded_words(segments, Span(begin, stop)))
            else:
                self._first_word(segments, Span(begin, stop), assignments, words)
        if not (words or assignments or redirects):
            raise self.refusal("A command is missing here; this is not understood.", self.position)
        return SimpleCommand(tuple(assignments), tuple(words), tuple(redirects), Span(start, stop))

    def argument(self, words: list[Word]) -> bool:
        """Read the argument at the cursor into `words`; return False where none stands there."""
        begin = self.position
        segments = self.segments()
        if not segments:
            return False
        if self.begins_redirect(segments):
            raise self.refusal("A redirection is not understood here.", self.position)
        words.extend(self.expanded_words(segments, Span(begin, self.position)))
        return True

    def _surely_word(self, text: str) -> bool:
        """Return whether plain text is a command's name, not an assignment or a keyword."""
        return "=" not in text and text not in RESERVED

    def _first_word(
        self,
        segments: list[Segment],
        span: Span,
        assignments: list[Assignment],
        words: list[Word],
    ) -> None:
        """Take a word before which no other stands: an assignment, or the command's name."""
        if not segments:
            raise self.refusal("This character is not understood here.", self.position)
        first = segments[0]
        head = first.text if isinstance(first, Literal) and not first.quoted else ""
        if (match := _ASSIGNMENT.match(head)) is not None:
            assignments.append(self._assignment(match, segments, span))
            return
        if _SUBSCRIPT.match(head) or (not head.isascii() and _LOCALE_ASSIGNMENT.match(head)):
            raise self.refusal("An array's subscript is not understood.", *span)
        if bare_text(segments) in RESERVED:
            raise self.refusal(f"`{head}` is not understood here.", *span)
        words.extend(self.expanded_words(segments, span))

    def _assignment(self, match: re.Match[str], segments: list[Segment], span: Span) -> Assignment:
        """Split a word that assigns; a list of values in brackets is not read."""
        if self.peek() == "(":
            raise self.refusal("An array is not understood.", *span)
        first = segments[0]
        if not isinstance(first, Literal):
            raise self.refusal("This assignment is not understood.", *span)
        begin = min(first.span.start + match.end(), first.span.end)
        rest = first.text[match.end() :]
        value: list[Segment] = [Literal(rest, Span(begin, first.span.end))] if rest else []
        value.extend(segments[1:])
        word = self.value_word(value, Span(begin, span.end))
        return Assignment(match[1], word, span, match[2] == "+")

    def _function(self, start: int, words: list[Word], *, plain: bool) -> Function:
        name = words[0].segments[0] if words else None
        if (
            not plain
            or len(words) != 1
            or not isinstance(name, Literal)
            or name.quoted
            or len(words[0].segments) != 1
            or _FUNCTION_NAME.fullmatch(name.text) is None
        ):
            raise self.refusal("An opening bracket is not understood here.", self.position)
        return self.function(name.text, start)
