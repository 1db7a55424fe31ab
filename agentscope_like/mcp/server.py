"""Manages the connection to a server and its tools, and reconnects when needed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from agentscope_like.exception import ConfigurationError
from agentscope_like.mcp.catalog import Catalog, Selection
from agentscope_like.mcp.config import HttpMCPConfig, StdioMCPConfig
from agentscope_like.mcp.elicitation import (
    Elicitation,
    ElicitationAnswer,
    ElicitationHandler,
)
from agentscope_like.mcp.errors import ConnectionLostError, MCPCallError, MCPConnectionError
from agentscope_like.mcp.home_loop import at_home
from agentscope_like.mcp.pins import PinFile, ToolChange

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult, Tool

    from agentscope_like.mcp.connection import Connection, Era

__all__ = ["DEFAULT_SILENCE", "Server"]

_log = logging.getLogger(__name__)
ResultT = TypeVar("ResultT")

DEFAULT_SILENCE = 300.0
"""How many seconds a call may give no sign of life, where no timeout is given."""

_REFRESH_TIMEOUT = 10.0


class Server:
    """A server, its connection and its tools.

    Args:
        name: Its name in this program.
        config: How to reach it.
        is_stateful: Whether one connection serves every request; else each request opens one.
        selection: Which of its tools are offered.
        connection_timeout: The timeout of connecting and of listing the tools, in seconds.
        execution_timeout: The timeout of a call in seconds; None for `DEFAULT_SILENCE` without a
            sign of life.
        trust_annotations: Whether the server's hints may loosen a decision.
        pins: The approved definitions; None if no approval is needed.
        on_elicitation: Asks a person what the server wants to know; None if nobody can be asked.

    Attributes:
        home_loop: The event loop of the connection, on which all that needs it runs; None without.
        catalog: The tools.
    """

    def __init__(
        self,
        name: str,
        config: StdioMCPConfig | HttpMCPConfig,
        *,
        is_stateful: bool,
        selection: Selection,
        connection_timeout: float,
        execution_timeout: float | None,
        trust_annotations: bool,
        pins: PinFile | None,
        on_elicitation: ElicitationHandler | None = None,
    ) -> None:
        self._name = name
        self._config = config
        self._is_stateful = is_stateful
        self._connection_timeout = connection_timeout
        self._pins = pins
        self._on_elicitation = on_elicitation
        self._era: Era | None = None
        self._is_wanted = not is_stateful
        self._is_stale = False
        self._is_out_of_date = False
        self._listed: list[Tool] = []
        self.forget_connection()
        self.catalog = Catalog(
            name,
            selection,
            session_for=lambda digest: _ToolCalls(self, digest),
            timeout=execution_timeout,
            trust_annotations=trust_annotations,
        )

    @property
    def is_connected(self) -> bool:
        """Return whether there is an open connection."""
        return self._connection is not None and self._connection.is_open

    # Coming and going

    def forget_connection(self) -> None:
        """Forget a connection that has ended with its event loop."""
        self._connection: Connection | None = None
        self.home_loop: asyncio.AbstractEventLoop | None = None
        self._connecting = asyncio.Lock()
        self._listing = asyncio.Lock()

    @at_home
    async def connect(self) -> None:
        """Connect and list the tools, unless connected already.

        Raises:
            MCPConnectionError: The server cannot be reached.
            ConfigurationError: The configuration does not fit the server, or the lock file is
                invalid.
        """
        if not self._is_stateful or self.is_connected:
            return
        self._is_wanted = True
        self.home_loop = asyncio.get_running_loop()
        try:
            await self._reconnect()
            await self.fetch()
        except BaseException:
            await self.close()
            raise

    @at_home
    async def close(self, *, ignore_errors: bool = True) -> None:
        """Close the connection; running calls end with an error.

        Raises:
            MCPConnectionError: Closing failed, and errors are not ignored.
        """
        self._is_wanted = not self._is_stateful
        connection, self._connection = self._connection, None
        self.home_loop = None
        if connection is None:
            return
        was_open = connection.is_open
        await connection.close()
        if was_open and connection.failure is not None and not ignore_errors:
            raise MCPConnectionError(
                f"the MCP server {self._name!r} did not close properly: {connection.failure!r}"
            ) from connection.failure

    def require_wanted(self) -> None:
        """Raise an error unless the program has connected.

        Raises:
            MCPConnectionError: It has not connected, or it has closed the connection.
        """
        if not self._is_wanted:
            raise MCPConnectionError(
                f"the MCP server {self._name!r} is not connected: `await client.connect()` first"
            )

    async def _reconnect(self) -> None:
        """Reconnect, unless another task has just done so."""
        async with self._connecting:
            if self.is_connected:
                return
            if self._connection is not None:
                await self._connection.close()
            self.home_loop = asyncio.get_running_loop()
            opened = await self._opened(listens=True)
            if not self._is_wanted:
                await opened.close()
                raise MCPConnectionError(f"the MCP server {self._name!r} was closed meanwhile")
            self._connection, self._is_stale = opened, True

    async def _opened(self, *, listens: bool) -> Connection:
        module = await asyncio.to_thread(import_module, "agentscope_like.mcp.connection")
        connection: Connection = module.Connection(
            self._config,
            on_tools_changed=self._tools_changed,
            era=self._era,
            listens=listens,
            ask_person=None if self._on_elicitation is None else self._ask_person,
        )
        try:
            await connection.open(self._connection_timeout)
        except Exception as error:
            raise MCPConnectionError(
                f"the MCP server {self._name!r} cannot be reached: "
                f"{self._told(error)}{connection.clues}"
            ) from error
        return connection

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[Connection]:
        """Give an open connection; a new one if the client is stateless."""
        if self._is_stateful:
            if not self.is_connected:
                await self._reconnect()
            if self._connection is None:
                raise MCPConnectionError(f"the MCP server {self._name!r} was closed")
            yield self._connection
            return
        connection = await self._opened(listens=False)
        try:
            self._era = connection.era  # need not be agreed upon again, as long as all goes well
            yield connection
        except BaseException:
            self._era = None
            raise
        finally:
            await connection.close()

    async def _ask_person(
        self, message: str, schema: dict[str, Any] | None, url: str | None
    ) -> ElicitationAnswer:
        if self._on_elicitation is None:
            return ElicitationAnswer("decline")
        return await self._on_elicitation(Elicitation(self._name, message, schema, url))

    @at_home
    async def ask(self, request: Callable[[Client], Awaitable[ResultT]]) -> ResultT:
        """Send another request than a call, and return its result.

        Raises:
            MCPConnectionError: The server cannot be reached, did not answer, or refused.
        """
        self.require_wanted()
        try:
            async with asyncio.timeout(self._connection_timeout), self._session() as session:
                return await session.ask(request)
        except MCPConnectionError:
            raise
        except Exception as error:
            raise MCPConnectionError(
                f"the MCP server {self._name!r} does not answer: {self._told(error)}"
            ) from error

    # Tools

    def _tools_changed(self) -> None:
        self._is_stale = True

    @at_home
    async def fetch(self) -> list[Tool]:
        """Fetch the tools from the server and cache them.

        Raises:
            MCPConnectionError: The server cannot be reached, or its answer is invalid.
            ConfigurationError: As `connect`.
        """
        async with self._listing:
            self._is_stale = False  # what is heard from now on may come after the answer
            try:
                listed = await self._list()
                await self._remember(listed)
            except BaseException:
                self._is_stale = True
                raise
            return listed

    @at_home
    async def refresh(self) -> None:
        """Fetch the tools if they may have changed; after a failure, keep the known ones."""
        connection = self._connection
        if self._is_stateful and (
            connection is None
            or not connection.is_open
            or not (self._is_stale or connection.misses_changes)
        ):
            return
        try:
            async with asyncio.timeout(_REFRESH_TIMEOUT):
                await self.fetch()
        except (MCPConnectionError, ConfigurationError, TimeoutError) as error:
            if not self._is_out_of_date:  # said once, not in each reply
                _log.warning("the tools of %r may be out of date: %s", self._name, error)
            self._is_out_of_date = True
        else:
            self._is_out_of_date = False

    @at_home
    async def approve(self, changes: Iterable[ToolChange]) -> None:
        """Approve these definitions, and offer their tools again.

        Raises:
            ConfigurationError: There is no lock file, it is invalid, or a change belongs to another
                server.
        """
        changes = list(changes)
        if self._pins is None:
            raise ConfigurationError(
                f"the MCP server {self._name!r} has no lock file to approve in: give `lock_file=`"
            )
        for change in changes:
            if change.server != self._name:
                raise ConfigurationError(
                    f"{change.tool!r} is a tool of {change.server!r}, not of {self._name!r}"
                )
        await asyncio.to_thread(self._pins.approve, changes)
        if self.catalog.is_filled:
            async with self._listing:
                await self._remember(self._listed)

    async def _list(self) -> list[Tool]:
        try:
            async with asyncio.timeout(self._connection_timeout), self._session() as session:
                return await session.list_tools()
        except MCPConnectionError:
            raise
        except Exception as error:
            raise MCPConnectionError(
                f"the MCP server {self._name!r} does not list its tools: {self._told(error)}"
            ) from error

    async def _remember(self, listed: list[Tool]) -> None:
        pins = None
        if self._pins is not None:
            pins = await asyncio.to_thread(self._pins.pins, self._name)
        self.catalog.update(listed, pins)
        self._listed = listed

    # Calls

    @at_home
    async def call(
        self, name: str, arguments: dict[str, Any], seconds: float | None, *, digest: str
    ) -> CallToolResult:
        """Call a tool; if the connection is lost, reconnect once.

        A call that the server may have received is only sent again if that is harmless.

        Args:
            name: The server's name for the tool.
            arguments: Its arguments.
            seconds: The timeout of the answer; None for `DEFAULT_SILENCE` without a sign of life.
            digest: The digest of the definition for which the call was decided.

        Raises:
            MCPCallError: The server cannot be reached, disconnected, or has changed the definition.
            MCPError: The server answered with an error, or too late.
        """
        may_reconnect = self.is_connected
        try:
            return await self._call_once(name, arguments, seconds, digest=digest)
        except ConnectionLostError as lost:
            tool = self.catalog.find(name)
            is_harmless = not lost.may_have_run or (tool is not None and tool.is_idempotent)
            if not (may_reconnect and is_harmless):
                raise self._lost(name, lost) from lost
            may_have_run = lost.may_have_run
        try:
            return await self._call_once(name, arguments, seconds, digest=digest)
        except ConnectionLostError as lost:
            raise self._lost(name, lost, may_have_run=may_have_run) from lost
        except MCPCallError as error:
            if may_have_run:  # the first time
                raise self._lost(name, None, may_have_run=True) from error
            raise

    async def _call_once(
        self, name: str, arguments: dict[str, Any], seconds: float | None, *, digest: str
    ) -> CallToolResult:
        if not self._is_wanted:
            raise MCPCallError(f"The MCP server {self._name!r} was closed: use other tools.")
        is_sent = False
        try:
            async with self._session() as session:
                if self._is_stateful and self._is_stale:
                    await self.fetch()
                self._check_same(name, digest)
                is_sent = True
                limit = DEFAULT_SILENCE if seconds is None else seconds
                return await session.call_tool(name, arguments, limit, renews=seconds is None)
        except (MCPConnectionError, ConfigurationError) as error:
            _log.warning("a call of %r failed: %s", name, error)
            if is_sent:
                raise self._lost(name, None, may_have_run=True) from error
            raise self._away(name, error.__cause__ or error) from error

    def _check_same(self, name: str, digest: str) -> None:
        """Refuse a call that was decided for another definition."""
        found = self.catalog.digest(name)
        if found == digest:
            return
        what = "no longer offers it" if found is None else "has changed its definition"
        raise MCPCallError(
            f"{name!r} was not called: the MCP server {self._name!r} {what} since the call was "
            "decided. Look at the current tools, and call again."
        )

    def _lost(
        self, name: str, lost: ConnectionLostError | None, *, may_have_run: bool = False
    ) -> MCPCallError:
        if lost is not None and not (lost.may_have_run or may_have_run):
            return self._away(name, lost)
        return MCPCallError(
            f"The connection to the MCP server {self._name!r} was lost; it is not known whether "
            f"{name!r} had any effect: look before calling it again."
        )

    def _away(self, name: str, reason: BaseException) -> MCPCallError:
        return MCPCallError(
            f"The MCP server {self._name!r} is unavailable, so {name!r} was not called: "
            f"{self._told(reason)}. Its tools cannot be used for now; a later call tries to reach "
            "it again. Go on with other tools, or tell the user."
        )

    def _told(self, error: BaseException) -> str:
        if isinstance(error, TimeoutError):
            return f"it did not answer within {self._connection_timeout:g} s"
        if isinstance(error, FileNotFoundError) and isinstance(self._config, StdioMCPConfig):
            return f"its program {self._config.command!r}, or its directory, was not found"
        if isinstance(error, ConnectionLostError):
            return "the connection ended before it answered"
        return f"{type(error).__name__}: {error}".rstrip(": ")


class _ToolCalls:
    """Sends the calls of one tool, with the definition from when it was listed."""

    def __init__(self, server: Server, digest: str) -> None:
        self._server = server
        self._digest = digest

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        read_timeout_seconds: float | None = None,
    ) -> CallToolResult:
        seconds = read_timeout_seconds
        return await self._server.call(name, arguments or {}, seconds, digest=self._digest)
