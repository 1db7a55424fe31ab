"""Storing what an agent says before anyone sees it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from agentscope_like.event import AgentEvent, EventType
from agentscope_like.message import Msg
from agentscope_like.session.storage import SessionStorage
from agentscope_like.state import AgentState

__all__ = ["recorded"]

_CHECKPOINTS = frozenset(
    {
        EventType.REPLY_START,
        EventType.MODEL_CALL_END,
        EventType.REQUIRE_USER_CONFIRM,
        EventType.REQUIRE_EXTERNAL_EXECUTION,
        EventType.USER_CONFIRM_RESULT,
        EventType.EXTERNAL_EXECUTION_RESULT,
        EventType.USER_INTERRUPT,
        EventType.TOOL_RESULT_END,
        EventType.REPLY_END,
    }
)
"""Events after which more has changed than they tell: new messages, rules, tasks, files read."""


async def recorded(
    events: AsyncGenerator[AgentEvent | Msg, None],
    state: AgentState,
    storage: SessionStorage,
    *,
    directory: str | None = None,
) -> AsyncGenerator[AgentEvent | Msg, None]:
    """Pass on the stream of a reply, each event only once it is stored.

    A tool begins to run when the event after its TOOL_RESULT_START is asked for; so whatever ran
    is known to have been running. The state is saved wherever it changes by more than the event
    tells, and when the stream ends or is closed.

    Args:
        events: `Agent.reply_stream(...)`; it is closed with this stream.
        state: The agent's state.
        storage: Where to.
        directory: Where the agent works, for the list of sessions.

    Raises:
        SessionError: An event could not be stored; it was not passed on.
    """
    try:
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Msg):
                    pass
                elif event.type in _CHECKPOINTS:
                    await storage.save(state, directory=directory)
                else:
                    await storage.append(state.session_id, event)
                yield event
    finally:
        await storage.save(state, directory=directory)
