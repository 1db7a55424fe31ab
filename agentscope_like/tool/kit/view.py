"""Defines an inventory that shows a selection of other inventories."""

from __future__ import annotations

import asyncio
from collections import ChainMap
from collections.abc import Callable, Collection, Mapping, Sequence

from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.builtin.planning import EXPANDER
from agentscope_like.tool.builtin.skills import VIEWER, SkillShelf
from agentscope_like.tool.call import RegisteredTool
from agentscope_like.tool.kit.inventory import ToolInventory
from agentscope_like.tool.kit.listed_sources import ToolSources
from agentscope_like.tool.kit.registry import ToolRegistry

__all__ = ["ToolView"]


class ToolView(ToolInventory):
    """A live view of the tools of several inventories by name.

    Rules may name any tool of the inventories, even outside the view.

    Args:
        inventories: The inventories; if several tools have the same name, the first is used.
        names: The names of the tools in the view; None for all.
        shows: Whether a tool of this canonical name is shown, also one that extends the view; calls
            of the others are refused. None for all.
    """

    def __init__(
        self,
        inventories: Sequence[ToolInventory],
        names: Collection[str] | None = None,
        *,
        shows: Callable[[str], bool] | None = None,
    ) -> None:
        registries = [inventory.tools for inventory in inventories]
        self._selection = _Selection(registries, names)
        tools = ToolRegistry(self._selection)
        viewer = tools.get(VIEWER)
        shelves = (
            one.skills
            for one in inventories
            if viewer is not None and one.tools.get(VIEWER) is viewer
        )
        groups = ChainMap(*(one._groups for one in inventories))  # noqa: SLF001 - of its own class
        super().__init__(tools, ToolSources(tools), next(shelves, SkillShelf(())), groups)
        self._inventories = tuple(inventories)
        self._shows = shows
        self._beyond = _Selection(registries, None)

    @property
    def is_outdated(self) -> bool:
        """Return whether a source has changed since its tools were listed."""
        return super().is_outdated or any(one.is_outdated for one in self._inventories)

    def look(self) -> None:
        """List the tools of the sources that answer without waiting."""
        super().look()
        for inventory in self._inventories:
            inventory.look()

    async def sync(self) -> None:
        """List the tools of the sources that have changed."""
        await super().sync()
        for inventory in self._inventories:
            await inventory.sync()

    async def refresh(self) -> None:
        """Refresh the sources, and list the tools of those that have changed."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(super().refresh())
            for inventory in self._inventories:
                tasks.create_task(inventory.refresh())

    def may_list(self, name: str) -> bool:
        """Return whether a source may later list a tool of this name."""
        return super().may_list(name) or any(one.may_list(name) for one in self._inventories)

    def silent(self, name: str) -> str | None:
        """Return the source that a tool of this name belongs to, if it lists none now."""
        if not self._selection.takes(name):
            return None
        silent = (inventory.silent(name) for inventory in self._inventories)
        own = super().silent(name)
        return own or next((source for source in silent if source is not None), None)

    def hides(self, name: str) -> bool:
        """Return whether a tool of this canonical name is hidden, and its calls are refused."""
        if name == EXPANDER:
            return False
        if self._shows is not None and not self._shows(name):
            return True
        for inventory in self._inventories:
            if inventory.tools.find(name) is not None:
                return inventory.hides(name)
        return False

    def ruled(self) -> Mapping[str, ToolBase]:
        """Return all tools that rules may name."""
        return {**self._beyond, **self.tools}


class _Selection(ToolRegistry):
    """The current tools of several registries with one of these names."""

    def __init__(self, registries: Sequence[ToolRegistry], names: Collection[str] | None) -> None:
        super().__init__()
        self._registries = tuple(registries)
        self._names = None if names is None else frozenset(names)

    @property
    def version(self) -> int:
        """Return the number of changes so far."""
        return sum(registry.version for registry in self._registries)

    def find(self, name: str) -> RegisteredTool | None:
        """Return the first registered tool of this name, or None."""
        if not self.takes(name):
            return None
        found = (registry.find(name) for registry in self._registries)
        return next((entry for entry in found if entry is not None), None)

    def canonical(self, name: str) -> str:
        """Return the name of the tool that a model calls by this name; else the name itself."""
        known = (registry.canonical(name) for registry in self._registries)
        return next((one for one in known if self.find(one) is not None), name)

    def _owner(self, shown: str) -> str | None:
        owners = (one._owner(shown) for one in self._registries)  # noqa: SLF001 - of its own class
        return next((one for one in owners if one is not None and self.takes(one)), None)

    def _all(self) -> dict[str, RegisteredTool]:
        tools: dict[str, RegisteredTool] = {}
        for registry in self._registries:
            for entry in registry.all():
                if self.takes(entry.tool.name):
                    tools.setdefault(entry.tool.name, entry)
        return tools

    def _owns(self, name: str) -> bool:
        owned = (one._owns(name) for one in self._registries)  # noqa: SLF001 - of its own class
        return self.takes(name) and any(owned)

    def takes(self, name: str) -> bool:
        """Return whether the view has a tool of this name."""
        return name != EXPANDER and (self._names is None or name in self._names)
