"""Wraps the tools of MCP servers."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.mcp.definition import definition_of, digest_of
    from agentscope_like.tool.mcp.mcp_tool import MCPSession, MCPTool

__all__ = [
    "MCPSession",
    "MCPTool",
    "definition_of",
    "digest_of",
]

__getattr__ = on_first_use(
    __name__,
    {
        "MCPSession": "mcp_tool",
        "MCPTool": "mcp_tool",
        "definition_of": "definition",
        "digest_of": "definition",
    },
)
