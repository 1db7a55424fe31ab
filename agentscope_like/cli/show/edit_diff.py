"""Shows the differences that edits make, before and after they are made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rich.text import Text

from agentscope_like.cli.show.theme import one_line

__all__ = ["MAX_LINES", "diff_lines"]

MAX_LINES = 60
TAB, TAB_STOP = "\N{RIGHTWARDS ARROW}", 4

_PART = re.compile(r"@@ -[0-9]+(?:,([0-9]+))? \+[0-9]+(?:,([0-9]+))? @@")
_STYLES = {"+": "added", "-": "removed"}


def diff_lines(diff: str, *, most: int | None = MAX_LINES) -> list[Text]:
    """Return a unified diff in colour, one `Text` per line.

    Lines of the files are indented, and tabs are marked, so that no content looks like the head of
    a diff, or like blanks.

    Args:
        diff: The diff.
        most: The maximum number of lines; further ones are counted; None shows all.
    """
    lines = diff.replace("\r\n", "\n").split("\n")
    while lines and not lines[-1]:
        lines.pop()
    cut = lines if most is None or len(lines) <= most else lines[:most]
    shown = list(_styled(cut))
    if len(cut) < len(lines):
        shown.append(Text(f"... {len(lines) - len(cut)} more lines ...", "quiet"))
    return shown


def _styled(lines: Iterable[str]) -> Iterator[Text]:
    old = new = 0  # lines of the files that are still to come in this part
    for line in lines:
        if old <= 0 and new <= 0:
            if part := _PART.match(line):
                old, new = (1 if count is None else int(count) for count in part.groups())
                yield one_line(line, "place")
                continue
            if line.startswith(("--- ", "+++ ")):
                yield one_line(line, "call")
                continue
        sign = line[:1]
        old -= sign in ("-", " ")
        new -= sign in ("+", " ")
        yield Text("  ") + _content(line, _STYLES.get(sign, "quiet"))


def _content(line: str, style: str) -> Text:
    """Return a line of a file, its tabs as arrows that reach to the next stop."""
    shown, column = Text(), 0
    for number, piece in enumerate(line.split("\t")):
        if number:
            width = TAB_STOP - column % TAB_STOP
            shown.append(TAB + " " * (width - 1), "spelt")
            column += width
        text = one_line(piece, style)
        shown.append_text(text)
        column += text.cell_len - (1 if not number and piece else 0)  # the sign takes no room
    return shown
