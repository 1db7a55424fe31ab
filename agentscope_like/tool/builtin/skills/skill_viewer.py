"""Defines the tool `Skill`, with which a model reads a skill."""

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
from agentscope_like.skill import Skill
from agentscope_like.state import AgentState
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.builtin.skills.skill_shelf import VIEWER, SkillShelf
from agentscope_like.tool.builtin.tool_results import succeeded

__all__ = ["SkillViewer", "shown"]


class SkillViewer(ToolBase):
    """Shows the instructions of a skill; a toolkit with skills has it (seed 002, "Skill").

    Args:
        shelf: The skills.
        middlewares: Layers around `call`.
    """

    name = VIEWER
    description = (
        "Read the instructions of a skill, then follow them with your other tools.\n"
        "skill: its exact name, as your instructions list it."
    )
    input_schema = {  # noqa: RUF012
        "type": "object",
        "properties": {"skill": {"type": "string", "description": "The skill's exact name."}},
        "required": ["skill"],
    }
    is_concurrency_safe = True
    is_read_only = True
    is_state_injected = True
    touches_only_agent_state: ClassVar[bool] = True

    def __init__(
        self, shelf: SkillShelf, middlewares: Sequence[ToolMiddlewareBase] | None = None
    ) -> None:
        super().__init__(middlewares)
        self._shelf = shelf

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Allow every call: only the toolkit's own skills are shown."""
        del tool_input, context
        return PermissionDecision(
            PermissionBehavior.ALLOW, "It shows a skill that the toolkit was given."
        )

    async def call(self, skill: str, _agent_state: AgentState) -> ToolChunk:
        """Return the skill's text and the directory of its files."""
        return shown(await self._shelf.find(skill, _agent_state.tool_context.activated_groups))


def shown(skill: Skill) -> ToolChunk:
    """Return a skill's text and the directory of its files, for a model."""
    where = f"The files of this skill are in {skill.dir}\n\n" if skill.dir else ""
    return succeeded(f"{where}{skill.markdown}")
