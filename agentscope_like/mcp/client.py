"""Provides the client of an MCP server."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field, PositiveFloat, PrivateAttr, field_validator, model_validator
from typing_extensions import override

from agentscope_like.exception import ConfigurationError
from agentscope_like.mcp.catalog import Selection
from agentscope_like.mcp.config import HttpMCPConfig, MCPConfig, StdioMCPConfig
from agentscope_like.mcp.elicitation import ElicitationHandler
from agentscope_like.mcp.errors import MCPConnectionError
from agentscope_like.mcp.pins import PinFile, ToolChange
from agentscope_like.mcp.server import Server
from agentscope_like.message import DataBlock, Msg, TextBlock
from agentscope_like.nearest import nearest
from agentscope_like.tool import MCPTool, ToolBase
from agentscope_like.tool.mcp import content_blocks, resource_blocks

if TYPE_CHECKING:
    from mcp_types import Prompt, Resource, Tool

__all__ = ["MCPClient"]

_log = logging.getLogger(__name__)
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_MAX_PAGES = 100


class MCPClient(MCPConfig):
    """An MCP server whose tools a toolkit offers (seed 002, "MCP").

    A stateful client holds one connection from `connect` to `close`, or within `async with`; a
    stateless one, over HTTP only, connects for each request. The tools are listed once and cached
    until the server says that they have changed. If the connection is lost, the next call
    reconnects once; while a server is unavailable, its tools return errors, and nothing else is
    affected.

    Args:
        name: The server's name in this program: letters, digits, `_` and `-`.
        is_stateful: Whether one connection serves every request.
        mcp_config: How to reach the server.
        enable_tools: The tools to offer, by the server's names for them; None for all.
        disable_tools: Tools not to offer.
        execution_timeout: The timeout of a call in seconds. None ends a call that gives no sign of
            life for five minutes; progress that the server reports is one.
        connection_timeout: The timeout of connecting and of listing the tools, in seconds (default
            60, since a package runner may download the server first).
        trust_annotations: Whether to trust the server's hints that a tool only reads or is
            idempotent. Hints that a tool is dangerous always count.
        lock_file: The file of approved definitions, such as `mcp.lock`. With one, a tool is hidden
            from the model, and a call of it always asks, unless its exact definition is approved.
            None turns approval off and hides nothing.
        on_elicitation: Asks a person what the server wants to know before it goes on with a call;
            without it, the server is told that nobody can be asked.

    Raises:
        pydantic.ValidationError: A field is unknown or invalid.
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
    on_elicitation: ElicitationHandler | None = Field(default=None, exclude=True, repr=False)

    _server: Server = PrivateAttr()

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same object, since a client is its connection."""
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
        """Create the object that holds the connection."""
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
            on_elicitation=self.on_elicitation,
        )

    @property
    def is_connected(self) -> bool:
        """Return whether the client is connected; False for a stateless client."""
        return self._server.is_connected

    async def connect(self) -> None:
        """Connect and list the tools; do nothing if connected already or stateless.

        Raises:
            MCPConnectionError: The server cannot be reached; the message has its last output.
            ConfigurationError: A tool to be enabled or disabled is unknown, or the lock file is
                invalid.
        """
        await self._server.connect()

    async def close(self, ignore_errors: bool = True) -> None:
        """Close the connection, and end the server's program with its child processes.

        Args:
            ignore_errors: Whether to ignore errors while closing.

        Raises:
            MCPConnectionError: Closing failed, and errors are not ignored.
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
        """Return a number that changes whenever the result of `list_tools` may change."""
        return self._server.catalog.version

    async def list_tools(self) -> list[ToolBase]:
        """Return the tools as last listed, even if the server is no longer available.

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
        """List the tools again if they may have changed; once in each reply is enough."""
        await self._server.refresh()

    async def list_raw_tools(self) -> list[Tool]:
        """Fetch all tools from the server, and return their definitions unchanged.

        Raises:
            MCPConnectionError: The server cannot be reached, or the client has not been connected.
        """
        self._server.require_wanted()
        return await self._server.fetch()

    async def get_tool(self, name: str) -> MCPTool:
        """Return a tool, by the server's name for it or by `mcp__server__tool`.

        Raises:
            ConfigurationError: There is no such tool.
            MCPConnectionError: The client is stateful and has not been connected; or its tools were
                never listed, and the server cannot be reached.
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

    @property
    def left_out(self) -> dict[str, str]:
        """Return why tools of the server are not offered, by the server's names for them."""
        return dict(self._server.catalog.left_out)

    # Resources and prompts

    async def list_resources(self) -> list[Resource]:
        """Fetch the list of the server's resources.

        Raises:
            MCPConnectionError: The server cannot be reached, or refuses.
        """
        return await self._server.ask(lambda client: _all(client.list_resources, "resources"))

    async def read_resource(self, uri: str) -> list[TextBlock | DataBlock]:
        """Read a resource of the server; its content is not trusted.

        Raises:
            MCPConnectionError: The server cannot be reached, or has no such resource.
        """
        read = await self._server.ask(lambda client: client.read_resource(uri))
        return resource_blocks(read.contents)

    async def list_prompts(self) -> list[Prompt]:
        """Fetch the list of the server's prompts.

        Raises:
            MCPConnectionError: The server cannot be reached, or refuses.
        """
        return await self._server.ask(lambda client: _all(client.list_prompts, "prompts"))

    async def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> list[Msg]:
        """Return the messages of a prompt; their content is not trusted.

        Raises:
            MCPConnectionError: The server cannot be reached, or has no such prompt.
        """
        got = await self._server.ask(lambda client: client.get_prompt(name, arguments))
        return [
            Msg(name=self.name, role=each.role, content=list(content_blocks([each.content])))
            for each in got.messages
        ]

    # Approving

    @property
    def unapproved(self) -> tuple[ToolChange, ...]:
        """Return the definitions that the lock file does not approve."""
        return self._server.catalog.changes

    async def approve(self, changes: Iterable[ToolChange]) -> None:
        """Approve definitions exactly as reviewed, and offer their tools again.

        Args:
            changes: Results of `unapproved`.

        Raises:
            ConfigurationError: There is no lock file, or it is invalid.
        """
        await self._server.approve(changes)


async def _all(fetch: Callable[..., Awaitable[Any]], field: str) -> list[Any]:
    """Return what a server lists, page by page."""
    found, cursor = list[Any](), None
    for _ in range(_MAX_PAGES):
        page = await fetch(cursor=cursor)
        found += getattr(page, field)
        cursor = page.next_cursor
        if cursor is None:
            break
    return found
