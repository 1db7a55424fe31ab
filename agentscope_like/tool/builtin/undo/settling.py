"""Finishes restorations that a killed process began."""

from __future__ import annotations

import contextlib

from agentscope_like.checkpoint import (
    Checkpoint,
    CheckpointStore,
    FileState,
    KnownChange,
)
from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.undo.file_steps import FileStep, digest_at, take_steps

__all__ = ["settle_restorations"]


def settle_restorations(checkpoints: CheckpointStore, session_id: str) -> list[Checkpoint]:
    """Finish the restorations that a session began, and find out about its other changes.

    A restoration of several files of which some were restored is finished, so that all are or none
    is. It blocks.

    Args:
        checkpoints: Where they are kept.
        session_id: The session; no other process may be using it.

    Returns:
        The changes that were made, or of which it is not known; one that was not made is forgotten.

    Raises:
        CheckpointError: The checkpoints cannot be read.
        OSError: A file cannot be read.
    """
    for checkpoint_id in checkpoints.begun(session_id):
        changes = checkpoints.known_changes(checkpoint_id)
        states = checkpoints.files(checkpoint_id, digest_at)
        if changes is not None and _can_be_finished(changes, states):
            with contextlib.suppress(FileToolError):
                take_steps([FileStep(each.path, each.before, each.after) for each in changes])
    return checkpoints.settle(session_id, digest_at)


def _can_be_finished(changes: list[KnownChange], states: dict[str, FileState]) -> bool:
    """Return whether it is one of several files that was begun, and nobody else changed them."""
    if len(changes) <= 1 or set(states.values()) <= {"old"}:
        return False
    return all(states[each.path] != "other" or _is_between(each) for each in changes)


def _is_between(change: KnownChange) -> bool:
    """Return whether a path is empty between a directory and a file that takes its place."""
    before, after = change.before, change.after
    if before is None or after is None or before.kind == after.kind:
        return False
    return "directory" in (before.kind, after.kind) and digest_at(change.path) is None
