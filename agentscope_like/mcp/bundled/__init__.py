"""MCP servers that come along, and the decorator that declares their tools."""

from agentscope_like.mcp.bundled.registry import (
    BundledTool,
    bundled_server,
    bundled_servers,
    mcp_tool,
)

__all__ = ["BundledTool", "bundled_server", "bundled_servers", "mcp_tool"]
