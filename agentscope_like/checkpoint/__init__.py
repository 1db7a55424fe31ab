"""Keeps the contents of files before they change, so that changes can be undone."""

from __future__ import annotations

from agentscope_like.checkpoint.records import (
    Checkpoint,
    CheckpointState,
    FileChange,
    FileVersion,
    Restoration,
)
from agentscope_like.checkpoint.store import CheckpointError, CheckpointStore

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "CheckpointState",
    "CheckpointStore",
    "FileChange",
    "FileVersion",
    "Restoration",
]
