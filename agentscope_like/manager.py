"""The tools of a process: what modules declare, what is registered, and what servers offer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any

from agentscope_like.mcp import MCPClient
from agentscope_like.mcp.parameters import ClientSource, ServerParameters, client_of
from agentscope_like.middleware import OutputStore, TokenCounter
from agentscope_like.middleware.truncate import TOKEN_LIMIT
from agentscope_like.tool import DecisionLayer, ToolBase, ToolSource
from agentscope_like.tool.group import BASIC
from agentscope_like.tool.make import DeclaredTools, tool_of
from agentscope_like.tool.managed_toolkit import ManagedToolkit

__all__ = ["ToolManager"]


class ToolManager(ManagedToolkit):
    """A toolkit that finds its tools (seed 000, 1.3).

    It offers the functions that are declared with `@tool` in modules that are imported, also in
    those that are imported later; they are looked for when names are listed and once for each
    reply. A program makes one when it starts and closes it when it ends; nothing is shared between
    two of them. What a session may use of it, a `ToolProxy` says.

    Args:
        tools: Further tools, or functions.
        modules: The modules whose declared functions it offers; None for all that are imported.
        mcps: Sources of tools, such as MCP clients.
        decision_layers: As for `Toolkit`.
        result_limit: As for `Toolkit`.
        token_counter: As for `Toolkit`.
        output_store: As for `Toolkit`.

    Raises:
        ConfigurationError: Two tools or sources have one name, or one is not valid for a model.
    """

    def __init__(
        self,
        tools: Iterable[ToolBase | Callable[..., Any]] = (),
        *,
        modules: Iterable[ModuleType] | None = None,
        mcps: Sequence[ToolSource] | None = None,
        decision_layers: Sequence[DecisionLayer] = (),
        result_limit: int | None = TOKEN_LIMIT,
        token_counter: TokenCounter | None = None,
        output_store: OutputStore | None = None,
    ) -> None:
        super().__init__(
            [tool_of(one) for one in tools],
            mcps=mcps,
            decision_layers=decision_layers,
            result_limit=result_limit,
            token_counter=token_counter,
            output_store=output_store,
        )
        self._clients: list[MCPClient] = []
        self._inventory.add_source(DeclaredTools(modules))

    def register_tool(self, tool: ToolBase | Callable[..., Any]) -> None:
        """Add a tool, or a function: as it was declared with `@tool`, if it was.

        Raises:
            ConfigurationError: Its name is taken, or it is not valid for a model.
        """
        self._inventory.add(tool_of(tool), BASIC)

    def register_mcp_server(self, name: str, params: ServerParameters) -> MCPClient:
        """Offer the tools of an MCP server, as `mcp__NAME__TOOL`.

        It is connected to when its tools are first needed; while it cannot be reached, that is
        logged and tried again for each reply. To see at once whether it can be, await `connect` of
        what is returned.

        Args:
            name: The server's name in this program: letters, digits, `_` and `-`.
            params: Where it is.

        Returns:
            Its client, which this manager closes.

        Raises:
            ConfigurationError: A server has this name, or the parameters do not say where it is.
            pydantic.ValidationError: The name is not valid for a model.
        """
        client = client_of(name, params)
        self._inventory.add_source(ClientSource(client))
        self._clients.append(client)
        return client

    async def close(self) -> None:
        """Close all tools, and the connections to all servers that were registered."""
        try:
            await super().close()
        finally:
            async with asyncio.TaskGroup() as tasks:
                for client in self._clients:
                    tasks.create_task(client.close())
