"""Manages the content of a toolkit: registry, sources, inventory and views."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.kit.inventory import ToolInventory
    from agentscope_like.tool.kit.view import ToolView

__all__ = [
    "ToolInventory",
    "ToolView",
]

__getattr__ = on_first_use(
    __name__,
    {
        "ToolInventory": "inventory",
        "ToolView": "view",
    },
)
