"""Shows the differences that edits make, before and after they are made."""

from __future__ import annotations

from rich.text import Text

from agentscope_like.cli.show.theme import one_line

__all__ = ["MAX_LINES", "diff_lines"]

MAX_LINES = 60


def diff_lines(diff: str, *, most: int | None = MAX_LINES) -> list[Text]:
    """Return a unified diff in colour, one `Text` per line.

    Args:
        diff: The diff.
        most: The maximum number of lines; further ones are counted; None shows all.
    """
    lines = diff.replace("\r\n", "\n").split("\n")
    while lines and not lines[-1]:
        lines.pop()
    cut = lines if most is None or len(lines) <= most else lines[:most]
    shown = [one_line(line.expandtabs(4), _style(line)) for line in cut]
    if len(cut) < len(lines):
        shown.append(Text(f"... {len(lines) - len(cut)} more lines ...", "quiet"))
    return shown


def _style(line: str) -> str:
    if line.startswith(("+++", "---")):
        return "call"
    if line.startswith("@@"):
        return "place"
    if line.startswith("+"):
        return "added"
    return "removed" if line.startswith("-") else "quiet"
