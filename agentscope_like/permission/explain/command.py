"""Lays out a command line with marks below its parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agentscope_like.permission.explain.visible_text import cells, spelt
from agentscope_like.shell import CommandAnalysis, Part
from agentscope_like.shell.syntax import Span

__all__ = ["MAX_ROWS", "CommandRow", "command_rows"]

MAX_ROWS = 16
"""Rows of a command that are shown beside those that matter; what is left out is counted."""

PROVEN_MARK, DOUBT_MARK = "~", "^"


class CommandRow(NamedTuple):
    """A row of the command, or of the marks below one."""

    text: str
    is_mark: bool


class _Shown(NamedTuple):
    """One character as it is shown, and its position in the command."""

    text: str
    offset: int


def command_rows(
    analysis: CommandAnalysis, width: int, *, found: Span | None = None
) -> list[CommandRow]:
    """Return the command in rows of at most `width` columns, each followed by its marks.

    Below each part stand its number and `~`, and `^` below what is in doubt; commands inside of
    others are marked one row further down. Of a long command, rows in the middle are left out, but
    none that holds a part which is not proven to read only, its input, or what was found.

    Args:
        analysis: The command, as it was read.
        width: The columns there are.
        found: What a safety check found in it.
    """
    marks = _marks(analysis, found)
    rows = list(_rows(analysis.command, width))
    kept = _kept(rows, analysis, found)
    shown: list[CommandRow] = []
    left_out = 0
    for index, row in enumerate(rows):
        if index not in kept:
            left_out += 1
            if index + 1 == len(rows) or index + 1 in kept:
                shown.append(CommandRow(f"... {left_out} more lines ...", False))
                left_out = 0
            continue
        shown.append(CommandRow("".join(char.text for char in row), False))
        shown.extend(_underlines(row, marks))
    return shown


def _kept(rows: list[list[_Shown]], analysis: CommandAnalysis, found: Span | None) -> set[int]:
    """Return which rows are shown: the first, the last, and all that matter."""
    if len(rows) <= MAX_ROWS:
        return set(range(len(rows)))
    head, tail = MAX_ROWS * 2 // 3, MAX_ROWS // 3
    kept = {*range(head), *range(len(rows) - tail, len(rows))}
    spans = [] if found is None else [found]
    spans += (doubt.span for doubt in analysis.doubts)
    for part in analysis.parts:
        if not part.read_only:
            spans.append(_whole(part))
            for redirect in part.redirects:
                spans += redirect.span, redirect.word.span
    for start, end in spans:
        kept.update(
            index
            for index, row in enumerate(rows)
            if row and row[0].offset < end and row[-1].offset >= start
        )
    return kept


def _rows(command: str, width: int) -> Iterator[list[_Shown]]:
    row: list[_Shown] = []
    used = 0
    for offset, char in enumerate(command):
        if char == "\n":
            yield row
            row, used = [], 0
            continue
        text = "    " if char == "\t" else spelt(char)
        if used + cells(text) > width:
            yield row
            row, used = [], 0
        row.append(_Shown(text, offset))
        used += cells(text)
    yield row


def _marks(analysis: CommandAnalysis, found: Span | None) -> list[list[str]]:
    """Return the marks below each character of the command, a list for each depth."""
    lines: dict[int, list[str]] = {}

    def mark(depth: int, span: Span, text: str) -> list[str]:
        line = lines.setdefault(depth, [" "] * len(analysis.command))
        line[span.start : span.end] = text * (span.end - span.start)
        return line

    for number, part in reversed(list(enumerate(analysis.parts, start=1))):
        depth, whole = len(list(analysis.carriers(part))), _whole(part)
        line = mark(depth, whole, PROVEN_MARK)
        for doubt in part.doubts:
            mark(depth, doubt.span, DOUBT_MARK)
        if found is not None and found == part.span:
            mark(depth, found, DOUBT_MARK)
        for place, digit in zip(range(*whole), str(number), strict=False):
            line[place] = digit + line[place]
    for doubt in analysis.doubts:
        mark(0, doubt.span, DOUBT_MARK)
    return [line for _, line in sorted(lines.items())]


def _whole(part: Part) -> Span:
    """Return the part's place with its doubts: a redirection may stand outside of it."""
    spans = [part.span, *(doubt.span for doubt in part.doubts)]
    return Span(min(span.start for span in spans), max(span.end for span in spans))


def _underlines(row: list[_Shown], marks: list[list[str]]) -> Iterator[CommandRow]:
    for line in marks:
        below = [(line[char.offset], cells(char.text)) for char in row]
        text = "".join((mark + mark[-1] * width)[:width] for mark, width in below).rstrip()
        if text:
            yield CommandRow(text, True)
