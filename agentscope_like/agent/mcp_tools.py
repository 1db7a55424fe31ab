"""Adds the tools of configured MCP servers to the toolkit of an agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agentscope_like.exception import ConfigurationError
from agentscope_like.tool import Toolkit

if TYPE_CHECKING:
    from agentscope_like.mcp import MCPServers

__all__ = ["toolkit_with_servers"]


def toolkit_with_servers(
    toolkit: Toolkit,
    config: Mapping[str, Any] | MCPServers | None,
    variables: Sequence[str],
) -> tuple[Toolkit, MCPServers | None]:
    """Return the toolkit with the tools of these MCP servers, and the servers.

    Args:
        toolkit: The toolkit; it is not changed, since other agents may share it.
        config: The servers; None for none.
        variables: The environment variables that `${NAME}` in the configuration may stand for.

    Raises:
        ConfigurationError: The configuration is not valid, or a server has the name of a source of
            the toolkit.
    """
    if config is None:
        if variables:
            raise ConfigurationError("`mcp_variables` are for `mcp_config`, which is not given")
        return toolkit, None
    from agentscope_like.mcp import MCPServers  # most agents need neither
    from agentscope_like.typed.mcp import MCPToolSource

    if not isinstance(config, MCPServers):
        servers = MCPServers(config, variables=variables)
    elif variables:
        raise ConfigurationError(
            "`mcp_variables` was given beside `MCPServers`: name them there, "
            f"`MCPServers(config, variables={list(variables)!r})`"
        )
    else:
        servers = config
    return toolkit.with_sources([MCPToolSource(client) for client in servers]), servers
