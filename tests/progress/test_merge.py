"""Messages and progress as one stream: in order, closed in the end, cancelled as a whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from contextvars import ContextVar

import pytest

from agentscope_like.event import ReplyEndEvent, ToolResultEndEvent
from agentscope_like.message import TextBlock, ToolCallBlock, ToolResultState, UserMsg
from agentscope_like.progress import (
    ProgressQueue,
    ToolProgressEvent,
    bind_tool_progress,
    emit_tool_progress,
    interleave_message_and_progress,
)
from agentscope_like.types import ReplyFinishedReason
from tests.agent.kit import agent_of
from tests.progress.kit import tool_of

GO = UserMsg("user", "Go.")
DONE = (TextBlock(text="Done."),)
CALL = ToolCallBlock(id="c1", name="work", input="{}")


def in_short(item: str | ToolProgressEvent) -> str:
    """Return a message as it is, progress in angle brackets."""
    if isinstance(item, str):
        return item
    return "<end>" if item.closed else f"<{item.text}>"


async def test_sage_p_33_progress_comes_before_what_follows_it() -> None:
    """What a call showed is yielded before the message that was made after its end."""

    async def messages() -> AsyncGenerator[str, None]:
        yield "first"
        with bind_tool_progress("c1"):
            await emit_tool_progress("working")
        yield "second"

    merged = interleave_message_and_progress(messages())
    assert [in_short(item) async for item in merged] == ["first", "<working>", "<end>", "second"]


async def test_sage_p_33_progress_comes_while_a_message_is_awaited() -> None:
    """It is live: the next message may depend on somebody having seen it."""
    seen = asyncio.Event()

    async def messages() -> AsyncGenerator[str, None]:
        with bind_tool_progress("c1"):
            await emit_tool_progress("look")
            await seen.wait()
        yield "message"

    async with asyncio.timeout(20):
        items = []
        async for item in interleave_message_and_progress(messages()):
            items.append(in_short(item))
            seen.set()
    assert items == ["<look>", "<end>", "message"]


async def test_sage_p_33_a_failure_does_not_swallow_progress() -> None:
    """What was shown before an exception comes before it."""

    async def messages() -> AsyncGenerator[str, None]:
        with bind_tool_progress("c1"):
            await emit_tool_progress("so far")
            raise ValueError("broken")
        yield "never"

    merged = interleave_message_and_progress(messages())
    assert [in_short(await anext(merged)) for _ in range(2)] == ["<so far>", "<end>"]
    with pytest.raises(ValueError, match="broken"):
        await anext(merged)


async def test_leaving_closes_the_messages_and_ends_the_queue() -> None:
    """Whoever stops reading leaves no step, no task and no open stream behind."""
    closed: list[str] = []
    before = asyncio.all_tasks()
    queue = ProgressQueue()

    async def messages() -> AsyncGenerator[str, None]:
        try:
            with bind_tool_progress("c1"):
                await emit_tool_progress("look", "info")
                await asyncio.sleep(60)
            yield "never"
        finally:
            closed.append("closed")

    async with aclosing(interleave_message_and_progress(messages(), queue)) as merged:
        async for item in merged:
            assert in_short(item) == "<look>"
            break
    assert closed == ["closed"]
    assert queue.is_over
    assert asyncio.all_tasks() == before


async def test_messages_have_one_context_and_leave_none() -> None:
    """All steps see what an earlier one set, and the reader sees none of it."""
    variable = ContextVar("variable", default="unset")

    async def messages() -> AsyncGenerator[str, None]:
        variable.set("set")
        yield variable.get()
        yield variable.get()

    merged = interleave_message_and_progress(messages())
    assert [in_short(item) async for item in merged] == ["set", "set"]
    assert variable.get() == "unset"


async def test_an_interrupted_agent_ends_its_reply_in_order() -> None:
    """Cancelling whoever reads interrupts the agent, which says so, as without progress."""
    begun = asyncio.Event()

    async def work() -> str:
        await emit_tool_progress("begun")
        begun.set()
        await asyncio.sleep(60)
        return "never"

    agent = agent_of([tool_of(work)], [CALL], DONE)
    items: list[object] = []

    async def read() -> None:
        async with aclosing(interleave_message_and_progress(agent.reply_stream(GO))) as merged:
            items.extend([item async for item in merged])
        task = asyncio.current_task()
        assert task is not None
        assert not task.cancelling(), "the cancellation was answered"

    reading = asyncio.create_task(read())
    await begun.wait()
    reading.cancel()
    await reading
    shown = [in_short(item) for item in items if isinstance(item, ToolProgressEvent)]
    assert shown == ["<begun>", "<end>"]
    ends = [item.state for item in items if isinstance(item, ToolResultEndEvent)]
    assert ends == [ToolResultState.INTERRUPTED]
    assert isinstance(items[-1], ReplyEndEvent)
    assert items[-1].finished_reason is ReplyFinishedReason.INTERRUPTED


async def test_cancelling_messages_that_do_not_mind_it_cancels_the_reader() -> None:
    """A plain stream that is cancelled passes the cancellation on."""

    async def messages() -> AsyncGenerator[str, None]:
        await asyncio.sleep(60)
        yield "never"

    async def read() -> None:
        async for _ in interleave_message_and_progress(messages()):
            pass

    reading = asyncio.create_task(read())
    await asyncio.sleep(0.01)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
