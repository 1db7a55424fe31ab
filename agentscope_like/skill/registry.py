"""What a manager of skills and a view of one have in common."""

from __future__ import annotations

import asyncio
from abc import abstractmethod

from typing_extensions import override

from agentscope_like.skill.base import Skill, SkillLoaderBase
from agentscope_like.skill.schema import SkillSchema

__all__ = ["SkillRegistry"]


class SkillRegistry(SkillLoaderBase):
    """Skill packages by name; a source of skills for a toolkit.

    `list_skills`, which a toolkit calls, looks at the disk again; everything else answers from what
    was there when somebody last looked.
    """

    @abstractmethod
    def reload(self) -> None:
        """Look again which skills there are; blocks, so call it off the loop."""

    @abstractmethod
    def list_skill_info(self) -> list[SkillSchema]:
        """Return all that is known of each skill, always in the same order."""

    def list_skill_names(self) -> list[str]:
        """Return the names of the skills, in the order of `list_skill_info`."""
        return [skill.name for skill in self.list_skill_info()]

    def get_skill(self, name: str) -> SkillSchema | None:
        """Return the skill of exactly this name, else that of this id, else None."""
        skills = self.list_skill_info()
        for skill in skills:
            if skill.name == name:
                return skill
        return next((skill for skill in skills if skill.id == name), None)

    @override
    async def list_skills(self) -> list[Skill]:
        """Return the skills that there are now, as a toolkit knows them."""
        await asyncio.to_thread(self.reload)
        return [skill.as_skill() for skill in self.list_skill_info()]
