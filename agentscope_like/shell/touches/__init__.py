"""Lists the files that a command touches, and how."""

from __future__ import annotations

from agentscope_like.shell.touches.copying import copy_objection, pattern_objection
from agentscope_like.shell.touches.declared_writes import DeclaredChanges, declared_changes
from agentscope_like.shell.touches.file_touch import Below, Touch, TouchKind
from agentscope_like.shell.touches.links import link_objection, passed
from agentscope_like.shell.touches.named_paths import is_pattern, named_by_command
from agentscope_like.shell.touches.touched_files import touches

__all__ = [
    "Below",
    "DeclaredChanges",
    "Touch",
    "TouchKind",
    "copy_objection",
    "declared_changes",
    "is_pattern",
    "link_objection",
    "named_by_command",
    "passed",
    "pattern_objection",
    "touches",
]
