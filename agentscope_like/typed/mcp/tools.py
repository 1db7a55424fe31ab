"""Makes the typed tools of the servers that a configuration names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentscope_like.mcp import MCPServers
from agentscope_like.tool import MCPTool
from agentscope_like.typed.mcp.definition import MCPToolDefinition
from agentscope_like.typed.mcp.executor import MCPToolExecutor, SharedClient

__all__ = ["create_mcp_tools"]


async def create_mcp_tools(
    config: Mapping[str, Any] | MCPServers, **options: Any
) -> list[MCPToolDefinition]:
    """Connect to the servers of a configuration, and return their tools (seed 004).

    The list does not change afterwards; a call of a tool whose definition has changed is not run.
    A server is closed with its last tool, as by `Toolkit.close`. For tools that follow their
    server, give the configuration to an agent.

    Args:
        config: The servers in the form that clients share: see `MCPServers`.
        **options: As for `MCPServers`, if the configuration is not one already.

    Raises:
        ConfigurationError: The configuration is not valid.
        MCPConnectionError: A server cannot be reached; none is left connected.
    """
    servers = config if isinstance(config, MCPServers) else MCPServers(config, **options)
    await servers.connect()
    made: list[MCPToolDefinition] = []
    try:
        for client in servers:
            shared = SharedClient(client)
            tools = [tool for tool in await client.list_tools() if isinstance(tool, MCPTool)]
            made += [MCPToolDefinition(tool, MCPToolExecutor(tool, shared)) for tool in tools]
            if not tools:
                await client.close()
    except BaseException:
        await servers.close()
        raise
    return made
