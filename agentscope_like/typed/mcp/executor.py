"""Defines `MCPToolExecutor`, which calls a tool on its MCP server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from typing_extensions import override

from agentscope_like.exception import AgentOrientedException
from agentscope_like.message import ToolResultState
from agentscope_like.typed.executor import ToolConversation, ToolExecutor
from agentscope_like.typed.mcp.action import MCPToolAction
from agentscope_like.typed.mcp.observation import MCPToolObservation

if TYPE_CHECKING:
    from agentscope_like.mcp import MCPClient
    from agentscope_like.tool import MCPTool

__all__ = ["MCPToolExecutor", "SharedClient"]


class SharedClient:
    """A connected client that several executors use; the last one closes it.

    Args:
        client: The client, connected on the running event loop.
    """

    def __init__(self, client: MCPClient) -> None:
        self.loop = asyncio.get_running_loop()
        self._client = client
        self._users = 0

    def join(self) -> None:
        """Count a further user."""
        self._users += 1

    async def leave(self) -> None:
        """Count a user less, and close the client after the last one."""
        self._users -= 1
        if self._users <= 0:
            await self._client.close()


class MCPToolExecutor(ToolExecutor[MCPToolAction, MCPToolObservation]):
    """Calls a tool on its server (seed 004), with the time limits of its client.

    Args:
        tool: The tool, as its client offers it.
        client: The client to close with the executors that use it; None if somebody else does.
    """

    def __init__(self, tool: MCPTool, client: SharedClient | None = None) -> None:
        self._tool = tool
        self._client = client
        if client is not None:
            client.join()

    @override
    async def __call__(  # type: ignore[override]  # a coroutine function, which the base allows
        self, action: MCPToolAction, conversation: ToolConversation | None = None
    ) -> MCPToolObservation:
        """Call the tool; an error of the server or of the connection is an observation.

        Args:
            action: The arguments.
            conversation: Not used.
        """
        del conversation
        try:
            chunk = await self._tool.call(**action.data)
        except AgentOrientedException as error:
            return MCPToolObservation.from_text(
                error.message, is_error=True, tool_name=self._tool.name
            )
        return MCPToolObservation(
            content=tuple(chunk.content),
            is_error=chunk.state is ToolResultState.ERROR,
            tool_name=self._tool.name,
        )

    async def aclose(self) -> None:
        """Leave the client, which is closed if no other executor uses it."""
        client, self._client = self._client, None
        if client is not None:
            await client.leave()

    @override
    def close(self) -> None:
        """Do as `aclose`, and wait for it unless this thread runs the client's event loop."""
        client, self._client = self._client, None
        if client is None or client.loop.is_closed():
            return
        leaving = asyncio.run_coroutine_threadsafe(client.leave(), client.loop)
        if not _is_running(client.loop):
            leaving.result()


def _is_running(loop: asyncio.AbstractEventLoop) -> bool:
    """Return whether this thread runs the loop."""
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False
