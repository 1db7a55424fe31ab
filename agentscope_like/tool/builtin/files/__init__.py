"""Provides the Read, Write and Edit tools."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.files.edit import Edit
    from agentscope_like.tool.builtin.files.read import Read
    from agentscope_like.tool.builtin.files.text_diff import unified_diff
    from agentscope_like.tool.builtin.files.write import Write

__all__ = [
    "Edit",
    "Read",
    "Write",
    "unified_diff",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Edit": "edit",
        "Read": "read",
        "Write": "write",
        "unified_diff": "text_diff",
    },
)
