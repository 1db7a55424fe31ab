"""Defines `ToolExpandTools`, the tool with which a model shows hidden tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import ClassVar

from agentscope_like.message import ToolChunk
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
)
from agentscope_like.state import AgentState
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.builtin.tool_results import failed, succeeded
from agentscope_like.tool.tool_names import ToolNames, shown_name

__all__ = ["EXPANDER", "ToolExpandTools"]

EXPANDER = "tool_expand_tools"
"""The name of the tool that shows hidden tools."""


class ToolExpandTools(ToolBase):
    """Shows further tools for the rest of a reply (seed 000, 3.1).

    Every toolkit has it. A model sees it while tools of the toolkit are hidden because others were
    suggested for the reply.

    Args:
        names: Returns the names of all tools that can be shown while these groups are active.
        always: Names that are always shown.
        middlewares: Layers around `call`.
    """

    name = EXPANDER
    description = (
        "You are not shown all of your tools. This shows you more of them, by their exact names; "
        "use them in your next turn. The answer lists which others there are; an empty list of "
        "names only asks for that."
    )
    input_schema = {  # noqa: RUF012
        "type": "object",
        "properties": {
            "tool_names": {
                "type": "array",
                "items": {"type": "string"},
                "description": "The exact names of the tools to be shown.",
            }
        },
        "required": ["tool_names"],
    }
    is_concurrency_safe = False
    is_read_only = False
    is_state_injected = True
    is_hidden = True
    touches_only_agent_state: ClassVar[bool] = True

    def __init__(
        self,
        names: Callable[[Sequence[str]], Collection[str]],
        always: Collection[str] = (),
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
    ) -> None:
        super().__init__(middlewares)
        self._names = names
        self._always = {*always, EXPANDER}

    async def check_permissions(
        self, tool_input: dict[str, object], context: PermissionContext
    ) -> PermissionDecision:
        """Allow every call: each later call of a tool is decided anyway."""
        del tool_input, context
        return PermissionDecision(
            PermissionBehavior.ALLOW, "It shows tools; it gives no permission to use them."
        )

    async def call(self, tool_names: list[str], _agent_state: AgentState) -> ToolChunk:
        """Show the known tools, and report unknown names.

        The result is an error only if no name can be shown.
        """
        reply = _agent_state.reply_context
        known = {*self._names(_agent_state.tool_context.activated_groups), EXPANDER}
        shown = known if reply.suggested_tools is None else {*reply.suggested_tools, *self._always}
        names = ToolNames(known)
        wanted = dict.fromkeys(map(names.canonical, tool_names))
        expanded = [name for name in wanted if name in known and name not in shown]
        already = [name for name in wanted if name in known and name in shown]
        if reply.suggested_tools is not None:
            reply.suggested_tools = [*reply.suggested_tools, *expanded]
        success = bool(expanded or already or not wanted)
        answer = json.dumps(
            {
                "success": success,
                "expanded_tools": _shown(expanded),
                "invalid_tools": [name for name in wanted if name not in known],
                "already_selected_tools": _shown(already),
                "available_expandable_tools": sorted(_shown(known - shown - set(expanded))),
            },
            ensure_ascii=False,
        )
        return succeeded(answer) if success else failed(answer)


def _shown(names: Iterable[str]) -> list[str]:
    return [shown_name(name) for name in names]
