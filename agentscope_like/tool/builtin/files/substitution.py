r"""Replaces exact text in a file with any line endings.

A model writes `\n` for any line end. So `\n` in the old text matches every line end; new text gets
the line end used at its place, and the rest of the file is unchanged.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left
from collections.abc import Iterator

from msgspec import Struct

from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.files.text_format import LINE_END, line_end_at

__all__ = ["Substitution", "substitute"]

MAX_LISTED = 10
"""The maximum number of line numbers in a message."""

MAX_HINT_LINES = 5_000
"""The maximum number of lines compared to find similar ones."""

_NUMBERED = re.compile(r"^\s*\d+\t")


class Substitution(Struct, frozen=True):
    """A text after a replacement.

    Attributes:
        text: The whole text.
        lines: The numbers of the lines, in the old text, at which a replaced part began.
    """

    text: str
    lines: tuple[int, ...]


def substitute(text: str, old: str, new: str, shown: str, *, every: bool = False) -> Substitution:
    r"""Replace `old` by `new`.

    Args:
        text: The file's text, its line ends as they are.
        old: The text to replace; its `\n` matches any line end, unless the text contains it
            exactly.
        new: The new text; its `\n` becomes the line end used at the place.
        shown: The file's path, for messages.
        every: Whether to replace every occurrence; otherwise there must be exactly one.

    Raises:
        FileToolError: `old` is empty, equals `new`, is not there, or is there several times.
    """
    _check(old, new, shown)
    if "\r" in old and (spans := list(_spans(text, old, every=every))):
        literal = "\r" in new
    else:
        old, new = LINE_END.sub("\n", old), LINE_END.sub("\n", new)
        spans = _any_line_end(text, old, every=every)
        literal = False
    if not spans:
        raise _not_found(text, old, shown)
    lines = tuple(_line_numbers(text, [start for start, _ in spans]))
    if len(spans) > 1 and not every:
        raise _not_unique(lines, shown)
    changed = _put(text, spans, new, literal=literal)
    if changed == text:
        raise _nothing_to_change()
    return Substitution(changed, lines)


def _check(old: str, new: str, shown: str) -> None:
    if not old:
        raise FileToolError(
            "`old_string` is empty: say what is to be replaced. "
            f"To write the whole of {shown}, use Write."
        )
    if old == new:
        raise _nothing_to_change()


def _nothing_to_change() -> FileToolError:
    return FileToolError(
        "`old_string` and `new_string` are equal, so there is nothing to change. "
        "Line ends are kept as they are in the file."
    )


def _spans(text: str, old: str, *, every: bool) -> Iterator[tuple[int, int]]:
    """Yield the spans of `old`; overlapping ones too, unless all are to be replaced."""
    at = text.find(old)
    while at >= 0:
        yield at, at + len(old)
        at = text.find(old, at + (len(old) if every else 1))


def _any_line_end(text: str, old: str, *, every: bool) -> list[tuple[int, int]]:
    r"""Return the spans of `old`, with each line end of the text read as `\n`."""
    if "\r" not in text:
        return list(_spans(text, old, every=every))
    pairs = [
        match.end() - 1 - before for before, match in enumerate(re.finditer("\r\n", text), start=1)
    ]
    plain = LINE_END.sub("\n", text)
    return [
        (start + bisect_left(pairs, start), end + bisect_left(pairs, end))
        for start, end in _spans(plain, old, every=every)
    ]


def _put(text: str, spans: list[tuple[int, int]], new: str, *, literal: bool) -> str:
    parts: list[str] = []
    done = 0
    for start, end in spans:
        fitting = new
        if "\n" in new and not literal:
            fitting = new.replace("\n", line_end_at(text, start, end))
        parts += (text[done:start], fitting)
        done = end
    return "".join((*parts, text[done:]))


def _line_numbers(text: str, starts: list[int]) -> Iterator[int]:
    line, done = 1, 0
    for start in starts:
        line += sum(1 for _ in LINE_END.finditer(text, done, start))
        done = start
        yield line


def _not_unique(lines: tuple[int, ...], shown: str) -> FileToolError:
    listed = ", ".join(map(str, lines[:MAX_LISTED]))
    more = ", ..." if len(lines) > MAX_LISTED else ""
    return FileToolError(
        f"`old_string` is in {shown} {len(lines)} times (lines {listed}{more}). Add lines around "
        "it until it is unique, or set `replace_all`."
    )


def _not_found(text: str, old: str, shown: str) -> FileToolError:
    said = f"`old_string` is not in {shown}, exactly as given."
    if _NUMBERED.match(old):
        return FileToolError(
            f"{said} It seems to hold line numbers: leave out the number and the tab that Read "
            "puts before each line."
        )
    near = _nearest_lines(text, old)
    if not near:
        return FileToolError(f"{said} Read the file again and copy the lines from it.")
    listed = "\n".join(f"{number:6d}\t{line}" for number, line in near)
    return FileToolError(
        f"{said} Check the blanks too. The nearest lines to its first one are:\n{listed}"
    )


def _nearest_lines(text: str, old: str) -> list[tuple[int, str]]:
    wanted = next((line.strip() for line in LINE_END.split(old) if line.strip()), "")[:200]
    if not wanted:
        return []
    numbers: dict[str, int] = {}
    lines = LINE_END.split(text)
    for number, line in enumerate(lines[:MAX_HINT_LINES], 1):
        numbers.setdefault(line.strip()[:200], number)
    close = difflib.get_close_matches(wanted, numbers, n=3, cutoff=0.6)
    return sorted((numbers[line], lines[numbers[line] - 1][:200]) for line in close)
