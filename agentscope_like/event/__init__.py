"""What an agent says while it works, and what is said back to it."""

from agentscope_like.event.answer import (
    ConfirmResult,
    ExternalExecutionResultEvent,
    UserConfirmResultEvent,
    UserInterruptEvent,
)
from agentscope_like.event.base import CHILD_TASKS, EventBase, EventType
from agentscope_like.event.model import (
    DataBlockDeltaEvent,
    DataBlockEndEvent,
    DataBlockStartEvent,
    FinishedReason,
    HintBlockEvent,
    ModelCallEndEvent,
    ModelCallStartEvent,
    TextBlockDeltaEvent,
    TextBlockEndEvent,
    TextBlockStartEvent,
    ThinkingBlockDeltaEvent,
    ThinkingBlockEndEvent,
    ThinkingBlockStartEvent,
)
from agentscope_like.event.reply import (
    CustomEvent,
    ExceedMaxItersEvent,
    ReplyEndEvent,
    ReplyStartEvent,
)
from agentscope_like.event.tool import (
    RequireExternalExecutionEvent,
    RequireUserConfirmEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
    ToolResultDataDeltaEvent,
    ToolResultEndEvent,
    ToolResultStartEvent,
    ToolResultTextDeltaEvent,
)
from agentscope_like.event.union import AgentEvent, parse_event
from agentscope_like.types import ReplyFinishedReason

__all__ = [
    "CHILD_TASKS",
    "AgentEvent",
    "ConfirmResult",
    "CustomEvent",
    "DataBlockDeltaEvent",
    "DataBlockEndEvent",
    "DataBlockStartEvent",
    "EventBase",
    "EventType",
    "ExceedMaxItersEvent",
    "ExternalExecutionResultEvent",
    "FinishedReason",
    "HintBlockEvent",
    "ModelCallEndEvent",
    "ModelCallStartEvent",
    "ReplyEndEvent",
    "ReplyFinishedReason",
    "ReplyStartEvent",
    "RequireExternalExecutionEvent",
    "RequireUserConfirmEvent",
    "TextBlockDeltaEvent",
    "TextBlockEndEvent",
    "TextBlockStartEvent",
    "ThinkingBlockDeltaEvent",
    "ThinkingBlockEndEvent",
    "ThinkingBlockStartEvent",
    "ToolCallDeltaEvent",
    "ToolCallEndEvent",
    "ToolCallStartEvent",
    "ToolResultDataDeltaEvent",
    "ToolResultEndEvent",
    "ToolResultStartEvent",
    "ToolResultTextDeltaEvent",
    "UserConfirmResultEvent",
    "UserInterruptEvent",
    "parse_event",
]
