"""What a toolkit has: its registry, its sources, its inventory and views of it."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.kit.inventory import ToolInventory
    from agentscope_like.tool.kit.registry import RegisteredTool, ToolRegistry
    from agentscope_like.tool.kit.spec import ToolSpec
    from agentscope_like.tool.kit.view import ToolView

__all__ = [
    "RegisteredTool",
    "ToolInventory",
    "ToolRegistry",
    "ToolSpec",
    "ToolView",
]

__getattr__ = on_first_use(
    __name__,
    {
        "RegisteredTool": "registry",
        "ToolInventory": "inventory",
        "ToolRegistry": "registry",
        "ToolSpec": "spec",
        "ToolView": "view",
    },
)
