"""Wraps the tools of MCP servers."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.mcp.content import content_blocks, resource_blocks
    from agentscope_like.tool.mcp.definition import definition_of, digest_of
    from agentscope_like.tool.mcp.mcp_tool import MCPSession, MCPTool

__all__ = [
    "MCPSession",
    "MCPTool",
    "content_blocks",
    "definition_of",
    "digest_of",
    "resource_blocks",
]

__getattr__ = on_first_use(
    __name__,
    {
        "MCPSession": "mcp_tool",
        "MCPTool": "mcp_tool",
        "content_blocks": "content",
        "definition_of": "definition",
        "digest_of": "definition",
        "resource_blocks": "content",
    },
)
