"""Tells what state a git repository is in, from its files alone.

Git itself is not run: a repository's configuration could make it run anything.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

__all__ = ["git_state"]

_MOST_BYTES = 4096
_BRANCH = re.compile(r"ref: refs/heads/(\S{1,200})\n?")
_COMMIT = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64})\n?")
_SHOWN_DIGITS = 12
_UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisection",
}


def git_state(directory: str) -> str | None:
    """Return the branch or commit that is checked out, and what is under way.

    Args:
        directory: An absolute path on this host.

    Returns:
        One line; None outside a repository, or where its files cannot be read.
    """
    found = _git_directory(Path(directory))
    if found is None:
        return None
    head = _text(found / "HEAD") or ""
    if branch := _BRANCH.fullmatch(head):
        state = f"on branch {branch[1]}"
    elif commit := _COMMIT.fullmatch(head):
        state = f"on no branch, at commit {commit[1][:_SHOWN_DIGITS]}"
    else:
        return None
    under_way = dict.fromkeys(
        what for name, what in _UNDER_WAY.items() if os.path.lexists(found / name)
    )
    return ", ".join([state, *(f"{what} under way" for what in under_way)])


def _git_directory(start: Path) -> Path | None:
    for directory in (start, *start.parents):
        entry = directory / ".git"
        if entry.is_dir():
            return entry
        if (text := _text(entry)) is not None:  # of a submodule, or of a further work tree
            return directory / text.removeprefix("gitdir:").strip()
    return None


def _text(path: Path) -> str | None:
    """Return the text of a small file; None for what is no regular file, such as a symlink."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
            return file.read(_MOST_BYTES).decode() if is_file else None
    except (OSError, ValueError):
        return None
