"""Replays the events after a saved state to restore the current state."""

from __future__ import annotations

from agentscope_like.event import (
    AgentEvent,
    CustomEvent,
    HintBlockEvent,
    ModelCallStartEvent,
    ReplyStartEvent,
)
from agentscope_like.message import Msg
from agentscope_like.state import AgentState, ReplyContext

__all__ = ["replay"]

UNNAMED = "assistant"


def replay(state: AgentState, event: AgentEvent) -> None:
    """Apply one event to the state, in place, as the agent did.

    Changes without events are not restored: remembered rules, tasks, files read. The agent
    therefore asks, or reads, once more.

    Args:
        state: The state after all earlier events.
        event: The next event of the session.
    """
    if isinstance(event, CustomEvent):
        return
    message = _find(state, event.reply_id)
    if message is None:
        message = _begin(state, event)
    if isinstance(event, ModelCallStartEvent | HintBlockEvent):
        _count_round(state, event)
    message.append_event(event)


def _count_round(state: AgentState, event: ModelCallStartEvent | HintBlockEvent) -> None:
    said = event.metadata.get("cur_iter")
    if isinstance(said, int):
        state.reply_context.cur_iter = said
    elif isinstance(event, ModelCallStartEvent):  # of a session that did not say it yet
        state.reply_context.cur_iter += 1


def _find(state: AgentState, reply_id: str) -> Msg | None:
    for message in reversed(state.context):
        if message.id == reply_id and message.role == "assistant":
            return message
    return None


def _begin(state: AgentState, event: AgentEvent) -> Msg:
    if isinstance(event, ReplyStartEvent):
        name, reply_id = event.name, event.reply_id
    else:
        said = (m.name for m in reversed(state.context) if m.role == "assistant")
        name, reply_id = next(said, UNNAMED), getattr(event, "reply_id", state.reply_id)
    message = Msg(name=name, role="assistant", content=[], id=reply_id, created_at=event.created_at)
    if state.reply_id != reply_id:
        state.reply_context = ReplyContext(reply_id=reply_id)
    state.context.append(message)
    return message
