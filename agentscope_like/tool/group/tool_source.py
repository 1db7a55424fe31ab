"""Defines `ToolSource`, the interface of a source whose tools may change."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from agentscope_like.tool.base import ToolBase

__all__ = ["ImmediateSource", "ToolSource"]


@runtime_checkable
class ToolSource(Protocol):
    """A source of tools, such as the client of an MCP server."""

    @property
    def name(self) -> str:
        """The source's name, for messages; unique in a toolkit."""

    @property
    def version(self) -> int:
        """Changes whenever the result of `list_tools` may change."""

    async def list_tools(self) -> list[ToolBase]:
        """Return the current tools, as far as known; a source that is unavailable has none.

        Raises:
            DeveloperOrientedException: The source is not connected, or is misconfigured.
        """

    async def refresh(self) -> None:
        """Ask the source again if its known tools may be outdated; called once in each reply."""


@runtime_checkable
class ImmediateSource(ToolSource, Protocol):
    """A source of tools in this process, which answers without waiting."""

    def look(self) -> list[ToolBase]:
        """Return the current tools."""
