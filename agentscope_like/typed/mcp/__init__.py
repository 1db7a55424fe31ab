"""Makes typed tools of the tools of MCP servers."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.typed.mcp.action import MCPToolAction
    from agentscope_like.typed.mcp.definition import MCPToolDefinition
    from agentscope_like.typed.mcp.executor import MCPToolExecutor
    from agentscope_like.typed.mcp.observation import MCPToolObservation
    from agentscope_like.typed.mcp.source import MCPToolSource
    from agentscope_like.typed.mcp.tools import create_mcp_tools

__all__ = [
    "MCPToolAction",
    "MCPToolDefinition",
    "MCPToolExecutor",
    "MCPToolObservation",
    "MCPToolSource",
    "create_mcp_tools",
]

__getattr__ = on_first_use(
    __name__,
    {
        "MCPToolAction": "action",
        "MCPToolDefinition": "definition",
        "MCPToolExecutor": "executor",
        "MCPToolObservation": "observation",
        "MCPToolSource": "source",
        "create_mcp_tools": "tools",
    },
)
