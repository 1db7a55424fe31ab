"""Defines `ResetTools`, the tool with which a model chooses its tool groups."""

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
from agentscope_like.state import AgentState
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.builtin.tool_results import succeeded
from agentscope_like.tool.group import ToolGroup
from agentscope_like.tool.make import compiled_template

__all__ = ["ResetTools"]


class ResetTools(ToolBase):
    """Sets which groups are active; a toolkit with groups has it (seed 002, "Use Meta Tool").

    Args:
        groups: The groups to choose from.
        response_template: A Jinja template instead of the default answer, with the variables
            `groups` (all active groups), `activated` (the newly active ones) and `deactivated`;
            each group has `name`, `description` and `instructions`.
        middlewares: Layers around `call`.

    Raises:
        ConfigurationError: The template is invalid, or uses an undefined variable.
    """

    name = "reset_tools"
    description = (
        "Choose which groups of tools are active. What you give is the final state, not a change: "
        "every group that is not `true` becomes inactive, so name all that you still need. "
        "The basic tools always stay."
    )
    is_concurrency_safe = True
    is_read_only = False
    is_state_injected = True
    touches_only_agent_state: ClassVar[bool] = True

    def __init__(
        self,
        groups: Sequence[ToolGroup],
        response_template: str | None = None,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
    ) -> None:
        super().__init__(middlewares)
        self._groups = tuple(groups)
        self.input_schema = {
            "type": "object",
            "properties": {
                group.name: {
                    "type": "boolean",
                    "default": False,
                    "description": group.description,
                }
                for group in groups
            },
        }
        self._render = (
            compiled_template("meta_tool_response_template", response_template)
            if response_template is not None
            else _default_answer
        )
        for sample in ((), self._groups):  # what is wrong with a template is the developer's to see
            self._render(groups=sample, activated=sample, deactivated=sample)

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Allow every call: each later call of a tool is decided anyway."""
        del tool_input, context
        return PermissionDecision(
            PermissionBehavior.ALLOW, "It chooses tools; it gives no permission to use them."
        )

    async def call(self, /, _agent_state: AgentState, **kwargs: bool) -> ToolChunk:
        """Set the active groups; the answer has the instructions of the newly active ones."""
        before = _agent_state.tool_context.activated_groups
        active = [group for group in self._groups if kwargs.get(group.name)]
        activated = [group for group in active if group.name not in before]
        deactivated = [g for g in self._groups if g.name in before and g not in active]
        answer = self._render(groups=active, activated=activated, deactivated=deactivated)
        _agent_state.tool_context.activated_groups = [group.name for group in active]
        return succeeded(answer)


def _default_answer(
    *,
    groups: Sequence[ToolGroup],
    activated: Sequence[ToolGroup],
    deactivated: Sequence[ToolGroup],
) -> str:
    names = ", ".join(group.name for group in groups)
    parts = [f"Active tool groups: {names}." if names else "No tool group is active."]
    if deactivated:
        parts[0] += f" No longer active: {', '.join(group.name for group in deactivated)}."
    parts += [
        f"How to use the tools of {group.name}:\n{group.instructions}"
        for group in activated
        if group.instructions
    ]
    return "\n\n".join(parts)
