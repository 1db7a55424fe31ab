"""Defines `MCPToolSource`, a source of the typed tools of one MCP server."""

from __future__ import annotations

from agentscope_like.mcp import MCPClient
from agentscope_like.mcp.parameters import ClientSource
from agentscope_like.tool import MCPTool, ToolBase
from agentscope_like.typed.mcp.definition import MCPToolDefinition

__all__ = ["MCPToolSource"]


class MCPToolSource:
    """Offers the tools of a server as typed tools; connects when they are first listed.

    Args:
        client: The client of the server; whoever made it closes it.
    """

    def __init__(self, client: MCPClient) -> None:
        self._source = ClientSource(client)
        self._made: dict[MCPTool, MCPToolDefinition] = {}

    @property
    def name(self) -> str:
        """Return the server's name."""
        return self._source.name

    @property
    def version(self) -> int:
        """Return a number that changes whenever the result of `list_tools` may change."""
        return self._source.version

    async def list_tools(self) -> list[ToolBase]:
        """Return the tools as last listed; one that has not changed stays the same object.

        Raises:
            MCPConnectionError: The server cannot be reached, or the client was closed.
            ConfigurationError: As `MCPClient.connect`.
        """
        listed = [tool for tool in await self._source.list_tools() if isinstance(tool, MCPTool)]
        known = self._made
        self._made = {tool: known.get(tool) or MCPToolDefinition(tool) for tool in listed}
        return list(self._made.values())

    async def refresh(self) -> None:
        """List the tools again if they may have changed."""
        await self._source.refresh()
