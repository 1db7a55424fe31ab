"""Keeps the contents of files before they change, so that changes can be undone."""

from __future__ import annotations

from agentscope_like.checkpoint.recording import file_version, recorded
from agentscope_like.checkpoint.records import (
    Checkpoint,
    CheckpointState,
    FileChange,
    FileState,
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
    "FileState",
    "FileVersion",
    "Restoration",
    "file_version",
    "recorded",
]
