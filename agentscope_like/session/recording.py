"""Stores each event of an agent before it is passed on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
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
        EventType.CUSTOM,
        EventType.TOOL_RESULT_START,
        EventType.TOOL_RESULT_END,
        EventType.REPLY_END,
    }
)
"""Events with state changes that they do not contain: new messages, decisions, rules, tasks, files
read, a compressed context."""


async def recorded(
    events: AsyncGenerator[AgentEvent | Msg, None],
    state: AgentState,
    storage: SessionStorage,
    *,
    directory: str | None = None,
) -> AsyncGenerator[AgentEvent | Msg, None]:
    """Pass on the stream of a reply; store each event first.

    A tool starts when the event after its TOOL_RESULT_START is requested; so the stored events show
    every tool that has started. The state is saved after changes that the event does not contain,
    and when the stream ends or is closed. A cancellation while an event is being stored is raised
    in `events` once that event was passed on.

    Args:
        events: `Agent.reply_stream(...)`; it is closed with this stream.
        state: The agent's state.
        storage: Stores the events.
        directory: Where the agent works, for the list of sessions.

    Raises:
        SessionError: An event could not be stored; it was not passed on.
    """
    try:
        async with aclosing(events):
            async for event in events:
                interrupted = False
                if not isinstance(event, Msg):
                    interrupted = await _finish(_store(event, state, storage, directory))
                yield event
                if interrupted:
                    _interrupt_again()
    finally:
        if await _finish(storage.save(state, directory=directory)):
            _interrupt_again()


async def _store(
    event: AgentEvent, state: AgentState, storage: SessionStorage, directory: str | None
) -> None:
    if event.type in _CHECKPOINTS:
        await storage.save(state, directory=directory)
    else:
        await storage.append(state.session_id, event)


async def _finish(storing: Coroutine[None, None, None]) -> bool:
    """Finish storing and return whether the task was cancelled meanwhile.

    The agent ends its reply properly if a cancellation reaches it; while a command prints a lot,
    most of the time is spent here, so this passes cancellations on.
    """
    task = asyncio.create_task(storing)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        return True
    return False


def _interrupt_again() -> None:
    """Raise the delayed cancellation where the agent waits next."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()
        task.cancel()
