"""Builds clients from server parameters as Sage's documents describe them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from agentscope_like.exception import ConfigurationError
from agentscope_like.mcp.client import MCPClient
from agentscope_like.mcp.config import HttpMCPConfig, StdioMCPConfig, Transport
from agentscope_like.tool import ToolBase

if TYPE_CHECKING:
    from mcp import StdioServerParameters

__all__ = [
    "ClientSource",
    "ServerParameters",
    "SseServerParameters",
    "StreamableHttpServerParameters",
    "client_of",
]


class SseServerParameters(HttpMCPConfig):
    """A server that uses server-sent events, whatever its path (seed 000, 5.2)."""

    @property
    def transport(self) -> Transport:
        """Return how messages travel."""
        return Transport.SSE


class StreamableHttpServerParameters(HttpMCPConfig):
    """A server that uses streamable HTTP, whatever its path (seed 000, 5.2)."""

    @property
    def transport(self) -> Transport:
        """Return how messages travel."""
        return Transport.STREAMABLE_HTTP


ServerParameters: TypeAlias = "StdioMCPConfig | HttpMCPConfig | StdioServerParameters"
"""How to reach a server; `StdioServerParameters` is the class of the package `mcp`."""


def client_of(name: str, params: ServerParameters) -> MCPClient:
    """Return a stateful client of the server, not connected yet.

    Args:
        name: The server's name in this program.
        params: How to reach it.

    Raises:
        ConfigurationError: The parameters have the wrong type, or are not supported.
        pydantic.ValidationError: The name cannot be part of a tool name.
    """
    config = params if isinstance(params, StdioMCPConfig | HttpMCPConfig) else _converted(params)
    return MCPClient(name=name, is_stateful=True, mcp_config=config)


def _converted(params: object) -> StdioMCPConfig:
    """Return the parameters of the MCP library as a configuration.

    Raises:
        ConfigurationError: They have the wrong type, or another encoding than the protocol's.
    """
    from mcp import StdioServerParameters  # loaded already, if these are parameters of it

    if not isinstance(params, StdioServerParameters):
        raise ConfigurationError(
            f"{params!r} does not say where an MCP server is: give StdioServerParameters, "
            "SseServerParameters or StreamableHttpServerParameters"
        )
    if params.encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
        raise ConfigurationError(
            f"an MCP server speaks UTF-8, not {params.encoding!r}: leave `encoding` out"
        )
    return StdioMCPConfig(
        command=params.command,
        args=params.args,
        env=params.env,
        cwd=params.cwd,
        encoding_error_handler=params.encoding_error_handler,
    )


class ClientSource:
    """A source of tools that connects its client when the tools are first listed.

    Args:
        client: The client.
    """

    def __init__(self, client: MCPClient) -> None:
        self._client = client
        self._has_connected = False

    @property
    def name(self) -> str:
        """Return the server's name."""
        return self._client.name

    @property
    def version(self) -> int:
        """Return a number that changes whenever the result of `list_tools` may change."""
        return self._client.version

    async def list_tools(self) -> list[ToolBase]:
        """Return the tools as last listed.

        Raises:
            MCPConnectionError: The server cannot be reached, or the client was closed.
            ConfigurationError: As `MCPClient.connect`.
        """
        if not self._has_connected:
            await self._client.connect()
            self._has_connected = True
        return await self._client.list_tools()

    async def refresh(self) -> None:
        """List the tools again if they may have changed."""
        await self._client.refresh()
