"""The client of an MCP server."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field, PositiveFloat, PrivateAttr, field_validator, model_validator
from typing_extensions import override

from agentscope_like.exception import ConfigurationError
from agentscope_like.mcp.catalog import Selection
from agentscope_like.mcp.config import HttpMCPConfig, MCPConfig, StdioMCPConfig
from agentscope_like.mcp.errors import MCPConnectionError
from agentscope_like.mcp.pins import PinFile, ToolChange
from agentscope_like.mcp.server import Server
from agentscope_like.nearest import nearest
from agentscope_like.tool import MCPTool, ToolBase

if TYPE_CHECKING:
    from mcp_types import Tool

__all__ = ["MCPClient"]

_log = logging.getLogger(__name__)
_NAME = re.compile(r"[A-Za-z0-9_-]+")


class MCPClient(MCPConfig):
    """A server whose tools a toolkit offers (seed 002, "MCP").

    A stateful client holds one connection from `connect` to `close`, or within `async with`; a
    stateless one, over HTTP only, connects for each request. The tools are listed once and kept,
    until the server says that they have changed. Where the connection is lost, the next call
    connects anew, once; a server that stays away makes its tools answer with an error, and nothing
    else is affected.

    Args:
        name: The server's name in this program: letters, digits, `_` and `-`.
        is_stateful: Whether one connection serves every request.
        mcp_config: Where the server is.
        enable_tools: Offer only these, by the server's names for them; None for all.
        disable_tools: Do not offer these.
        execution_timeout: Seconds that a call may take; None for half an hour.
        connection_timeout: Seconds that connecting, and listing the tools, may take (default 60: a
            package runner may fetch the server first).
        trust_annotations: Whether the server is believed when it says that a tool only reads, or
            may be called twice without harm. What it says of a tool's dangers always counts.
        lock_file: The file that holds what was approved, such as `mcp.lock`. With one, a tool is
            hidden from the model, and a call of it always asks, unless its definition is approved
            as it stands. None approves nothing and hides nothing.

    Raises:
        pydantic.ValidationError: A field is unknown or cannot work.
    """

    name: str
    is_stateful: bool
    mcp_config: Annotated[StdioMCPConfig | HttpMCPConfig, Field(discriminator="type")]
    enable_tools: list[str] | None = None
    disable_tools: list[str] | None = None
    execution_timeout: PositiveFloat | None = None
    connection_timeout: PositiveFloat = 60.0
    trust_annotations: bool = True
    lock_file: Path | None = None

    _server: Server = PrivateAttr()

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        """Return whether this is the other: a client is its connection, not its fields."""
        return self is other

    @field_validator("name")
    @classmethod
    def _can_be_told(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"the server name {name!r} becomes a part of tool names: use letters, digits, `_` "
                "and `-`"
            )
        return name

    @model_validator(mode="after")
    def _can_be_stateless(self) -> Self:
        if not self.is_stateful and isinstance(self.mcp_config, StdioMCPConfig):
            raise ValueError(
                f"the server {self.name!r} is a program, which lives as long as its connection: "
                "give `is_stateful=True`"
            )
        return self

    @override
    def model_post_init(self, context: Any, /) -> None:
        """Make what holds the connection."""
        self._server = Server(
            self.name,
            self.mcp_config,
            is_stateful=self.is_stateful,
            selection=Selection(
                None if self.enable_tools is None else tuple(self.enable_tools),
                tuple(self.disable_tools or ()),
            ),
            connection_timeout=self.connection_timeout,
            execution_timeout=self.execution_timeout,
            trust_annotations=self.trust_annotations,
            pins=None if self.lock_file is None else PinFile(self.lock_file),
        )

    @property
    def is_connected(self) -> bool:
        """Return whether a connection stands; never of a stateless client."""
        return self._server.is_connected

    async def connect(self) -> None:
        """Connect and list the tools; does nothing where that was done, or where it is stateless.

        Raises:
            MCPConnectionError: The server cannot be reached; the message has its last words.
            ConfigurationError: A tool to be enabled or disabled is unknown, or the lock file is
                broken.
        """
        await self._server.connect()

    async def close(self, ignore_errors: bool = True) -> None:
        """Close the connection; the server's program, and all that it started, is ended.

        Args:
            ignore_errors: Whether a connection that does not close in order is no failure.

        Raises:
            MCPConnectionError: It did not, and that is not to be ignored.
        """
        await self._server.close(ignore_errors=ignore_errors)

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

    # A source of tools

    @property
    def version(self) -> int:
        """Return a number that changes whenever `list_tools` may return something else."""
        return self._server.catalog.version

    async def list_tools(self) -> list[ToolBase]:
        """Return the tools as they were last listed, also where the server has gone away.

        Raises:
            MCPConnectionError: The client is stateful and has not been connected.
            ConfigurationError: A stateless client's first listing: as `connect`.
        """
        self._server.require_wanted()
        if not self._server.catalog.is_filled:
            try:
                await self._server.fetch()
            except MCPConnectionError as error:
                _log.warning("no tools: %s", error)
        return list(self._server.catalog.tools)

    async def refresh(self) -> None:
        """List the tools anew where they may have changed: once for each reply is enough."""
        await self._server.refresh()

    async def list_raw_tools(self) -> list[Tool]:
        """Ask the server for all its tools, and return their definitions as it gives them.

        Raises:
            MCPConnectionError: The server cannot be reached, or the client has not been connected.
        """
        self._server.require_wanted()
        return await self._server.fetch()

    async def get_tool(self, name: str) -> MCPTool:
        """Return a tool, by the server's name for it or by `mcp__server__tool`.

        Raises:
            ConfigurationError: There is none.
            MCPConnectionError: The client is stateful and has not been connected; or it was never
                asked for its tools, and cannot be reached.
        """
        self._server.require_wanted()
        if not self._server.catalog.is_filled:
            await self._server.fetch()
        found = self._server.catalog.find(name)
        if found is None:
            known = [tool.name for tool in self._server.catalog.tools]
            raise ConfigurationError(
                f"the MCP server {self.name!r} offers no tool {name!r}{nearest(name, known)}"
            )
        return found

    # Approving

    @property
    def unapproved(self) -> tuple[ToolChange, ...]:
        """Return the definitions that the lock file does not approve as they stand."""
        return self._server.catalog.changes

    async def approve(self, changes: Iterable[ToolChange]) -> None:
        """Approve definitions, exactly as they were reviewed, and offer the tools again.

        Args:
            changes: Of `unapproved`.

        Raises:
            ConfigurationError: There is no lock file, or it is broken.
        """
        await self._server.approve(changes)
