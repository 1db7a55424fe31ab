"""Shows edits as unified diffs, before and after they are made."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.text import Text

from agentscope_like.cli.show.theme import one_line
from agentscope_like.tool.builtin.files import unified_diff

__all__ = ["MAX_LINES", "diff_lines", "planned_diff"]

MAX_LINES = 60
MAX_BYTES = 1_000_000


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


def planned_diff(tool_name: str, tool_input: Mapping[str, Any], directory: Path) -> str | None:
    """Return the diff of a call of Edit or Write, or None for other calls.

    It is computed from the arguments and, for Write, from the existing file; blocks while it reads.
    """
    path, content = tool_input.get("file_path"), tool_input.get("content")
    old, new = tool_input.get("old_string"), tool_input.get("new_string")
    if not isinstance(path, str):
        return None
    if tool_name == "Edit" and isinstance(old, str) and isinstance(new, str):
        return unified_diff(f"{old}\n", f"{new}\n", path) or None
    if tool_name == "Write" and isinstance(content, str):
        return unified_diff(_present(directory / Path(path).expanduser()), content, path) or None
    return None


def _present(path: Path) -> str:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return ""


def _style(line: str) -> str:
    if line.startswith(("+++", "---")):
        return "call"
    if line.startswith("@@"):
        return "place"
    if line.startswith("+"):
        return "added"
    return "removed" if line.startswith("-") else "quiet"
