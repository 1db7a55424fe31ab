"""Events of a reply as a whole."""

from __future__ import annotations

from typing import Any, Literal

from agentscope_like.event.base import EventBase, EventType
from agentscope_like.permission.text import Facts
from agentscope_like.types import ErrorInfo, ReplyFinishedReason

__all__ = ["CustomEvent", "ExceedMaxItersEvent", "ReplyEndEvent", "ReplyStartEvent"]


class ReplyStartEvent(EventBase):
    """A reply begins; a resumed one does not begin again."""

    type: Literal[EventType.REPLY_START] = EventType.REPLY_START
    session_id: str
    reply_id: str
    name: str
    role: Literal["user", "assistant", "system"] = "assistant"


class ReplyEndEvent(EventBase):
    """A reply ended; a stream that parks ends without this event.

    Attributes:
        structured_output: The answer that fits the schema which the reply was asked for.
    """

    type: Literal[EventType.REPLY_END] = EventType.REPLY_END
    session_id: str
    reply_id: str
    finished_reason: ReplyFinishedReason = ReplyFinishedReason.COMPLETED
    error: ErrorInfo | None = None
    structured_output: Facts | None = None


class ExceedMaxItersEvent(EventBase):
    """The reply took all the rounds it may take and is told to sum up."""

    type: Literal[EventType.EXCEED_MAX_ITERS] = EventType.EXCEED_MAX_ITERS
    reply_id: str
    name: str


class CustomEvent(EventBase):
    """Something that a program using the library says to itself."""

    type: Literal[EventType.CUSTOM] = EventType.CUSTOM
    name: str
    value: Any = None
