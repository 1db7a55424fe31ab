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


class _Mark(NamedTuple):
    span: Span
    label: str
    doubts: tuple[Span, ...]
    depth: int


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


def _marks(analysis: CommandAnalysis, found: Span | None) -> list[_Mark]:
    marks = [_Mark(doubt.span, "", (doubt.span,), 0) for doubt in analysis.doubts]
    for number, part in enumerate(analysis.parts, start=1):
        doubts = tuple(doubt.span for doubt in part.doubts)
        doubts += (found,) if found is not None and found == part.span else ()
        depth = len(list(analysis.carriers(part)))
        marks.append(_Mark(_whole(part), str(number), doubts, depth))
    return marks


def _whole(part: Part) -> Span:
    """Return the part's place with its doubts: a redirection may stand outside of it."""
    spans = [part.span, *(doubt.span for doubt in part.doubts)]
    return Span(min(span.start for span in spans), max(span.end for span in spans))


def _underlines(row: list[_Shown], marks: list[_Mark]) -> Iterator[CommandRow]:
    for depth in sorted({mark.depth for mark in marks}):
        line: list[str] = []
        for char in row:
            mark = next(
                (
                    mark
                    for mark in marks
                    if mark.depth == depth and mark.span.start <= char.offset < mark.span.end
                ),
                None,
            )
            line.append(_mark_below(char, mark))
        text = "".join(line).rstrip()
        if text:
            yield CommandRow(text, True)


def _mark_below(char: _Shown, mark: _Mark | None) -> str:
    width = cells(char.text)
    if mark is None:
        return " " * width
    place = char.offset - mark.span.start
    is_doubted = any(span.start <= char.offset < span.end for span in mark.doubts)
    label = mark.label[place : place + 1]
    return label + (DOUBT_MARK if is_doubted else PROVEN_MARK) * (width - len(label))
