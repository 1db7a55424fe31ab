"""Checks the steps of a restoration against each other, before the first one is taken."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Sequence

from agentscope_like.checkpoint import FileVersion
from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.undo.file_steps import FileStep

__all__ = ["check_parents", "without_full_directories"]


def check_parents(steps: Sequence[FileStep]) -> None:
    """Refuse steps of which one puts a file below what is no directory then.

    Raises:
        FileToolError: There is such a step.
    """
    becoming = {step.path: step.wanted for step in steps}
    for step in steps:
        if step.wanted is not None:
            _check_parent(step.path, becoming)


def _check_parent(path: str, becoming: dict[str, FileVersion | None]) -> None:
    parent = posixpath.dirname(path)
    while parent != "/":
        wanted = becoming.get(parent)
        if wanted is not None:
            if wanted.kind != "directory":
                raise FileToolError(f"{path} cannot be restored: {parent} is a {wanted.kind} then.")
            return
        if parent not in becoming and _is_other_than_directory(parent):
            raise FileToolError(f"{path} cannot be restored: {parent} is no directory any more.")
        parent = posixpath.dirname(parent)


def _is_other_than_directory(path: str) -> bool:
    try:
        return not stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def without_full_directories(steps: Sequence[FileStep]) -> list[FileStep]:
    """Return the steps without those that remove directories that others put something into.

    Raises:
        FileToolError: A file has to take the place of such a directory.
    """
    going = {step.path for step in steps if step.goes_first}
    kept = []
    for step in sorted(steps, key=lambda step: step.path.split("/"), reverse=True):
        is_directory = step.now is not None and step.now.kind == "directory"
        if not (is_directory and step.goes_first) or not _others_in(step.path, going):
            kept.append(step)
            continue
        if step.wanted is not None:
            raise FileToolError(
                f"{step.path} cannot be restored: others put something into the directory."
            )
        going.discard(step.path)
    return kept[::-1]


def _others_in(directory: str, going: set[str]) -> bool:
    try:
        names = os.listdir(directory)
    except OSError:
        return True
    return any(posixpath.join(directory, name) not in going for name in names)
