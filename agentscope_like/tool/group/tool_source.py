"""`ToolSource`: the interface of a source whose tools may change."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from agentscope_like.tool.base import ToolBase

__all__ = ["ImmediateSource", "ToolSource"]


@runtime_checkable
class ToolSource(Protocol):
    """A source of tools, such as the client of an MCP server."""

    @property
    def name(self) -> str:
        """The source's name, for messages; one toolkit has no two sources of one name."""

    @property
    def version(self) -> int:
        """Changes whenever `list_tools` may return something else than before."""

    async def list_tools(self) -> list[ToolBase]:
        """Return the tools that there are now, from what is known; a dead source has none.

        Raises:
            DeveloperOrientedException: The source has not been connected, or is set up wrongly.
        """

    async def refresh(self) -> None:
        """Ask the source again if its known tools may be out of date; once for each reply."""


@runtime_checkable
class ImmediateSource(ToolSource, Protocol):
    """A source of tools in this process, which answers without waiting."""

    def look(self) -> list[ToolBase]:
        """Return the tools that there are now."""
