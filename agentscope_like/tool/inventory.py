"""What a toolkit has: tools, sources and skills, in groups of which some are active."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import copy
from typing import Any, TypeAlias

from agentscope_like.exception import (
    ConfigurationError,
    ToolGroupInactiveError,
    ToolNotFoundError,
)
from agentscope_like.permission import PermissionContext, check_rules
from agentscope_like.permission.nearest import nearest
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.builtin.reset_tools import ResetTools
from agentscope_like.tool.builtin.skill import SkillViewer
from agentscope_like.tool.group import BASIC, ToolGroup, listed
from agentscope_like.tool.registry import RegisteredTool, ToolRegistry
from agentscope_like.tool.skill_shelf import VIEWER, SkillShelf
from agentscope_like.tool.sources import ToolSources

__all__ = ["ToolInventory"]

_MOST_LISTS = 64
_Shown: TypeAlias = tuple[tuple[str, ...], bool]
"""The groups that a model is told of, and whether there are skills in them."""


class ToolInventory:
    """Tools, sources and skills by group (seed 002, "Manage Tools Agentically").

    With a group besides `basic` there is the tool `reset_tools`; with skills, the tool `Skill`.
    A group is active where a call's state says so; `basic` always is.

    Args:
        basic: The group that is always active.
        tool_groups: The others.
        response_template: What `reset_tools` answers, as a Jinja template.
        skill_template: What a model is told of the skills, as a Jinja template.

    Attributes:
        tools: All tools, by name.
        skills: All skills.

    Raises:
        ConfigurationError: Two groups, tools or sources have one name, or one cannot be used.
    """

    def __init__(
        self,
        basic: ToolGroup,
        tool_groups: Sequence[ToolGroup] | None = None,
        *,
        response_template: str | None = None,
        skill_template: str | None = None,
    ) -> None:
        groups = (basic, *listed("tool_groups", tool_groups, (ToolGroup,)))
        self.tools = ToolRegistry()
        self.skills = SkillShelf(groups, skill_template)
        self._sources = ToolSources(self.tools)
        self._groups = _by_name(groups)
        self._schemas: tuple[int, dict[_Shown, list[dict[str, Any]]]] = (-1, {})
        for group in groups:
            for tool in group.tools:
                self.tools.add(tool, group.name)
            for source in group.mcps:
                self._sources.add(source, group.name)
        if len(groups) > 1:
            self.tools.add(ResetTools(groups[1:], response_template))
        if self.skills.has_sources:
            self.tools.add(SkillViewer(self.skills))

    def extended(self, tools: Sequence[ToolBase]) -> ToolInventory:
        """Return an inventory with further tools, which follows this one.

        Raises:
            ConfigurationError: A name is taken, or cannot be told to a model.
        """
        extended = copy(self)
        extended.tools = ToolRegistry(self.tools)
        extended._schemas = (-1, {})  # noqa: SLF001 - of its own class
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

    def clear(self) -> None:
        """Remove all tools, sources, skills and groups."""
        self.tools.clear()
        self.skills.clear()
        self._sources.clear()
        for name in self.known_groups(list(self._groups)):
            del self._groups[name]

    @property
    def is_outdated(self) -> bool:
        """Return whether a source has changed since its tools were listed."""
        return self._sources.is_outdated

    async def sync(self) -> None:
        """List the tools of the sources that have changed."""
        await self._sources.sync()

    async def refresh(self) -> None:
        """Have the sources look whether they have changed, and list what may be new."""
        self.skills.forget()
        await self._sources.refresh()

    # What a model may call

    def available(self, name: str, active: Sequence[str]) -> RegisteredTool:
        """Return the tool that may be called by this name while these groups are active.

        Raises:
            ToolNotFoundError: There is none; the message lists what there is.
            ToolGroupInactiveError: Its group is not active; the message says how to activate it.
        """
        try:
            entry = self.tools.registered(name)
        except ToolNotFoundError as error:
            shown = [
                entry.tool.name
                for entry in self.tools.all()
                if entry.group in (BASIC, *active) and not entry.tool.is_hidden
            ]
            listed = ", ".join(shown) or "none"
            raise ToolNotFoundError(f"{error.message} Tools: {listed}.") from None
        if entry.group != BASIC and entry.group not in active:
            wanted = dict.fromkeys([*self.known_groups(active), entry.group], True)
            raise ToolGroupInactiveError(
                f"The tool {name!r} is in the tool group {entry.group!r}, which is not active. To "
                f"activate it, call reset_tools with {json.dumps(wanted)}, then call again."
            )
        return entry

    def known_groups(self, active: Sequence[str]) -> tuple[str, ...]:
        """Return those groups besides `basic` that are active and there, in their order."""
        return tuple(name for name in self._groups if name != BASIC and name in active)

    async def schemas(self, active: Sequence[str]) -> list[dict[str, Any]]:
        """Return what a model is told of its tools, group by group, in the chat-completions form.

        The list is made once for each set of groups until something changes.
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
                and (has_skills or entry.tool.name != VIEWER)
            ]
        return known[key]

    def is_concurrency_safe(self, name: str) -> bool:
        """Return whether calls by this name may run beside others; unknown ones only fail."""
        tool = self.tools.get(name)
        return not self._sources.may_list(name) if tool is None else tool.is_concurrency_safe

    # Rules

    def check_rules(self, context: PermissionContext) -> None:
        """Refuse rules that could never do what they say; a source may yet list their tools.

        Raises:
            RuleError: One is for a tool that does not exist, or cannot be read by its tool.
        """
        check_rules(context, self.tools, tolerated=self._sources.may_list)


def _by_name(groups: Sequence[ToolGroup]) -> dict[str, ToolGroup]:
    """Return the groups by name.

    Raises:
        ConfigurationError: Two have one name.
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
