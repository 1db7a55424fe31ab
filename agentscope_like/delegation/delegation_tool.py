"""Defines the base of the tools that concern an agent's own child tasks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

from typing_extensions import override

from agentscope_like.delegation.child_runner import Delegator
from agentscope_like.message import TextBlock, ToolChunk, ToolResultState
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionDecision
from agentscope_like.tool import ToolBase

__all__ = ["DelegationTool", "told"]


class DelegationTool(ToolBase):
    """The base of the tools; each call of a child is decided by itself.

    Args:
        delegator: The agent that has the tool.
        middlewares: Layers around `call`.
    """

    is_concurrency_safe = True
    is_read_only = True
    touches_only_agent_state: ClassVar[bool] = True

    def __init__(
        self, delegator: Delegator, middlewares: Sequence[ToolMiddlewareBase] | None = None
    ) -> None:
        super().__init__(middlewares)
        self._delegator = delegator

    @override
    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Allow every call: it reads or changes only what the agent knows of its child tasks."""
        del tool_input, context
        return PermissionDecision(
            PermissionBehavior.ALLOW, f"{self.name} concerns only the agent's own child tasks."
        )


def told(answer: dict[str, Any]) -> ToolChunk:
    """Return the result of a call as JSON; the model and programs are told the same."""
    text = json.dumps(answer, ensure_ascii=False)
    return ToolChunk(content=[TextBlock(text=text)], state=ToolResultState.SUCCESS, metadata=answer)
