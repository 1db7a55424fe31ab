"""Reads MCP servers from a configuration in the form that clients share, `{"mcpServers": ...}`."""

from agentscope_like.mcp.configured.reading import ConfiguredServer, read_servers
from agentscope_like.mcp.configured.servers import MCPServers

__all__ = ["ConfiguredServer", "MCPServers", "read_servers"]
