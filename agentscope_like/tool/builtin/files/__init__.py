"""Provides the Read, Write and Edit tools."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.files.changes import ChangingTool, Plan, PreviewingTool
    from agentscope_like.tool.builtin.files.edit import Edit
    from agentscope_like.tool.builtin.files.read import MAX_LINES, Read
    from agentscope_like.tool.builtin.files.read_record import require_read
    from agentscope_like.tool.builtin.files.text_diff import unified_diff
    from agentscope_like.tool.builtin.files.text_format import decode, line_end_at, line_starts
    from agentscope_like.tool.builtin.files.write import Write

__all__ = [
    "MAX_LINES",
    "ChangingTool",
    "Edit",
    "Plan",
    "PreviewingTool",
    "Read",
    "Write",
    "decode",
    "line_end_at",
    "line_starts",
    "require_read",
    "unified_diff",
]

__getattr__ = on_first_use(
    __name__,
    {
        "MAX_LINES": "read",
        "ChangingTool": "changes",
        "Edit": "edit",
        "Plan": "changes",
        "PreviewingTool": "changes",
        "Read": "read",
        "Write": "write",
        "decode": "text_format",
        "line_end_at": "text_format",
        "line_starts": "text_format",
        "require_read": "read_record",
        "unified_diff": "text_diff",
    },
)
