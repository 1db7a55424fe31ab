"""Where a command runs: literal `cd`s are followed, any other makes the directory unknown."""

from __future__ import annotations

from collections.abc import Callable
from posixpath import normpath

from agentscope_like.shell.values import Argument, Unknown

__all__ = ["MAX_DIRECTORIES", "absolute", "after_cd", "joined", "union", "walked"]

MAX_DIRECTORIES = 8
"""How many directories a command may be in before its directory counts as unknown."""


def absolute(directory: str | None, target: str) -> str | None:
    """Return `target` seen from `directory`, `.` and `..` folded; None where that is unknown."""
    if not target.startswith("/"):
        if directory is None or not target:
            return None
        target = f"{directory}/{target}"
    if "/." not in target and "//" not in target and target[-1] != "/":
        return target  # as nearly always: nothing to fold
    folded = normpath(target)
    return folded[1:] if folded.startswith("//") else folded


def joined(directory: str | None, target: str) -> str | None:
    """Return `target` seen from `directory`, nothing folded; None where that is unknown."""
    if target.startswith("/"):
        return target
    return None if directory is None or not target else f"{directory}/{target}"


def walked(directory: str | None, target: str) -> str:
    """Return `target` seen from `directory` if, behind a symlink, folding it leads elsewhere.

    Args:
        directory: What a relative path is relative to; None where that is unknown.
        target: A path.

    Returns:
        The absolute path with its `..` and the slash at its end; empty where there is neither.
    """
    if ".." not in target and target[-1:] not in "/." and ".." not in (directory or ""):
        return ""
    path = joined(directory, target) or ""
    return path if "/.." in path or path[1:].endswith(("/", "/.")) else ""


def after_cd(
    directories: tuple[str, ...],
    target: Argument | None,
    home: str | None,
    *,
    fold: Callable[[str | None, str], str | None] = absolute,
) -> tuple[str, ...]:
    """Return the directories that a successful `cd target` may lead to; empty means unknown.

    Args:
        directories: Where the `cd` runs; empty where that is unknown.
        target: Its operand, or None where it has none.
        home: The home directory, or None where unknown.
        fold: `absolute`, as the shell does it, or `joined`, for a program, which has it from the
            kernel.
    """
    if target is None:
        return (home,) if home else ()
    if isinstance(target, Unknown):
        targets = (*target.choices, *(() if target.single or not target.choices else (None,)))
        return union(*(after_cd(directories, each, home, fold=fold) for each in targets))
    if target in {"", "-"}:
        return () if target else directories
    if target.startswith("/"):
        return tuple(filter(None, (fold(None, target),)))
    moved = (fold(directory, target) for directory in directories)
    return tuple(dict.fromkeys(path for path in moved if path))


def union(*sets: tuple[str, ...]) -> tuple[str, ...]:
    """Return the directories of all `sets`, the first set's first; empty if any is unknown."""
    if not all(sets):
        return ()
    merged = tuple(dict.fromkeys(path for one in sets for path in one))
    return merged if len(merged) <= MAX_DIRECTORIES else ()
