"""Keeps the skills of an agent's scopes, shows those of its profile, and counts what it reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from agentscope_like.exception import ConfigurationError, RecoverableToolError
from agentscope_like.nearest import nearest
from agentscope_like.skill import Skill
from agentscope_like.tool.group import BASIC, SkillSource, ToolGroup

__all__ = ["SCOPES", "ReadBudget", "SkillLibrary", "SkillVisibility"]

SCOPES = ("global", "preset", "profile", "character")
"""Where skills come from; a skill of a later scope replaces one of the same name."""


class SkillVisibility(Protocol):
    """Which skills an agent sees, and how much it may read at once; a `SkillPolicy` is one."""

    @property
    def max_read_chars_per_call(self) -> int:
        """Return the most characters that one call reads."""

    def shows(self, name: str) -> bool:
        """Return whether the agent sees a skill of this name."""


class ReadBudget(Protocol):
    """Counts the characters that a run reads of skills; an `Account` is one."""

    @property
    def characters_left(self) -> int | None:
        """Return how many may still be read; None for no limit."""

    def take_characters(self, count: int) -> str:
        """Take characters, and return what to tell the model of what is left, mostly nothing.

        Raises:
            RecoverableToolError: Fewer are left; nothing is taken.
        """


class SkillLibrary:
    """The skills that one run may list, search and read.

    Args:
        scopes: The skills of each scope, of `SCOPES`: directories, loaders, managers or skills. Of
            skills of one name in one scope the first is used.
        visibility: Which of them the agent sees; the `skills` of its profile.
        budget: What reading is taken from; the run's account.

    Raises:
        ConfigurationError: A scope is unknown, or holds what is no source of skills.
    """

    def __init__(
        self,
        scopes: Mapping[str, SkillSource | Sequence[SkillSource]],
        visibility: SkillVisibility,
        budget: ReadBudget,
    ) -> None:
        for scope in scopes:
            if scope not in SCOPES:
                raise ConfigurationError(
                    f"there is no scope {scope!r} of skills{nearest(scope, SCOPES)}"
                )
        self.visibility = visibility
        self.budget = budget
        self._scopes = [
            ToolGroup(BASIC, skills_or_loaders=_listed(scopes[scope]))
            for scope in SCOPES
            if scope in scopes
        ]

    async def installed_names(self) -> list[str]:
        """Return the names of all skills, those that the agent does not see included."""
        return sorted(await self._installed())

    async def visible(self) -> list[Skill]:
        """Return the skills that the agent sees, by name."""
        installed = await self._installed()
        return [installed[name] for name in sorted(installed) if self.visibility.shows(name)]

    async def find(self, name: str) -> Skill:
        """Return the skill of exactly this name.

        Raises:
            RecoverableToolError: The agent sees none; whether there is one is not told.
        """
        visible = {skill.name: skill for skill in await self.visible()}
        if name in visible:
            return visible[name]
        hint = nearest(name, visible) or "; skill_list lists those that there are."
        raise RecoverableToolError("skill.policy_denied", f"You have no skill {name[:64]!r}{hint}")

    async def _installed(self) -> dict[str, Skill]:
        return {skill.name: skill for scope in self._scopes for skill in await scope.list_skills()}


def _listed(given: SkillSource | Sequence[SkillSource]) -> Sequence[SkillSource]:
    return given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
