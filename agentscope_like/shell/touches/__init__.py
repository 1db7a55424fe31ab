"""Lists the files that a command touches, and how."""

from __future__ import annotations

from agentscope_like.shell.touches.copying import copy_objection, pattern_objection
from agentscope_like.shell.touches.declared_writes import (
    DeclaredChanges,
    declared_changes,
    more_than_edits,
)
from agentscope_like.shell.touches.links import link_objection
from agentscope_like.shell.touches.touched_files import (
    Below,
    Touch,
    TouchKind,
    is_pattern,
    named_by_command,
    touches,
)

__all__ = [
    "Below",
    "DeclaredChanges",
    "Touch",
    "TouchKind",
    "copy_objection",
    "declared_changes",
    "is_pattern",
    "link_objection",
    "more_than_edits",
    "named_by_command",
    "pattern_objection",
    "touches",
]
