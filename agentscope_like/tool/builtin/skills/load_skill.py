"""Defines `LoadSkill`, the tool `load_skill`, which shows a skill to a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from agentscope_like.message import ToolChunk
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
)
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.builtin.skills.skill_shelf import SkillShelf
from agentscope_like.tool.builtin.skills.skill_viewer import shown
from agentscope_like.tool.group import BASIC, SkillSource, ToolGroup

__all__ = ["LoadSkill"]


class LoadSkill(ToolBase):
    """Shows a skill to a model as the function `load_skill` (seed 000, 2.3).

    A toolkit with skills has the tool `Skill` and needs no other. This one is for an agent whose
    system prompt does not list skills, or whose model knows them by this name.

    Args:
        skills: Its skills: a manager, a view of one, directories, loaders, or several of these.
        middlewares: Layers around `call`.
    """

    name = "load_skill"
    description = (
        "Read the instructions of a skill, then follow them with your other tools.\n"
        "skill_name: its exact name; a name that no skill has is answered with those that there "
        "are."
    )
    input_schema = {  # noqa: RUF012
        "type": "object",
        "properties": {"skill_name": {"type": "string", "description": "The skill's exact name."}},
        "required": ["skill_name"],
    }
    is_concurrency_safe = True
    is_read_only = True
    touches_only_agent_state: ClassVar[bool] = True

    def __init__(
        self,
        skills: SkillSource | Sequence[SkillSource],
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
    ) -> None:
        super().__init__(middlewares)
        sources = (
            skills if isinstance(skills, Sequence) and not isinstance(skills, str) else [skills]
        )
        self._shelf = SkillShelf([ToolGroup(BASIC, skills_or_loaders=sources)])

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Allow every call: only the tool's own skills are shown."""
        del tool_input, context
        return PermissionDecision(
            PermissionBehavior.ALLOW, "It shows a skill that the tool was given."
        )

    async def call(self, skill_name: str) -> ToolChunk:
        """Return the skill's text and the directory of its files."""
        return shown(await self._shelf.find(skill_name, ()))
