"""The strict reader's cursor: skips blanks, comments and heredocs, and counts budgets."""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from typing import Self

from agentscope_like.shell.syntax.tree import Script, Span

__all__ = ["MAXIMUM_DEPTH", "MAXIMUM_NODES", "MAXIMUM_PIECES", "Lexer", "ReadError"]

MAXIMUM_DEPTH = 40
"""Deepest nesting of substitutions, expansions and compound commands that is read."""

MAXIMUM_NODES = 300
"""Most commands and substitutions that are read in one command line."""

MAXIMUM_PIECES = 1_000
"""Most pieces of words that are read: all but plain and wholly quoted arguments."""

_BLANKS = re.compile(r"[ \t]*(?:\\\n[ \t]*)*")
_COMMENT = re.compile(r"#[^\n]*")

_JOINED = re.compile(r"(?:\\\n)+[-|&;<>()]")

_BLANK_STARTS = frozenset(" \t\\")
_LINE_STARTS = frozenset(" \t\\\n#")

_NO_LINE = sys.maxsize


class ReadError(ValueError):
    """Text that the strict reader does not understand with certainty.

    Attributes:
        message: A sentence for a person: what was found, and that it is not understood.
        span: Its place in the command text.
    """

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.message = message
        self.span = span


class Lexer(ABC):
    """A cursor over the text between `position` and `end`.

    Heredoc bodies are read as soon as their operator is seen. `_line_end` is then the newline after
    which the bodies begin and `_line_resume` where the next line of commands begins; nothing but
    `newline` may carry the cursor over `_line_end`.
    """

    def __init__(self, text: str, *, position: int = 0) -> None:
        self.text = text
        self.position = position
        self.end = len(text)
        self.depth = 0
        self.nodes = 0
        self.pieces = 0
        self.comments: list[Span] = []
        self._line_end = _NO_LINE
        self._line_resume = 0

    @abstractmethod
    def script(self) -> Script:
        """Read statements up to a terminator, which the caller checks."""

    def refusal(self, message: str, start: int, end: int | None = None) -> ReadError:
        """Return the error that gives up on the text from `start` (by default one character)."""
        stop = min(start + 1, len(self.text)) if end is None else end
        return ReadError(message, Span(min(start, stop), stop))

    def descend(self, start: int) -> None:
        """Enter one level of nesting; the caller lowers `depth` when it leaves."""
        self.depth += 1
        if self.depth > MAXIMUM_DEPTH:
            raise self.refusal(
                f"Nesting deeper than {MAXIMUM_DEPTH} levels is not understood.", start
            )

    def count(self, start: int) -> None:
        """Count one command or substitution against the budget."""
        self.nodes += 1
        if self.nodes > MAXIMUM_NODES:
            message = f"More than {MAXIMUM_NODES} commands in one line are not understood."
            raise self.refusal(message, start)

    def count_pieces(self, number: int, start: int) -> None:
        """Count the pieces of words that are not plain against the budget."""
        self.pieces += number
        if self.pieces > MAXIMUM_PIECES:
            raise self.refusal("So many words and pieces of words are not understood.", start)

    def peek(self) -> str:
        """Return the character at the cursor, or the empty string at the end."""
        return self.text[self.position] if self.position < self.end else ""

    def at(self, text: str) -> bool:
        """Return whether `text` stands at the cursor."""
        return self.text.startswith(text, self.position, self.end)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Pass over what matches at the cursor, and return it; None where nothing does."""
        match = pattern.match(self.text, self.position, self.end)
        if match is not None:
            self.position = match.end()
        return match

    def skip_blanks(self) -> None:
        """Pass over blanks and continued line ends."""
        if self.position < self.end and self.text[self.position] in _BLANK_STARTS:
            self.take(_BLANKS)
            self.stay_on_line()

    def skip_lines(self) -> None:
        """Pass over blanks, comments and newlines."""
        while self.position < self.end and (character := self.text[self.position]) in _LINE_STARTS:
            start = self.position
            if character == "#":
                self.comment()
            elif character == "\n":
                self.newline()
            else:
                self.skip_blanks()
            if self.position == start:
                return

    def comment(self) -> None:
        """Pass over a comment, up to its newline."""
        if (match := self.take(_COMMENT)) is not None:
            self.comments.append(Span(*match.span()))

    def newline(self) -> None:
        """Pass over the newline at the cursor, and over the heredoc bodies that follow it."""
        if self.position == self._line_end:
            self.position = self._line_resume
            self._line_end = _NO_LINE
        else:
            self.position += 1

    def stay_on_line(self) -> None:
        """Refuse a newline inside a word while heredoc bodies wait for the end of the line."""
        if self.position > self._line_end:
            raise self.refusal(
                "A line that goes on after its heredoc has begun is not understood.", self._line_end
            )

    def whole_operator(self, operator: str, start: int) -> None:
        """Refuse an operator that a continued line end may join to the next character."""
        if _JOINED.match(self.text, self.position, self.end) is not None:
            raise self.refusal(f"`{operator}` before a continued line is not understood.", start)

    def begin_heredoc(self, start: int) -> int:
        """Return the offset at which the body of the heredoc at the cursor begins."""
        if self._line_end != _NO_LINE:
            return self._line_resume
        line_end = self.text.find("\n", self.position, self.end)
        if line_end < 0:
            raise self.refusal("A heredoc without a body is not understood.", start)
        self._line_end = line_end
        return line_end + 1

    def heredoc_waits(self) -> bool:
        """Return whether the bodies of heredocs still lie ahead."""
        return self._line_end != _NO_LINE

    def end_heredoc(self, resume: int) -> None:
        """Note where the text goes on after a heredoc's closing line."""
        self._line_resume = resume

    def enclosed_script(self, start: int) -> Script:
        """Read a script whose heredocs must end inside it, as in a substitution."""
        outer, self._line_end = self._line_end, _NO_LINE
        self.descend(start)
        script = self.script()
        self.depth -= 1
        if self._line_end != _NO_LINE:
            raise self.refusal("A heredoc that outlives its substitution is not understood.", start)
        self._line_end = outer
        return script

    def detached(self, text: str, start: int) -> Self:
        """Return a cursor over `text` as though it stood at offset `start` of this text.

        For text that bash unescapes before it parses it: offsets are right up to the first
        character that was removed. `rejoin` takes its budgets back.
        """
        other = type(self)(self.text[:start] + text, position=start)
        other.depth, other.nodes, other.pieces = self.depth, self.nodes, self.pieces
        return other

    def rejoin(self, other: Self) -> None:
        """Take over what a detached cursor has spent."""
        self.nodes, self.pieces = other.nodes, other.pieces
