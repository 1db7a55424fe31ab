"""Cuts the part out of a file of a skill that a model asked for."""

from __future__ import annotations

import re

from msgspec import Struct

from agentscope_like.exception import RecoverableToolError

__all__ = ["ReadText", "TextRange"]

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class ReadText(Struct, frozen=True):
    """A part of a text.

    Attributes:
        text: The characters.
        start: The first one, from 0.
        whole: The text that it is of.
        is_cut: Whether it is shorter than what was asked for.
    """

    text: str
    start: int
    whole: str
    is_cut: bool

    def facts(self) -> dict[str, int | str | bool]:
        """Return the part as a result tells it; lines are those that it has characters of."""
        end = self.start + len(self.text)
        first = self.whole.count("\n", 0, self.start) + 1
        return {
            "text": self.text,
            "start_line": first,
            "end_line": first + self.text.count("\n", 0, max(len(self.text) - 1, 0)),
            "start_char": self.start,
            "end_char": end,
            "total_chars": len(self.whole),
            "truncated": self.is_cut,
        }


class TextRange(Struct, frozen=True):
    """Which part is wanted: some lines, or all from a character on.

    Attributes:
        start_line: The first line, from 1; None where characters are meant.
        line_count: How many lines; None for all.
        start_char: The first character, from 0.
    """

    start_line: int | None = None
    line_count: int | None = None
    start_char: int = 0

    @classmethod
    def read(
        cls, start_line: int | None, line_count: int | None, start_char: int | None
    ) -> TextRange:
        """Return what a call asks for.

        Raises:
            RecoverableToolError: It mixes lines and characters.
        """
        has_lines = start_line is not None or line_count is not None
        if has_lines and start_char is not None:
            raise RecoverableToolError(
                "skill.invalid_range",
                "Give start_line and line_count, or start_char; lines and characters are not "
                "mixed.",
            )
        count = None if line_count is None else int(line_count)
        return cls(int(start_line or 1) if has_lines else None, count, int(start_char or 0))

    def of(self, text: str, most: int) -> ReadText:
        """Return the part of a text, at most so many characters of it.

        Raises:
            RecoverableToolError: The text ends before.
        """
        start, end = self._ends(text)
        part = text[start : min(end, start + most)]
        return ReadText(part, start, text, is_cut=len(part) < end - start)

    def _ends(self, text: str) -> tuple[int, int]:
        if self.start_line is None:
            if self.start_char and self.start_char >= len(text):
                raise _beyond(f"{len(text):,} characters", f"start_char {self.start_char:,}")
            return self.start_char, len(text)
        lines = [found.span() for found in _LINE.finditer(text)]
        first = self.start_line - 1
        if first and first >= len(lines):
            raise _beyond(f"{len(lines):,} lines", f"start_line {self.start_line:,}")
        wanted = lines[first:] if self.line_count is None else lines[first:][: self.line_count]
        return (wanted[0][0], wanted[-1][1]) if wanted else (0, 0)


def _beyond(has: str, wanted: str) -> RecoverableToolError:
    return RecoverableToolError(
        "skill.invalid_range", f"The file has {has}, so none at {wanted}: begin before."
    )
