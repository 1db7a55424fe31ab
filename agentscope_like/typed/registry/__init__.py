"""Makes typed tools by name, from what a program has registered.

Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.typed.registry.default import (
        default_registry,
        find_tools,
        list_packaged_tools,
        list_registered_tools,
        register_packaged_tool,
        register_tool,
        resolve_tool,
        unregister_tool,
    )
    from agentscope_like.typed.registry.packages import PackagedTool
    from agentscope_like.typed.registry.tool import Tool
    from agentscope_like.typed.registry.tool_registry import ToolRegistry

__all__ = [
    "PackagedTool",
    "Tool",
    "ToolRegistry",
    "default_registry",
    "find_tools",
    "list_packaged_tools",
    "list_registered_tools",
    "register_packaged_tool",
    "register_tool",
    "resolve_tool",
    "unregister_tool",
]

__getattr__ = on_first_use(
    __name__,
    {
        "PackagedTool": "packages",
        "Tool": "tool",
        "ToolRegistry": "tool_registry",
        "default_registry": "default",
        "find_tools": "default",
        "list_packaged_tools": "default",
        "list_registered_tools": "default",
        "register_packaged_tool": "default",
        "register_tool": "default",
        "resolve_tool": "default",
        "unregister_tool": "default",
    },
)
