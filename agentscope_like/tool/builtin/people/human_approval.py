"""Defines `HumanApproval`, the tool that asks a person to approve a step."""

from __future__ import annotations

from typing import Any, ClassVar

from agentscope_like.tool.builtin.people.person import PersonTool

__all__ = ["HumanApproval"]


class HumanApproval(PersonTool):
    """Asks a person to approve an action in free text (seed 002, "Define External Execution Tool").

    It is external: the agent waits after a `RequireExternalExecutionEvent`, and the person's text
    is its result. It informs the model but allows nothing: every call is still decided.
    """

    name = "HumanApproval"
    description = (
        "Asks the user to approve an action that needs their judgement, and returns what they say. "
        "Their words permit no tool call: each is still decided when it is made."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "action": {"type": "string", "description": "The action that needs approval."},
            "reason": {"type": "string", "description": "Why it needs approval."},
        },
        "required": ["action", "reason"],
    }
    is_read_only = False
