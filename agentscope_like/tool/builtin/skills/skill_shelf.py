"""Lists the skills of a toolkit, and writes the text about them for a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agentscope_like.exception import ToolArgumentError, ToolGroupInactiveError
from agentscope_like.nearest import nearest
from agentscope_like.skill import Skill
from agentscope_like.tool.arguments import shortened
from agentscope_like.tool.group import BASIC, SkillNames, ToolGroup
from agentscope_like.tool.make import compiled_template

__all__ = ["VIEWER", "SkillShelf"]

VIEWER = "Skill"
"""The name of the tool that shows a skill."""

INTRODUCTION = (
    f"A skill holds instructions for one kind of work. Before work that a skill below is for, call "
    f"the tool `{VIEWER}` with its exact name, then follow what it says with the tools that you "
    "have. A skill is no tool itself."
)


class SkillShelf:
    """The skills of the groups, listed again on each use.

    Args:
        groups: The groups, the first `basic`.
        template: A Jinja template instead of the default text, with the variables `skills` (each
            with `name`, `description` and `dir`) and `skill_viewer`, the name of the tool.

    Raises:
        ConfigurationError: The template is invalid.
    """

    def __init__(self, groups: Sequence[ToolGroup], template: str | None = None) -> None:
        self._groups = [group for group in groups if group.skills_or_loaders]
        self._names = SkillNames("the toolkit")
        self._listed: dict[str, list[Skill]] = {}
        self._render = (
            compiled_template("skill_instruction_template", template)
            if template is not None
            else None
        )

    def clear(self) -> None:
        """Forget all skills and loaders."""
        self._groups.clear()

    def forget(self) -> None:
        """Clear the cache, so that all skills are listed again on their next use."""
        self._listed.clear()

    @property
    def has_sources(self) -> bool:
        """Return whether there are sources of skills."""
        return bool(self._groups)

    async def list_skills(self, active: Sequence[str]) -> list[Skill]:
        """Return the current skills of the active groups, the first of each name."""
        for group in self._active(active):
            self._listed[group.name] = await group.list_skills()
        return self._names.unique(self._known(active))

    async def has_skills(self, active: Sequence[str]) -> bool:
        """Return whether there was a skill in the active groups when they were last listed."""
        for group in self._active(active):
            if group.name not in self._listed:
                self._listed[group.name] = await group.list_skills()
        return any(self._known(active))

    async def instructions(self, active: Sequence[str]) -> str | None:
        """Return the text about the skills of the active groups; None if there are none.

        Raises:
            ConfigurationError: The template uses an undefined variable.
        """
        skills = await self.list_skills(active)
        if not skills:
            return None
        if self._render is not None:
            return self._render(skills=skills, skill_viewer=VIEWER)
        lines = "\n".join(f"- {skill.name}: {_one_line(skill.description)}" for skill in skills)
        return f"<agent-skills>\n{INTRODUCTION}\n\n{lines}\n</agent-skills>"

    async def find(self, name: str, active: Sequence[str]) -> Skill:
        """Return the current skill with exactly this name.

        Raises:
            ToolGroupInactiveError: It is in a group that is not active.
            ToolArgumentError: There is none; the message lists the names.
        """
        skills = {skill.name: skill for skill in await self.list_skills(active)}
        if name in skills:
            return skills[name]
        for group in self._groups:
            if group not in self._active(active) and name in _names(await group.list_skills()):
                raise ToolGroupInactiveError(
                    f"The skill {name!r} is in the tool group {group.name!r}, which is not "
                    "active: activate it with reset_tools first, together with every other group "
                    "that you still need."
                )
        listed = ", ".join(skills) or "none"
        name = shortened(name)
        hint = nearest(name, skills) or "."
        raise ToolArgumentError(f"There is no skill named {name!r}{hint} Skills: {listed}.")

    def _active(self, active: Sequence[str]) -> list[ToolGroup]:
        return [group for group in self._groups if group.name == BASIC or group.name in active]

    def _known(self, active: Sequence[str]) -> list[Skill]:
        groups = self._active(active)
        return [skill for group in groups for skill in self._listed.get(group.name, ())]


def _names(skills: Iterable[Skill]) -> set[str]:
    return {skill.name for skill in skills}


def _one_line(text: str) -> str:
    """Return the text as one line of visible text, so that it cannot break the list."""
    shown = "".join(c for c in " ".join(text.split()) if c.isprintable())
    return shown.replace("<", "&lt;").replace(">", "&gt;")
