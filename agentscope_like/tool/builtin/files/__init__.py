"""Provides the Read, Write and Edit tools."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.files.changes import ChangingTool
    from agentscope_like.tool.builtin.files.edit import Edit
    from agentscope_like.tool.builtin.files.read import Read
    from agentscope_like.tool.builtin.files.write import Write

__all__ = [
    "ChangingTool",
    "Edit",
    "Read",
    "Write",
]

__getattr__ = on_first_use(
    __name__,
    {
        "ChangingTool": "changes",
        "Edit": "edit",
        "Read": "read",
        "Write": "write",
    },
)
