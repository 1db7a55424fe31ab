"""Defines `MCPTool`, a tool of an MCP server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import ValidationError
from typing_extensions import override

from agentscope_like.exception import AgentOrientedException, ConfigurationError
from agentscope_like.message import ToolChunk
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
)
from agentscope_like.tool.base import ToolBase, check_schema
from agentscope_like.tool.mcp.content import to_chunk
from agentscope_like.tool.mcp.definition import definition_of, digest_of
from agentscope_like.tool.mcp.tool_name import mcp_tool_name

if TYPE_CHECKING:
    from mcp_types import CallToolResult, Tool

__all__ = ["MCPSession", "MCPTool"]


class MCPSession(Protocol):
    """The interface that sends calls; `ClientSession` and `Client` of the MCP library have it."""

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        read_timeout_seconds: float | None = None,
    ) -> CallToolResult:
        """Call the tool, by the server's name for it, and return its result."""


class MCPTool(ToolBase):
    """A tool that a server offers (seed 002, "MCP"), created by `MCPClient.list_tools`.

    The server's hints are only claims: they can make a call ask, and, if trusted, make it count as
    read-only in the modes that run reads; in DEFAULT every call asks unless an allow rule matches
    (seed 002, "MCP").

    Args:
        mcp_name: The name of the server in this program.
        tool: The tool's definition, as the server gave it.
        client_gen: Creates a transport to the server for each call; instead of `session`.
        session: Sends the calls.
        timeout: The timeout of a call in seconds; None for the session's own.
        middlewares: Layers around the call; the first is the outermost.
        trust_annotations: Whether `readOnlyHint` and `idempotentHint` count. A destructive hint
            always counts.
        drift: How the definition differs from the approved one; None if it does not. If it does,
            each call is a safety ASK, and the model does not see the tool.

    Attributes:
        is_hidden: Whether the model does not see the tool; a call of it is still decided.

    Raises:
        ConfigurationError: Neither or both of `session` and `client_gen` are given; or the input
            schema does not describe an object.
    """

    is_mcp = True
    is_concurrency_safe = False

    def __init__(
        self,
        mcp_name: str,
        tool: Tool,
        client_gen: Callable[[], AbstractAsyncContextManager[Any]] | None = None,
        session: MCPSession | None = None,
        timeout: float | None = None,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
        *,
        trust_annotations: bool = True,
        drift: Sequence[str] | None = None,
    ) -> None:
        super().__init__(middlewares)
        if (client_gen is None) == (session is None):
            raise ConfigurationError(
                f"the MCP tool {tool.name!r} needs a session or a client_gen, one of the two"
            )
        self.mcp_name = mcp_name
        self.name = mcp_tool_name(mcp_name, tool.name)
        self.description = tool.description or tool.title or ""
        self.input_schema = _object_schema(tool)
        self.is_hidden = drift is not None
        claims = tool.annotations
        trusted = claims if trust_annotations and drift is None else None
        self._is_destructive = claims is not None and claims.destructive_hint is True
        self.is_read_only = bool(trusted and trusted.read_only_hint) and not self._is_destructive
        self.is_idempotent = self.is_read_only or bool(trusted and trusted.idempotent_hint)
        self._tool = tool
        self._digest = digest_of(definition_of(tool))
        self._drift = drift
        self._client_gen = client_gen
        self._session = session
        self._timeout = timeout

    @property
    def definition(self) -> Tool:
        """Return the definition, as the server gave it."""
        return self._tool

    @override
    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Return a safety ASK for a definition that is not approved; else no opinion.

        A destructive hint is an ASK, which an allow rule overrides.
        """
        del tool_input, context
        if self._drift is not None:
            return PermissionDecision(
                PermissionBehavior.ASK,
                f"{self.name} is not the tool that was approved: "
                "its server has changed its definition.",
                decision_reason="; ".join(self._drift) or None,
                bypass_immune=True,
            )
        if self._is_destructive:
            message = f"The MCP server {self.mcp_name!r} says that {self.name} may destroy data."
            return PermissionDecision(PermissionBehavior.ASK, message)
        return PermissionDecision(PermissionBehavior.PASSTHROUGH, "")

    @override
    def decision_basis(self, tool_input: dict[str, Any]) -> str | None:
        """Return the digest of the definition: a decision is only valid for this definition."""
        del tool_input
        return self._digest

    @override
    async def call(self, /, **kwargs: Any) -> ToolChunk:
        """Call the tool on its server.

        Args:
            **kwargs: The arguments.

        Raises:
            AgentOrientedException: The server refused the call, did not answer in time, or is
                unavailable.
        """
        if self._session is not None:
            return to_chunk(await self._call_within(self._session, kwargs))
        from mcp import Client

        if self._client_gen is None:
            raise ConfigurationError(f"{self.name} has lost its client_gen")
        async with Client(self._client_gen()) as client:
            return to_chunk(await self._call_within(client, kwargs))

    async def _call_within(self, session: MCPSession, arguments: dict[str, Any]) -> CallToolResult:
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        asked = f"The MCP server {self.mcp_name!r}, asked to run {self.name},"
        try:
            return await session.call_tool(
                self._tool.name, arguments, read_timeout_seconds=self._timeout
            )
        except MCPError as error:
            if error.code == REQUEST_TIMEOUT:
                within = "in time" if self._timeout is None else f"within {self._timeout:g} s"
                told = (
                    f"{asked} did not answer {within}. It was told to stop; it is not known "
                    "whether the call had any effect."
                )
            else:
                told = f"{asked} answered with an error: {error.message} (code {error.code})."
                if error.code == CONNECTION_CLOSED:
                    told += " It is not known whether the call had any effect."
            raise AgentOrientedException(told) from error
        except ValidationError as error:
            raise AgentOrientedException(
                f"{asked} answered with something that is not a call result; the call may have had "
                "its effect."
            ) from error


def _object_schema(tool: Tool) -> dict[str, Any]:
    """Return the server's schema; add `type: object` if it is missing."""
    schema = {"type": "object", "properties": {}, **tool.input_schema}
    check_schema(f"the MCP tool {tool.name!r}", schema)
    return schema
