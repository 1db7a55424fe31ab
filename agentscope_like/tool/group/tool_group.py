"""Defines `ToolGroup`: tools, sources and skills that are activated together."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any, TypeAlias

from agentscope_like.exception import ConfigurationError
from agentscope_like.skill import LocalSkillLoader, Skill, SkillLoaderBase
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.group.attempt import Attempts
from agentscope_like.tool.group.skill_names import SkillNames
from agentscope_like.tool.group.tool_source import ToolSource

__all__ = ["BASIC", "SkillSource", "ToolGroup", "listed"]

BASIC = "basic"
"""The group that is always active: the `Toolkit`'s own tools."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")

SkillSource: TypeAlias = str | os.PathLike[str] | Skill | SkillLoaderBase
"""A directory, a skill, or a loader of skills."""

_SKILL_KINDS = (str, os.PathLike, Skill, SkillLoaderBase)
_BELONGS = {
    "tools": "it is not a tool: wrap a function with FunctionTool, or give an instance of a "
    "ToolBase subclass",
    "mcps": "give sources of tools, which have `name`, `version`, `list_tools` and `refresh`",
    "tool_groups": "give `ToolGroup` objects",
    "skills_or_loaders": "give directories, `Skill` objects or loaders",
}


class ToolGroup:
    """A named bundle of tools, tool sources and skills (seed 002, "Define Tool Group").

    It does not change: a toolkit's `add_tool` adds to the toolkit's own copy of the group.

    Args:
        name: 1 to 64 letters, digits, `_`, `-` or `.`, the first a letter or a digit; `basic` is
            the toolkit's own.
        description: What the group is for; the model decides by it. Required but for `basic`.
        instructions: How to use the group; the model gets them when it activates the group.
        tools: Its tools.
        skills_or_loaders: Its skills: directories, `Skill` objects or loaders.
        mcps: Its sources of tools, such as MCP clients.

    Raises:
        ConfigurationError: The name is not valid for a model, the description is missing, or an
            argument has the wrong type.
    """

    def __init__(
        self,
        name: str,
        description: str | None = None,
        instructions: str | None = None,
        tools: Sequence[ToolBase] | None = None,
        skills_or_loaders: Sequence[SkillSource] | None = None,
        mcps: Sequence[ToolSource] | None = None,
    ) -> None:
        if not _NAME.fullmatch(name):
            raise ConfigurationError(
                f"the group name {name!r} is not valid for a model: use 1 to 64 letters, digits, "
                "`_`, `-` or `.`, the first a letter or a digit"
            )
        if name != BASIC and not (description and description.strip()):
            raise ConfigurationError(
                f"the tool group {name!r} has no description: say what it is for, since the model "
                "decides by that when to activate it"
            )
        self.name = name
        self.description = description or ""
        self.instructions = instructions or ""
        self.tools: tuple[ToolBase, ...] = listed("tools", tools, (ToolBase,))
        self.mcps: tuple[ToolSource, ...] = listed("mcps", mcps, (ToolSource,))
        self.skills_or_loaders = tuple(
            LocalSkillLoader(one) if isinstance(one, str | os.PathLike) else one
            for one in listed("skills_or_loaders", skills_or_loaders, _SKILL_KINDS)
        )
        self._names = SkillNames(f"the tool group {name!r}")
        self._attempts = {
            id(one): Attempts(f"The skill loader {type(one).__name__} of the tool group {name!r}")
            for one in self.skills_or_loaders
        }

    def __repr__(self) -> str:
        return f"ToolGroup({self.name!r})"

    async def list_skills(self) -> list[Skill]:
        """Return the current skills, the first of each name; a loader may fail."""
        found: list[Skill] = []
        for one in self.skills_or_loaders:
            if isinstance(one, Skill):
                found.append(one)
            else:
                found.extend(await self._attempts[id(one)].ask(one.list_skills) or ())
        return self._names.unique(found)


def listed(
    argument: str, given: Sequence[Any] | None, kinds: tuple[type[Any], ...]
) -> tuple[Any, ...]:
    """Return the argument as a list.

    Raises:
        ConfigurationError: It is not a list, or has an item of the wrong type.
    """
    if isinstance(given, kinds):
        raise ConfigurationError(f"`{argument}` is one of them: give a list, `[{given!r}]`")
    for one in given or ():
        if not isinstance(one, kinds):
            raise ConfigurationError(f"`{argument}` holds {one!r}; {_BELONGS[argument]}")
    return tuple(given or ())
