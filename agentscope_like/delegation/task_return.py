"""Defines `task.return`, the tool with which a child task ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from typing_extensions import override

from agentscope_like.exception import RecoverableToolError
from agentscope_like.message import TextBlock, ToolChunk, ToolResultState
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionDecision
from agentscope_like.state import AgentState, ChildTask
from agentscope_like.tool import ToolBase

__all__ = ["MAX_RESULT", "RETURN", "TaskReturn"]

RETURN = "task.return"
MAX_SUMMARY = 8000
MAX_RESULT = 20_000
"""The most characters of a result, as JSON."""

_NOTES: dict[str, Any] = {
    "type": "array",
    "maxItems": 50,
    "items": {"anyOf": [{"type": "string"}, {"type": "object"}]},
}
_REQUIRED_TEXT = {"type": "string", "pattern": r"\S", "maxLength": 1000}


class TaskReturn(ToolBase):
    """Returns the result of a child task and ends it (seed 001, "task.return").

    Only the agent of a child task has it, and for this task alone.

    Args:
        task: The task.
        is_visible: Whether the agent sees a path of the workspace; by default, it sees none.
        middlewares: Layers around `call`.
    """

    name = RETURN
    description = (
        "Return your result to the agent that gave you the task, and end the task. Call nothing "
        "after it."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "summary": {
                "type": "string",
                "pattern": r"\S",
                "maxLength": MAX_SUMMARY,
                "description": "The result in short.",
            },
            "status": {
                "type": "string",
                "enum": ["completed", "failed"],
                "default": "completed",
            },
            "confidence": {"type": "string", "enum": ["low", "medium", "high"]},
            "artifacts": {
                "type": "array",
                "maxItems": 50,
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {
                        "path": {
                            **_REQUIRED_TEXT,
                            "description": "Its path in the workspace, as you see it.",
                        },
                        "kind": {**_REQUIRED_TEXT, "description": "Such as markdown or json."},
                        "role": {**_REQUIRED_TEXT, "description": "Such as draft or evidence."},
                    },
                    "required": ["path", "kind", "role"],
                },
            },
            "findings": {**_NOTES, "description": "What you found."},
            "warnings": {**_NOTES, "description": "What the caller should beware of."},
            "suggestedNextActions": {**_NOTES, "description": "What to do next."},
            "questionsForCaller": {**_NOTES, "description": "What is still open."},
        },
        "required": ["summary"],
    }
    is_concurrency_safe = False
    is_read_only = False
    is_state_injected = True
    touches_only_agent_state: ClassVar[bool] = True

    def __init__(
        self,
        task: ChildTask,
        is_visible: Callable[[str], bool] = lambda _: False,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
    ) -> None:
        super().__init__(middlewares)
        self._task = task
        self._is_visible = is_visible

    @override
    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Allow every call: it ends the agent's own task."""
        del tool_input, context
        return PermissionDecision(PermissionBehavior.ALLOW, "It ends only the agent's own task.")

    async def call(self, *, _agent_state: AgentState, **result: Any) -> ToolChunk:
        """Keep the result; the reply ends with it."""
        if self._task.result is not None:
            raise RecoverableToolError(
                "agent.task_already_finished", "this task has returned its result: it is over"
            )
        for artifact in result.get("artifacts", ()):
            if not self._is_visible(artifact["path"]):
                raise RecoverableToolError(
                    "agent.artifact_not_visible",
                    f"{artifact['path']!r} is no path in the workspace that this task sees: name "
                    "it as workspace.list_files does",
                )
        result = {"status": "completed", **result}
        size = len(json.dumps(result, ensure_ascii=False))
        if size > MAX_RESULT:
            raise RecoverableToolError(
                "agent.result_too_long",
                f"the result has {size:,} characters, and at most {MAX_RESULT:,} are returned: "
                "shorten it, and put the rest into a file",
            )
        self._task.result = result
        _agent_state.reply_context.final_answer = result["summary"]
        return ToolChunk(
            content=[TextBlock(text="The result was returned: the task is over.")],
            state=ToolResultState.SUCCESS,
            metadata=result,
        )
