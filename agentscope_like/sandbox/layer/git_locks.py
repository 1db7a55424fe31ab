"""Tells which files git changes only while it holds their lock."""

from __future__ import annotations

import re

__all__ = ["LOCK", "is_locked_by_git"]

LOCK = ".lock"
"""What git appends to a name for its lock: who creates that file may replace the other one."""

_LOCKED = re.compile(
    r"(?:.*/)?\.git/(?:modules/.+/|worktrees/[^/]+/)?(?:[A-Z_]*HEAD|index|packed-refs|refs/.+)",
    re.DOTALL,
)


def is_locked_by_git(path: str) -> bool:
    """Return whether git creates a lock to change a file: its index, and what names commits.

    Args:
        path: Relative to a working directory, with `/`.
    """
    return _LOCKED.fullmatch(path) is not None and not path.endswith(LOCK)
