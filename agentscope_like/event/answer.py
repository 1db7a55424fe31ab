"""What is said back to an agent that waits or works."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, StrictBool

from agentscope_like.event.base import EventBase, EventType
from agentscope_like.message import ToolCallBlock, ToolResultBlock
from agentscope_like.permission import PermissionRule
from agentscope_like.permission.text import Text

__all__ = [
    "ConfirmResult",
    "ExternalExecutionResultEvent",
    "UserConfirmResultEvent",
    "UserInterruptEvent",
]


class ConfirmResult(BaseModel):
    """A person's answer about one call, matched by the call's id.

    Attributes:
        confirmed: Whether the call may run.
        tool_call: The call; its `input` may be edited, and is then decided again.
        rules: Rules to remember from now on.
        message: What the model is told when the call is rejected.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid")

    confirmed: StrictBool
    tool_call: ToolCallBlock
    rules: list[PermissionRule] | None = None
    message: Text | None = None


class UserConfirmResultEvent(EventBase):
    """Answers to some or all of the calls that wait for a person."""

    type: Literal[EventType.USER_CONFIRM_RESULT] = EventType.USER_CONFIRM_RESULT
    reply_id: str
    confirm_results: list[ConfirmResult]


class UserInterruptEvent(EventBase):
    """The person ends the reply that waits."""

    type: Literal[EventType.USER_INTERRUPT] = EventType.USER_INTERRUPT
    reply_id: str


class ExternalExecutionResultEvent(EventBase):
    """Results of some or all of the calls that wait for someone outside."""

    type: Literal[EventType.EXTERNAL_EXECUTION_RESULT] = EventType.EXTERNAL_EXECUTION_RESULT
    reply_id: str
    execution_results: list[ToolResultBlock]
