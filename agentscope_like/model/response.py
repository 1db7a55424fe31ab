"""Defines `ChatResponse`, the answer of a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from agentscope_like.event import FinishedReason
from agentscope_like.message import DataBlock, TextBlock, ThinkingBlock, ToolCallBlock
from agentscope_like.message.block import new_id, now

__all__ = ["ChatResponse", "ChatUsage", "FinishedReason", "ResponseBlock"]

ResponseBlock: TypeAlias = TextBlock | ToolCallBlock | ThinkingBlock | DataBlock


@dataclass(frozen=True, slots=True)
class ChatUsage:
    """Tokens and time of one answer.

    Attributes:
        input_tokens: Tokens read, those from a cache included.
        output_tokens: Tokens written, reasoning included.
        time: Seconds from the request to the end of the answer.
        cache_creation_input_tokens: Tokens of the input that were written to the server's cache.
        cache_input_tokens: Tokens of the input that came from the server's cache.
    """

    input_tokens: int
    output_tokens: int
    time: float
    cache_creation_input_tokens: int = 0
    cache_input_tokens: int = 0


@dataclass(slots=True)
class ChatResponse:
    """An answer, or the new part of one that is being streamed.

    The blocks of all responses of one stream that belong together have the same id.

    Attributes:
        content: With `is_last=False`, the content since the previous response; with `is_last=True`,
            the whole answer, which may be empty.
        is_last: Whether the answer ends here.
        id: The same for every response of one stream.
        usage: Tokens and time, on the last response, if the server reports them.
        finished_reason: Why it ended.
        metadata: Facts for programs, such as the server's own `finish_reason`.
    """

    content: list[ResponseBlock]
    is_last: bool
    id: str = field(default_factory=new_id)
    created_at: str = field(default_factory=now)
    usage: ChatUsage | None = None
    finished_reason: FinishedReason = FinishedReason.COMPLETED
    metadata: dict[str, Any] = field(default_factory=dict)
