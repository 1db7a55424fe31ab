"""Events of a model call and of the blocks it streams."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from agentscope_like.event.base import EventBase, EventType
from agentscope_like.message import DataBlock, TextBlock
from agentscope_like.permission.text import Text

__all__ = [
    "DataBlockDeltaEvent",
    "DataBlockEndEvent",
    "DataBlockStartEvent",
    "FinishedReason",
    "HintBlockEvent",
    "ModelCallEndEvent",
    "ModelCallStartEvent",
    "TextBlockDeltaEvent",
    "TextBlockEndEvent",
    "TextBlockStartEvent",
    "ThinkingBlockDeltaEvent",
    "ThinkingBlockEndEvent",
    "ThinkingBlockStartEvent",
]


class FinishedReason(StrEnum):
    """Why a model's response ended."""

    INTERRUPTED = "interrupted"
    COMPLETED = "completed"


class ModelCallStartEvent(EventBase):
    """The model is being called."""

    type: Literal[EventType.MODEL_CALL_START] = EventType.MODEL_CALL_START
    reply_id: str
    model_name: str


class ModelCallEndEvent(EventBase):
    """The model has answered; tokens as it counted them."""

    type: Literal[EventType.MODEL_CALL_END] = EventType.MODEL_CALL_END
    reply_id: str
    input_tokens: int
    output_tokens: int
    cache_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    finished_reason: FinishedReason = FinishedReason.COMPLETED


class TextBlockStartEvent(EventBase):
    """A text block begins."""

    type: Literal[EventType.TEXT_BLOCK_START] = EventType.TEXT_BLOCK_START
    reply_id: str
    block_id: Text


class TextBlockDeltaEvent(EventBase):
    """A text block grows by `delta`."""

    type: Literal[EventType.TEXT_BLOCK_DELTA] = EventType.TEXT_BLOCK_DELTA
    reply_id: str
    block_id: Text
    delta: Text


class TextBlockEndEvent(EventBase):
    """A text block is whole."""

    type: Literal[EventType.TEXT_BLOCK_END] = EventType.TEXT_BLOCK_END
    reply_id: str
    block_id: Text


class ThinkingBlockStartEvent(EventBase):
    """A block of reasoning begins."""

    type: Literal[EventType.THINKING_BLOCK_START] = EventType.THINKING_BLOCK_START
    reply_id: str
    block_id: Text


class ThinkingBlockDeltaEvent(EventBase):
    """A block of reasoning grows by `delta`."""

    type: Literal[EventType.THINKING_BLOCK_DELTA] = EventType.THINKING_BLOCK_DELTA
    reply_id: str
    block_id: Text
    delta: Text


class ThinkingBlockEndEvent(EventBase):
    """A block of reasoning is whole."""

    type: Literal[EventType.THINKING_BLOCK_END] = EventType.THINKING_BLOCK_END
    reply_id: str
    block_id: Text


class DataBlockStartEvent(EventBase):
    """A block of data begins."""

    type: Literal[EventType.DATA_BLOCK_START] = EventType.DATA_BLOCK_START
    reply_id: str
    block_id: Text
    media_type: str


class DataBlockDeltaEvent(EventBase):
    """A block of data grows by `data`, base64."""

    type: Literal[EventType.DATA_BLOCK_DELTA] = EventType.DATA_BLOCK_DELTA
    reply_id: str
    block_id: Text
    data: Text
    media_type: str


class DataBlockEndEvent(EventBase):
    """A block of data is whole."""

    type: Literal[EventType.DATA_BLOCK_END] = EventType.DATA_BLOCK_END
    reply_id: str
    block_id: Text


class HintBlockEvent(EventBase):
    """The runtime told the model something."""

    type: Literal[EventType.HINT_BLOCK] = EventType.HINT_BLOCK
    reply_id: str
    block_id: Text
    source: Text | None = None
    hint: Text | list[TextBlock | DataBlock]
