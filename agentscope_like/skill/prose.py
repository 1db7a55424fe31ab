"""The first paragraph of a text in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Paragraph", "first_paragraph"]

_COMMENT = re.compile(r"<!--.*?(-->|\Z)", re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_NO_PROSE = re.compile(r"\s*([#>|<]|[-*+]\s|\d+[.)]\s|([-*_]\s*){3,}$|=+\s*$)| {4}|\t|\s*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)\s*$")


class Paragraph(NamedTuple):
    """Lines of prose, as one.

    Attributes:
        text: The prose.
        line: The line that it begins on, counted from 1.
    """

    text: str
    line: int


def first_paragraph(markdown: str) -> Paragraph | None:
    """Return the first prose: no heading, list, table, quotation, markup or code; None without."""
    found: list[str] = []
    first = 0
    for number, line in _lines_outside_of_code(markdown):
        if not _NO_PROSE.match(line):
            if found and number != first + len(found):
                break
            first = first if found else number
            found.append(line.strip())
        elif found and not _UNDERLINE.match(line):
            break
        else:
            found.clear()
    return Paragraph(" ".join(found), first) if found else None


def _lines_outside_of_code(markdown: str) -> Iterator[tuple[int, str]]:
    text = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), markdown)
    fence = ""
    for number, line in enumerate(text.split("\n"), start=1):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
        else:
            yield number, line
