"""Defines `MCPToolAction`, the arguments of an MCP tool."""

from __future__ import annotations

from typing import Any

from agentscope_like.typed.action import Action

__all__ = ["MCPToolAction"]


class MCPToolAction(Action):
    """The arguments of an MCP tool, as its server wants them (seed 004).

    Attributes:
        data: The arguments, by the server's own names.
    """

    data: dict[str, Any]
