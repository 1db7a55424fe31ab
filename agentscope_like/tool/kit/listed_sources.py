"""Lists the tool sources of a toolkit again when they change; each can fail independently."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from agentscope_like.exception import ConfigurationError
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.group import Attempts, ImmediateSource, ToolSource
from agentscope_like.tool.kit.registry import ToolRegistry, check_tool

__all__ = ["ToolSources"]

_log = logging.getLogger(__name__)


class ToolSources:
    """Keeps the tools of all sources in the registry.

    A source that fails or times out has no tools until its version changes or the next `refresh`;
    other sources are not affected.

    Args:
        registry: The registry of the tools.
    """

    def __init__(self, registry: ToolRegistry) -> None:
        self._registry = registry
        self._listings: list[_Listing] = []

    def add(self, source: ToolSource, group: str) -> None:
        """Add a source to the group; it is asked on first use.

        Raises:
            ConfigurationError: Another source has this name, or one whose tool names could be the
                same.
        """
        added = _Listing(source, group)
        for one in self._listings:
            if one.prefix.startswith(added.prefix) or added.prefix.startswith(one.prefix):
                raise ConfigurationError(
                    f"the tool sources {one.name!r} and {added.name!r} cannot be told apart by "
                    "the names of their tools, `mcp__SOURCE__TOOL`: rename one"
                )
        self._listings.append(added)
        self._registry.put_listed(added.name, (), group)
        self.look()

    def clear(self) -> None:
        """Forget all sources."""
        self._listings.clear()

    @property
    def is_outdated(self) -> bool:
        """Return whether a source says that it has changed since it was last asked."""
        for listing in self._listings:  # noqa: SIM110 - on the way of each call: no generator
            if listing.version != listing.version_now():
                return True
        return False

    def may_list(self, name: str) -> bool:
        """Return whether a source may later list a tool of this name."""
        return any(name.startswith(listing.prefix) for listing in self._listings)

    def silent(self, name: str) -> str | None:
        """Return the source that a tool of this name belongs to, if it lists none now."""
        for listing in self._listings:
            if name.startswith(listing.prefix) and listing.is_empty:
                return listing.name
        return None

    def look(self) -> None:
        """List the tools of the sources that answer without waiting."""
        for listing in self._listings:
            if listing.immediate is not None:
                tools = listing.fit(listing.immediate.look())
                self._registry.put_listed(listing.name, tools, listing.group)

    async def sync(self) -> None:
        """List the tools of the sources that have changed."""
        for listing in self._listings:
            if listing.version != listing.version_now():
                await self._list(listing)

    async def refresh(self) -> None:
        """Refresh all sources concurrently, then list the tools of those that have changed."""
        async with asyncio.TaskGroup() as tasks:
            for listing in self._listings:
                tasks.create_task(self._refresh(listing))

    async def _refresh(self, listing: _Listing) -> None:
        await listing.refreshing.ask(listing.source.refresh)
        if listing.listing.failure is not None or listing.version != listing.version_now():
            await self._list(listing)

    async def _list(self, listing: _Listing) -> None:
        version = listing.version_now()
        listed = await listing.listing.ask(listing.tools)
        listing.version = version  # a change meanwhile is seen by the next look
        listing.is_empty = not listed
        self._registry.put_listed(listing.name, listed or (), listing.group)


class _Listing:
    """A source in use: its group, and the version whose tools were listed."""

    def __init__(self, source: ToolSource, group: str) -> None:
        self.source = source
        self.immediate = source if isinstance(source, ImmediateSource) else None
        self.group = group
        self.name = source.name
        self.prefix = f"mcp__{source.name}__"
        self.version: object = None
        self.is_empty = False
        self.refreshing = Attempts(f"The refresh of the tool source {source.name!r}")
        self.listing = Attempts(f"The tool source {source.name!r}")
        self._refused: set[str] = set()

    def version_now(self) -> object:
        try:
            return self.source.version
        except Exception as error:
            return repr(error)

    async def tools(self) -> list[ToolBase]:
        """Return the source's tools that a model can call."""
        return self.fit(await self.source.list_tools())

    def fit(self, tools: Iterable[ToolBase]) -> list[ToolBase]:
        """Return the tools that a model can call; the others are logged once."""
        fit: list[ToolBase] = []
        refused: set[str] = set()
        for tool in tools:
            try:
                check_tool(tool)
                fit.append(tool)
            except ConfigurationError as error:
                refused.add(error.message)
        for message in sorted(refused - self._refused):
            _log.warning("A tool of the source %r is left out: %s", self.name, message)
        self._refused = refused
        return fit
