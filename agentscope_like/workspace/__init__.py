"""Gives a run its own directory: roots that its agent sees, tools on them, and undo."""

from __future__ import annotations

from agentscope_like.workspace.persistence import PersistentRoot, PersistError
from agentscope_like.workspace.read_tracker import Known, ReadTracker
from agentscope_like.workspace.run_control import RunControl
from agentscope_like.workspace.tools import (
    ApplyPatch,
    Commit,
    CommitError,
    Finish,
    ListFiles,
    ReadFile,
    SearchFiles,
    WriteFile,
    workspace_tools,
)
from agentscope_like.workspace.workspace import Workspace

__all__ = [
    "ApplyPatch",
    "Commit",
    "CommitError",
    "Finish",
    "Known",
    "ListFiles",
    "PersistError",
    "PersistentRoot",
    "ReadFile",
    "ReadTracker",
    "RunControl",
    "SearchFiles",
    "Workspace",
    "WriteFile",
    "workspace_tools",
]
