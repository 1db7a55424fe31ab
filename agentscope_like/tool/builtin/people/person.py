"""Defines `PersonTool`, the base class of tools whose work a person does."""

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
    """A tool whose work a person does; the agent waits for the result.

    It is external; subclasses declare the rest. A call is allowed, since the person sees it anyway;
    in the mode without a person it is denied, since it would wait forever.
    """

    is_concurrency_safe = True
    is_external_tool = True

    @override
    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Allow the call if a person is there."""
        del tool_input
        if context.mode.properties.otherwise == "deny":
            return PermissionDecision(
                PermissionBehavior.DENY,
                f"{self.name} needs a person, and nobody is there in dont_ask mode. Decide by "
                "yourself what is safe, or do without.",
            )
        return PermissionDecision(PermissionBehavior.ALLOW, "A person does it.")
