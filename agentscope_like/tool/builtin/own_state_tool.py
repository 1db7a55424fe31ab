"""Defines `OwnStateTool`, the base of tools that read only what they were given."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

from typing_extensions import override

from agentscope_like.message import ToolChunk
from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionDecision
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.builtin.tool_results import succeeded

__all__ = ["OwnStateTool", "json_result"]


class OwnStateTool(ToolBase):
    """A tool that reads what the program gave it, and nothing of the host; only a rule stops it.

    Attributes:
        allowed_because: Why a call needs no question, as a sentence.
    """

    is_concurrency_safe = True
    is_read_only = True
    touches_only_agent_state: ClassVar[bool] = True
    allowed_because: ClassVar[str]

    @override
    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Allow every call: it reads what the program gave to the tool."""
        del tool_input, context
        return PermissionDecision(PermissionBehavior.ALLOW, self.allowed_because)


def json_result(answer: dict[str, Any], references: Sequence[str] = ()) -> ToolChunk:
    """Return a result as JSON, in which no text that was read can pass for something else.

    Args:
        answer: The result.
        references: What names the texts in it, for the metadata.
    """
    told = json.dumps(answer, ensure_ascii=False)
    return succeeded(told, {"resource_refs": list(references)} if references else None)
