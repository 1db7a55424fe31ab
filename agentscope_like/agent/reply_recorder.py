"""Keeps the reply's message and its events in step."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from pydantic_core import to_jsonable_python

from agentscope_like.event import (
    AgentEvent,
    ToolResultDataDeltaEvent,
    ToolResultEndEvent,
    ToolResultStartEvent,
    ToolResultTextDeltaEvent,
)
from agentscope_like.message import (
    Base64Source,
    DataBlock,
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
)
from agentscope_like.permission.text import printable
from agentscope_like.state import AgentState

__all__ = ["ReplyRecorder"]

UNSTORABLE = "these facts could not be stored"

NOT_KEPT = "Interrupted: the command ran held, and nothing of it was kept."
RAN_HELD = "Interrupted: the command ran held."

EventT = TypeVar("EventT", bound=AgentEvent)


class ReplyRecorder:
    """Builds the reply's message from its events alone.

    Replaying the events therefore gives the same message.

    Args:
        state: The agent's state.
        name: The agent's name.

    Attributes:
        broken_off: The ids of incomplete calls, which must never run.
    """

    def __init__(self, state: AgentState, name: str) -> None:
        self.state = state
        self.name = name
        self.broken_off: set[str] = set()
        self._watched: set[str] | None = None

    @property
    def reply_id(self) -> str:
        """Return the id of the reply."""
        return self.state.reply_id

    @property
    def message(self) -> Msg:
        """Return the message of the reply; begin it if there is none."""
        message = self.state.reply_message(self.name)
        if message is None:
            self.state.append_context(self.name, [])
            message = self.state.context[-1]
        return message

    def take(self, event: EventT) -> EventT:
        """Add the event to the message and return it."""
        self.message.append_event(event)
        if self._watched is not None:
            self._watched.add(event.id)
        return event

    def watch(self) -> None:
        """Remember which events are added from now on, so that `adopt` recognises others."""
        self._watched = set()

    def adopt(self, event: EventT) -> EventT:
        """Add an event that a hook made since `watch`; return the event in any case."""
        if self._watched is None or event.id in self._watched:
            return event
        return self.take(event)

    @property
    def is_over(self) -> bool:
        """Return whether no reply is running: none began, or the last one has ended."""
        message = self.state.reply_message(self.name)
        return message is None or message.finished_reason is not None

    def pending(self) -> list[ToolCallBlock]:
        """Return the calls that are not decided yet."""
        return [call for call in self.calls() if call.state is ToolCallState.PENDING]

    def calls(self) -> list[ToolCallBlock]:
        """Return the calls of the reply, as stored."""
        message = self.state.reply_message(self.name)
        blocks = message.content if message is not None else []
        return [block for block in blocks if isinstance(block, ToolCallBlock)]

    def result(self, call_id: str) -> ToolResultBlock | None:
        """Return the result of a call so far, or None."""
        for block in reversed(self.message.content):
            if isinstance(block, ToolResultBlock) and block.id == call_id:
                return block
        return None

    def begin_result(self, call: ToolCallBlock) -> Iterator[AgentEvent]:
        """Begin the call's result, unless it has begun."""
        if self.result(call.id) is None:
            yield self.take(
                ToolResultStartEvent(
                    reply_id=self.reply_id,
                    tool_call_id=call.id,
                    tool_call_name=call.name,
                    decision=call.decision,
                )
            )

    def add_output(
        self, call_id: str, output: str | list[TextBlock | DataBlock]
    ) -> Iterator[AgentEvent]:
        """Add to the call's result."""
        blocks = [TextBlock(text=output)] if isinstance(output, str) else output
        for block in blocks:
            if isinstance(block, DataBlock):
                yield self._data(call_id, block)
            elif block.text:
                yield self.take(
                    ToolResultTextDeltaEvent(
                        reply_id=self.reply_id, tool_call_id=call_id, delta=block.text
                    )
                )

    def _data(self, call_id: str, block: DataBlock) -> AgentEvent:
        source = block.source
        inline = isinstance(source, Base64Source)
        return self.take(
            ToolResultDataDeltaEvent(
                reply_id=self.reply_id,
                tool_call_id=call_id,
                block_id=block.id,
                media_type=source.media_type,
                data=source.data if isinstance(source, Base64Source) else None,
                url=None if inline else str(getattr(source, "url", "")),
            )
        )

    def end_result(
        self,
        call_id: str,
        state: ToolResultState,
        metadata: dict[str, object] | None = None,
    ) -> AgentEvent:
        """End the call's result."""
        return self.take(
            ToolResultEndEvent(
                reply_id=self.reply_id,
                tool_call_id=call_id,
                state=state,
                metadata=_storable(metadata or {}),
            )
        )

    def whole_result(
        self, call: ToolCallBlock, text: str, state: ToolResultState
    ) -> Iterator[AgentEvent]:
        """Give the call a result of one text, in addition to any output so far."""
        yield from self.begin_result(call)
        begun = self.result(call.id)
        text = f"\n{text}" if begun is not None and begun.output else text
        yield from self.add_output(call.id, text)
        yield self.end_result(call.id, state)

    def end_broken_off(self, text: str) -> Iterator[AgentEvent]:
        """End every incomplete call that has no result yet."""
        for call in self.state.get_unfinished_tool_calls(self.name) if self.broken_off else ():
            if call.id in self.broken_off:
                yield from self.whole_result(call, text, ToolResultState.INTERRUPTED)
        self.broken_off.clear()

    def interrupt_open_calls(self, begun: str, not_begun: str) -> Iterator[AgentEvent]:
        """End every call that has no final result as interrupted.

        Args:
            begun: The text for calls that ran, or waited for an external result.
            not_begun: The text for other calls.
        """
        for call in self.state.get_unfinished_tool_calls(self.name):
            text = not_begun if self.result(call.id) is None else begun
            if call.apply is None:
                yield from self.whole_result(call, text, ToolResultState.INTERRUPTED)
            else:
                yield from self.interrupt_held_call(call, "")

    def interrupt_held_call(self, call: ToolCallBlock, objection: str) -> Iterator[AgentEvent]:
        """End a call that ran held, and waited for an answer about what it changed.

        Args:
            call: The call.
            objection: Why its changes could not be dropped; empty if they are.
        """
        text = NOT_KEPT
        if objection:
            text = f"{RAN_HELD} {objection[:1].upper()}{objection[1:]}"
        yield from self.whole_result(call, text, ToolResultState.INTERRUPTED)


def _storable(metadata: Mapping[str, object]) -> dict[str, Any]:
    """Return the facts as JSON; values that JSON cannot express become text."""
    try:
        plain: dict[str, Any] = _written(
            to_jsonable_python(metadata, fallback=str, bytes_mode="base64", inf_nan_mode="strings")
        )
    except (ValueError, TypeError, RecursionError) as error:
        return {UNSTORABLE: printable(str(error))}
    return plain


def _written(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable(str(key)): _written(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_written(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
