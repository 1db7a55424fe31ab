"""Events of tool calls: asked for by the model, waiting for someone, running, done."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from agentscope_like.event.base import EventBase, EventType
from agentscope_like.message import ToolCallBlock, ToolResultState
from agentscope_like.message.block import new_id
from agentscope_like.permission import PermissionDecision
from agentscope_like.permission.text import Facts, Text

__all__ = [
    "RequireExternalExecutionEvent",
    "RequireUserConfirmEvent",
    "ToolCallDeltaEvent",
    "ToolCallEndEvent",
    "ToolCallStartEvent",
    "ToolResultDataDeltaEvent",
    "ToolResultEndEvent",
    "ToolResultStartEvent",
    "ToolResultTextDeltaEvent",
]


class ToolCallStartEvent(EventBase):
    """The model begins a call."""

    type: Literal[EventType.TOOL_CALL_START] = EventType.TOOL_CALL_START
    reply_id: str
    tool_call_id: Text
    tool_call_name: Text


class ToolCallDeltaEvent(EventBase):
    """The arguments of a call grow by `delta`."""

    type: Literal[EventType.TOOL_CALL_DELTA] = EventType.TOOL_CALL_DELTA
    reply_id: str
    tool_call_id: Text
    delta: Text


class ToolCallEndEvent(EventBase):
    """The arguments of a call are whole."""

    type: Literal[EventType.TOOL_CALL_END] = EventType.TOOL_CALL_END
    reply_id: str
    tool_call_id: Text


class ToolResultStartEvent(EventBase):
    """A call begins to run, or its refusal to be told; `decision` says by what right."""

    type: Literal[EventType.TOOL_RESULT_START] = EventType.TOOL_RESULT_START
    reply_id: str
    tool_call_id: Text
    tool_call_name: Text
    decision: PermissionDecision | None = None


class ToolResultTextDeltaEvent(EventBase):
    """A result grows by text."""

    type: Literal[EventType.TOOL_RESULT_TEXT_DELTA] = EventType.TOOL_RESULT_TEXT_DELTA
    reply_id: str
    tool_call_id: Text
    delta: Text


class ToolResultDataDeltaEvent(EventBase):
    """A result grows by data: base64 in `data`, or a place in `url`, never both."""

    type: Literal[EventType.TOOL_RESULT_DATA_DELTA] = EventType.TOOL_RESULT_DATA_DELTA
    reply_id: str
    tool_call_id: Text
    block_id: Text = Field(default_factory=new_id)
    media_type: str
    data: Text | None = None
    url: str | None = None

    @model_validator(mode="after")
    def validate_data_source(self) -> Self:
        """Refuse an event with both a place and data, or with neither."""
        if (self.data is None) == (self.url is None):
            raise ValueError("a data delta carries either `data` or `url`: give exactly one")
        return self


class ToolResultEndEvent(EventBase):
    """A call has ended; `metadata` is the result's."""

    metadata: Facts = Field(default_factory=dict)
    type: Literal[EventType.TOOL_RESULT_END] = EventType.TOOL_RESULT_END
    reply_id: str
    tool_call_id: Text
    state: ToolResultState


class RequireUserConfirmEvent(EventBase):
    """Calls wait for a person to say yes or no."""

    type: Literal[EventType.REQUIRE_USER_CONFIRM] = EventType.REQUIRE_USER_CONFIRM
    reply_id: str
    tool_calls: list[ToolCallBlock]


class RequireExternalExecutionEvent(EventBase):
    """Calls wait for a person or a system outside to do them."""

    type: Literal[EventType.REQUIRE_EXTERNAL_EXECUTION] = EventType.REQUIRE_EXTERNAL_EXECUTION
    reply_id: str
    tool_calls: list[ToolCallBlock]
