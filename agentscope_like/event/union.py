"""All events as one type, and reading one back from JSON."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field, TypeAdapter

from agentscope_like.event import answer, model, reply, tool
from agentscope_like.strict_json import read_json

__all__ = ["AgentEvent", "parse_event"]

AgentEvent: TypeAlias = (
    reply.ReplyStartEvent
    | reply.ReplyEndEvent
    | reply.ExceedMaxItersEvent
    | reply.CustomEvent
    | model.ModelCallStartEvent
    | model.ModelCallEndEvent
    | model.TextBlockStartEvent
    | model.TextBlockDeltaEvent
    | model.TextBlockEndEvent
    | model.ThinkingBlockStartEvent
    | model.ThinkingBlockDeltaEvent
    | model.ThinkingBlockEndEvent
    | model.DataBlockStartEvent
    | model.DataBlockDeltaEvent
    | model.DataBlockEndEvent
    | model.HintBlockEvent
    | tool.ToolCallStartEvent
    | tool.ToolCallDeltaEvent
    | tool.ToolCallEndEvent
    | tool.ToolResultStartEvent
    | tool.ToolResultTextDeltaEvent
    | tool.ToolResultDataDeltaEvent
    | tool.ToolResultEndEvent
    | tool.RequireUserConfirmEvent
    | tool.RequireExternalExecutionEvent
    | answer.UserConfirmResultEvent
    | answer.UserInterruptEvent
    | answer.ExternalExecutionResultEvent
)

_adapter: TypeAdapter[AgentEvent] = TypeAdapter(Annotated[AgentEvent, Field(discriminator="type")])


def parse_event(text: str | bytes) -> AgentEvent:
    """Return the event that `text`, one JSON object, describes.

    Raises:
        ValueError: The text is not an event, or could be read in two ways.
    """
    read_json(text)
    return _adapter.validate_json(text)
