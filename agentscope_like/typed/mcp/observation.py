"""Defines `MCPToolObservation`, the result of an MCP tool."""

from __future__ import annotations

from agentscope_like.typed.observation import Observation

__all__ = ["MCPToolObservation"]


class MCPToolObservation(Observation):
    """What a server answered, as blocks; it is not trusted (seed 004).

    Attributes:
        tool_name: The tool, `mcp__SERVER__TOOL`.
    """

    tool_name: str
