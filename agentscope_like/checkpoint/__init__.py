"""Keeps the contents of files before they change, so that changes can be undone."""

from __future__ import annotations

from agentscope_like.checkpoint.recording import file_digest, file_version, recorded
from agentscope_like.checkpoint.records import (
    Checkpoint,
    CheckpointState,
    FileChange,
    FileDigest,
    FileState,
    FileVersion,
    KnownChange,
    Restoration,
    VersionKind,
)
from agentscope_like.checkpoint.store import CheckpointError, CheckpointStore

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "CheckpointState",
    "CheckpointStore",
    "FileChange",
    "FileDigest",
    "FileState",
    "FileVersion",
    "KnownChange",
    "Restoration",
    "VersionKind",
    "file_digest",
    "file_version",
    "recorded",
]
