"""Defines `MCPServers`, the clients of a configuration's servers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import ValidationError

from agentscope_like.exception import ConfigurationError
from agentscope_like.mcp.client import MCPClient
from agentscope_like.mcp.configured.reading import ConfiguredServer, read_servers
from agentscope_like.mcp.elicitation import ElicitationHandler
from agentscope_like.strict_json import read_json

__all__ = ["MCPServers"]

_log = logging.getLogger(__name__)


class MCPServers:
    """The clients of the servers that a configuration names (seed 004, "MCP Server Configuration").

    Nothing is started before `connect`.

    Args:
        config: The servers in the form that clients share, `{"mcpServers": {NAME: SERVER}}`: see
            `read_servers`.
        variables: The environment variables that `${NAME}` in the configuration may stand for.
        environ: Their values; by default, those of this process.
        trust_annotations: Whether to trust the servers' hints that a tool only reads or is
            idempotent, as for `MCPClient`; here they are not trusted by default.
        lock_file: The file of approved definitions, as for `MCPClient`.
        on_elicitation: Asks a person what a server wants to know, as for `MCPClient`.

    Attributes:
        clients: The clients, not connected yet, without those of disabled servers.
        disabled: The names of the disabled servers.

    Raises:
        ConfigurationError: The configuration is not valid.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        *,
        variables: Collection[str] = (),
        environ: Mapping[str, str] | None = None,
        trust_annotations: bool = False,
        lock_file: str | Path | None = None,
        on_elicitation: ElicitationHandler | None = None,
    ) -> None:
        servers = read_servers(config, variables, environ)
        options = {
            "is_stateful": True,
            "trust_annotations": trust_annotations,
            "lock_file": lock_file,
            "on_elicitation": on_elicitation,
        }
        self.clients = tuple(_client(one, options) for one in servers if not one.is_disabled)
        self.disabled = tuple(one.name for one in servers if one.is_disabled)

    @classmethod
    def from_file(cls, path: str | Path, **options: Any) -> Self:
        """Return the servers of a JSON file, such as a project's `.mcp.json`.

        Args:
            path: The file. Its servers run as programs of this user: read only files of whose
                content a person approves.
            **options: As for the class.

        Raises:
            ConfigurationError: The file cannot be read, or is not valid.
        """
        try:
            config = read_json(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise ConfigurationError(f"{path} cannot be read as MCP servers: {error}") from error
        return cls(config, **options)

    def __iter__(self) -> Iterator[MCPClient]:
        return iter(self.clients)

    def __len__(self) -> int:
        return len(self.clients)

    async def connect(self) -> None:
        """Connect to all servers at once; if one cannot be reached, to none.

        Raises:
            MCPConnectionError: A server cannot be reached.
            ConfigurationError: As `MCPClient.connect`.
        """
        try:
            done = await asyncio.gather(*(one.connect() for one in self), return_exceptions=True)
            failed = next((error for error in done if isinstance(error, BaseException)), None)
            if failed is not None:
                raise failed
        except BaseException:
            await self.close()
            raise

    async def connect_available(self) -> dict[str, Exception]:
        """Connect to the servers that can be reached, and log the others.

        Returns:
            Why servers could not be reached, by their names.
        """
        done = await asyncio.gather(*(one.connect() for one in self), return_exceptions=True)
        failed = {
            client.name: error
            for client, error in zip(self, done, strict=True)
            if isinstance(error, Exception)
        }
        for error in failed.values():
            _log.warning("%s", error)
        return failed

    async def close(self) -> None:
        """Close the connections to all servers, and end those that are programs."""
        await asyncio.gather(*(one.close() for one in self))

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.close()


def _client(server: ConfiguredServer, options: Mapping[str, Any]) -> MCPClient:
    fields = {
        "name": server.name,
        "mcp_config": server.config,
        "execution_timeout": server.timeout,
    }
    try:
        return MCPClient.model_validate({**fields, **options})
    except ValidationError as error:
        told = "; ".join(one["msg"] for one in error.errors(include_input=False))
    raise ConfigurationError(f"the MCP server {server.name!r} is not valid: {told}")
