"""`PersonTool`: the base of tools whose work a person does."""

from __future__ import annotations

from typing import Any

from typing_extensions import override

from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
)
from agentscope_like.tool.base import ToolBase

__all__ = ["PersonTool"]


class PersonTool(ToolBase):
    """A tool whose work is done by the person at the agent: the agent parks until they have.

    It is external; subclasses declare the rest. A call is allowed, for the person answers it
    anyway, but denied at once in the mode in which nobody is there: it would wait for ever.
    """

    is_concurrency_safe = True
    is_external_tool = True

    @override
    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Allow the call where somebody is there to do it."""
        del tool_input
        if context.mode.properties.otherwise == "deny":
            return PermissionDecision(
                PermissionBehavior.DENY,
                f"{self.name} needs a person, and nobody is there in dont_ask mode. Decide by "
                "yourself what is safe, or do without.",
            )
        return PermissionDecision(PermissionBehavior.ALLOW, "A person does it.")
