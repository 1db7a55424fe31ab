"""Manages a toolkit's tools, sources and skills, in groups that may be inactive."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from typing import Any, Self, TypeAlias

from agentscope_like.exception import (
    ConfigurationError,
    RecoverableToolError,
    ToolGroupInactiveError,
    ToolNotFoundError,
    ToolNotShownError,
)
from agentscope_like.nearest import nearest
from agentscope_like.permission import PermissionContext, check_rules
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.builtin.planning import EXPANDER, ResetTools, ToolExpandTools
from agentscope_like.tool.builtin.skills import VIEWER, SkillShelf, SkillViewer
from agentscope_like.tool.call import RegisteredTool
from agentscope_like.tool.group import BASIC, ToolGroup, ToolSource, listed
from agentscope_like.tool.kit.listed_sources import ToolSources
from agentscope_like.tool.kit.registry import ToolRegistry
from agentscope_like.tool.tool_names import shown_name

__all__ = ["ToolInventory"]

_MOST_LISTS = 64
_SILENT = (
    " The server {!r} offers no tools for now; it may be unavailable. Continue without it, or tell "
    "the user."
)
_Shown: TypeAlias = tuple[tuple[str, ...], bool]
"""The groups that a model sees, and whether there are skills in them."""


class ToolInventory:
    """Tools, sources and skills by group (seed 002, "Manage Tools Agentically").

    A group is active if the agent's state says so; `basic` always is. If the state also lists tools
    suggested for the reply, a model sees these, `tool_expand_tools` for the others, and the tools
    that are always shown (seed 000, 3.1).

    Args:
        tools: All tools, by name.
        sources: The sources of some of them.
        skills: All skills.
        groups: All groups, by name.

    Attributes:
        tools: All tools, by name.
        skills: All skills.

    Raises:
        ConfigurationError: A tool has the name of `tool_expand_tools`.
    """

    def __init__(
        self,
        tools: ToolRegistry,
        sources: ToolSources,
        skills: SkillShelf,
        groups: Mapping[str, ToolGroup],
    ) -> None:
        self.tools = tools
        self.skills = skills
        self._sources = sources
        self._groups = dict(groups)
        self._always = frozenset({ResetTools.name, VIEWER, EXPANDER})
        self._schemas: tuple[int, dict[_Shown, list[dict[str, Any]]]] = (-1, {})
        self._expander = ToolExpandTools(self.names, self._always)
        self.tools.add(self._expander)

    @classmethod
    def of_groups(
        cls,
        basic: ToolGroup,
        tool_groups: Sequence[ToolGroup] | None = None,
        *,
        response_template: str | None = None,
        skill_template: str | None = None,
    ) -> Self:
        """Return the inventory of these groups.

        With a group besides `basic` there is the tool `reset_tools`; with skills, the tool `Skill`.

        Args:
            basic: The group that is always active.
            tool_groups: The other groups.
            response_template: A Jinja template for the answer of `reset_tools`.
            skill_template: A Jinja template for the text about skills.

        Raises:
            ConfigurationError: Two groups, tools or sources have the same name, or one is invalid.
        """
        groups = (basic, *listed("tool_groups", tool_groups, (ToolGroup,)))
        tools = ToolRegistry()
        sources = ToolSources(tools)
        inventory = cls(tools, sources, SkillShelf(groups, skill_template), _by_name(groups))
        for group in groups:
            for tool in group.tools:
                tools.add(tool, group.name)
            for source in group.mcps:
                sources.add(source, group.name)
        if len(groups) > 1:
            tools.add(ResetTools(groups[1:], response_template))
        if inventory.skills.has_sources:
            tools.add(SkillViewer(inventory.skills))
        return inventory

    def extended(self, tools: Sequence[ToolBase]) -> Self:
        """Return an inventory with further tools, always shown, that tracks changes of this one.

        Raises:
            ConfigurationError: A name is taken, or is not valid for a model.
        """
        extended = copy(self)
        extended.tools = ToolRegistry(self.tools)
        extended._schemas = (-1, {})  # noqa: SLF001 - of its own class
        extended._always = self._always.union(tool.name for tool in tools)  # noqa: SLF001
        for tool in tools:
            extended.tools.add(tool)
        return extended

    # Changes

    def add(self, tool: ToolBase, group: str) -> None:
        """Add a tool to the group.

        Raises:
            ConfigurationError: There is no such group, the name is taken, or the tool cannot be
                told to a model.
        """
        if group not in self._groups:
            raise ConfigurationError(
                f"there is no tool group named {group!r}{nearest(group, self._groups)}"
            )
        self.tools.add(tool, group)

    def add_source(self, source: ToolSource) -> None:
        """Add a source of tools that are always active.

        Raises:
            ConfigurationError: Another source has this name, or an ambiguous one.
        """
        self._sources.add(source, BASIC)

    def clear(self) -> None:
        """Remove all tools, sources, skills and groups."""
        self.tools.clear()
        self.tools.add(self._expander)
        self.skills.clear()
        self._sources.clear()
        for name in self.known_groups(list(self._groups)):
            del self._groups[name]

    @property
    def is_outdated(self) -> bool:
        """Return whether a source has changed since its tools were listed."""
        return self._sources.is_outdated

    def look(self) -> None:
        """List the tools of the sources that answer without waiting."""
        self._sources.look()

    async def sync(self) -> None:
        """List the tools of the sources that have changed."""
        await self._sources.sync()

    async def refresh(self) -> None:
        """Refresh the sources, and list the tools of those that have changed."""
        self.skills.forget()
        await self._sources.refresh()

    # What a model may call

    def names(self, active: Sequence[str] | None = None) -> list[str]:
        """Return the names that a model could see, in total or while groups are active."""
        return [
            entry.tool.name
            for entry in self.tools.all()
            if not entry.tool.is_hidden
            and not self.hides(entry.tool.name)
            and (active is None or entry.group == BASIC or entry.group in active)
        ]

    def hides(self, name: str) -> bool:
        """Return whether a tool of this canonical name is hidden, and its calls are refused."""
        del name
        return False

    def canonical(self, name: str) -> str:
        """Return the canonical name of the tool that a model calls by this name.

        An unknown name is returned as it is.
        """
        return self.tools.canonical(name)

    def available(
        self, name: str, active: Sequence[str], suggested: Collection[str] | None = None
    ) -> RegisteredTool:
        """Return the tool that may be called by this name.

        Args:
            name: The canonical name.
            active: The groups that are active.
            suggested: The tools that a model sees; None for all.

        Raises:
            ToolNotFoundError: There is none; the message lists the names.
            ToolGroupInactiveError: Its group is not active; the message says how to activate it.
            ToolNotShownError: The model does not see it; the message says how to show it.
            RecoverableToolError: It is hidden from this agent.
        """
        try:
            entry = self.tools.registered(name)
        except ToolNotFoundError as error:
            shown = [one for one in self.names(active) if self._is_shown(one, suggested)]
            listed = ", ".join(map(shown_name, shown)) or "none"
            source = self.silent(name)
            why = "" if source is None else _SILENT.format(source)
            raise ToolNotFoundError(f"{error.message}{why} Tools: {listed}.") from None
        if self.hides(name):
            raise RecoverableToolError(
                "agent.tool_policy_denied",
                f"{name} is not among the tools of this agent. Go on without it.",
            )
        if entry.group != BASIC and entry.group not in active:
            raise ToolGroupInactiveError(self._how_to_activate(name, entry.group, active))
        if suggested is not None and not self._is_shown(name, suggested):
            wanted = json.dumps({"tool_names": [shown_name(name)]})
            raise ToolNotShownError(
                f"The tool {name!r} is not among the tools of this request. Call {EXPANDER} with "
                f"{wanted} first, then call it again."
            )
        return entry

    def _is_shown(self, name: str, suggested: Collection[str] | None) -> bool:
        return suggested is None or name in suggested or name in self._always

    def _how_to_activate(self, name: str, group: str, active: Sequence[str]) -> str:
        inactive = f"The tool {name!r} is in the tool group {group!r}, which is not active."
        if ResetTools.name not in self.tools:
            return inactive
        wanted = json.dumps(dict.fromkeys([*self.known_groups(active), group], True))
        return f"{inactive} To activate it, call reset_tools with {wanted}, then call again."

    def known_groups(self, active: Sequence[str]) -> tuple[str, ...]:
        """Return the known active groups without `basic`, in order."""
        return tuple(name for name in self._groups if name != BASIC and name in active)

    async def schemas(
        self, active: Sequence[str], suggested: Collection[str] | None = None
    ) -> list[dict[str, Any]]:
        """Return the tool schemas for a model, group by group, in the chat-completions form.

        The list is cached for each set of groups until something changes.

        Args:
            active: The groups that are active.
            suggested: The tools that the model sees; None for all.
        """
        await self.sync()
        groups = (BASIC, *self.known_groups(active))
        has_skills = not self.skills.has_sources or await self.skills.has_skills(groups)
        if self._schemas[0] != self.tools.version:
            self._schemas = self.tools.version, {}
        known, key = self._schemas[1], (groups, has_skills)
        if key not in known:
            if len(known) >= _MOST_LISTS:
                known.clear()
            known[key] = [
                entry.schema
                for group in groups
                for entry in self.tools.all()
                if entry.group == group
                and not entry.tool.is_hidden
                and not self.hides(entry.tool.name)
                and (has_skills or entry.tool.name != VIEWER)
            ]
        return known[key] if suggested is None else self._narrowed(known[key], suggested)

    def _narrowed(
        self, schemas: list[dict[str, Any]], suggested: Collection[str]
    ) -> list[dict[str, Any]]:
        named = {*map(shown_name, suggested), *map(shown_name, self._always)}
        kept = [one for one in schemas if one["function"]["name"] in named]
        expander = self.tools.find(EXPANDER)
        if len(kept) == len(schemas) or expander is None:
            return kept
        return [*kept, expander.schema]

    def is_concurrency_safe(self, name: str) -> bool:
        """Return whether calls by this name may run concurrently; unknown ones only fail."""
        tool = self.tools.get(name)
        return not self.may_list(name) if tool is None else tool.is_concurrency_safe

    def may_list(self, name: str) -> bool:
        """Return whether a source may later list a tool of this name."""
        return self._sources.may_list(name)

    def silent(self, name: str) -> str | None:
        """Return the source that a tool of this name belongs to, if it lists none now."""
        return self._sources.silent(name)

    # Rules

    def ruled(self) -> Mapping[str, ToolBase]:
        """Return all tools that rules may name."""
        return self.tools

    def check_rules(self, context: PermissionContext) -> None:
        """Refuse rules that can never take effect; a source may yet list their tools.

        Raises:
            RuleError: One names an unknown tool, or its tool cannot read it.
        """
        check_rules(context, self.ruled(), tolerated=self.may_list)


def _by_name(groups: Sequence[ToolGroup]) -> dict[str, ToolGroup]:
    """Return the groups by name.

    Raises:
        ConfigurationError: Two have the same name.
    """
    named: dict[str, ToolGroup] = {}
    for group in groups:
        if group.name in named:
            raise ConfigurationError(
                f"{BASIC!r} is the group of what is given to the toolkit itself: give it there"
                if group.name == BASIC
                else f"there are two tool groups named {group.name!r}: rename one, or join them"
            )
        named[group.name] = group
    return named
