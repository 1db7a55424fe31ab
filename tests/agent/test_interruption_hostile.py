"""A reply that is cancelled, closed or not stored at any point of it, and what is left then."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Any

import pytest

from agentscope_like.agent import AgentInput, ReActConfig
from agentscope_like.event import AgentEvent
from agentscope_like.message import (
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from agentscope_like.model import ChatResponse
from agentscope_like.session import SessionError, recorded
from agentscope_like.state import AgentState
from tests.agent.kit import DictatedModel, agent_of, answer, calls_of, executed, reloaded
from tests.agent.test_middlewares import Tracing
from tests.tool.kit import Probe, call_of, chunk_of

pytestmark = pytest.mark.slow

DONE = [TextBlock(text="All done.")]
GO = UserMsg("user", "go")


def call(name: str, call_id: str) -> ToolCallBlock:
    """Return a call whose text is its id, so that its runs can be counted."""
    return call_of(name, f'{{"text": "{call_id}"}}', call_id)


CALLS = [
    call("Deny", "d1"),
    call("Deny", "d2"),
    call("Nope", "n1"),
    call("Work", "w1"),
    call("Work", "w2"),
    call("Seq", "s1"),
    call("Ask", "a1"),
    call("Ask", "a2"),
    call("Ext", "e1"),
    call("Seq", "s2"),
]


async def streamed() -> AsyncGenerator[ChatResponse, None]:
    """Say a text and make all the calls, in parts."""
    yield ChatResponse(content=[TextBlock(id="t", text="I ")], is_last=False)
    await asyncio.sleep(0)
    yield ChatResponse(content=[TextBlock(id="t", text="work.")], is_last=False)
    for one in CALLS:
        yield ChatResponse(content=[one], is_last=False)
    yield ChatResponse(content=[TextBlock(id="t", text="I work."), *CALLS], is_last=True)


class Stage:
    """An agent in the middle of much work, its tools, and a count of what they ran."""

    def __init__(self, config: ReActConfig | None = None, *, hooked: bool = False) -> None:
        self.closed = 0
        self.kit = [
            Probe("Deny", "deny"),
            Probe("Work", work=self.work),
            Probe("Seq", concurrent=False, work=self.work),
            Probe("Ask", "ask", work=self.work),
            Probe("Ext", external=True),
        ]
        layers = [Tracing("outer", []), Tracing("inner", [])] if hooked else []
        self.agent = agent_of(
            self.kit, streamed, DONE, DONE, DONE, config=config, middlewares=layers
        )

    async def work(self, text: str) -> AsyncGenerator[Any, None]:
        """Take three steps, and a fourth to clean up."""
        try:
            for n in range(3):
                await asyncio.sleep(0)
                yield chunk_of(f"{text} {n} ")
        finally:
            self.closed += 1
            await asyncio.sleep(0)

    def runs(self) -> Counter[str]:
        """Return how often each call ran."""
        return Counter(text for tool in self.kit for text in tool.runs)

    def restart(self) -> None:
        """Go on from the JSON of the state, as a new process would."""
        turns = self.agent.model.turns if isinstance(self.agent.model, DictatedModel) else []
        self.agent = reloaded(self.agent, self.kit, *(turns or [DONE]))

    def next_answer(self) -> AgentInput:
        """Return the answer to one of the calls that wait."""
        waiting = self.agent.state.get_awaiting_tool_calls("robot")[0]
        if waiting.state is ToolCallState.SUBMITTED:
            return executed(self.agent, waiting.id)
        return answer(self.agent, waiting.id, confirmed=waiting.id != "a2")

    def check(self) -> None:
        """Nothing is left running, half open or doubled, and the state can be stored."""
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert [task for task in others if "reply" in repr(task) or "pump" in repr(task)] == []
        assert max(self.runs().values(), default=1) == 1
        assert self.runs().total() - len(self.kit[0].runs) == self.closed
        state = self.agent.state
        assert AgentState.model_validate_json(state.model_dump_json()) == state
        results = final_results(state.context)
        for block in (b for message in state.context for b in message.content):
            if isinstance(block, ToolCallBlock):
                is_over = block.state is ToolCallState.FINISHED
                assert results[block.id] == (1 if is_over else 0)
                assert block.state is not ToolCallState.ALLOWED

    async def answer_all(self) -> Msg | None:
        """Answer what waits until nothing does; return the last reply."""
        last = None
        while self.agent.state.has_awaiting_tool_calls("robot"):
            last = await self.agent.reply(self.next_answer())
        return last

    async def finish(self) -> None:
        """Answer what waits, then have a further message answered, and all that it leads to."""
        await self.answer_all()
        again = await self.agent.reply(UserMsg("user", "again"))
        again = await self.answer_all() or again
        assert (again.get_text_content() or "").endswith("All done.")
        assert max(self.runs().values(), default=1) == 1
        assert isinstance(self.agent.model, DictatedModel)
        told = self.agent.model.seen[-1]
        calls = [b.id for m in told for b in m.content if isinstance(b, ToolCallBlock)]
        assert final_results(told) == Counter(calls)


def final_results(messages: list[Msg]) -> Counter[str]:
    """Return how many final results there are of each call."""
    return Counter(
        block.id
        for message in messages
        for block in message.content
        if isinstance(block, ToolResultBlock) and block.state is not ToolResultState.RUNNING
    )


async def parked(stage: Stage) -> None:
    """Come to where calls wait."""
    await stage.agent.reply(GO)
    assert stage.agent.state.has_awaiting_tool_calls("robot")


Break = Callable[[Stage, AgentInput, int], Awaitable[bool]]
"""Breaks a reply off at its nth point; returns whether the reply had that many."""


async def close(stage: Stage, inputs: AgentInput, n: int) -> bool:
    """Stop listening at the nth event."""
    stream = stage.agent.reply_stream(inputs)
    async with aclosing(stream):
        async for _ in aislice(stream, n):
            pass
        return await anext(stream, None) is not None


async def aislice(stream: AsyncGenerator[Any, None], n: int) -> AsyncGenerator[Any, None]:
    """Yield the first n items and leave the stream open."""
    for _ in range(n):
        item = await anext(stream, None)
        if item is None:
            return
        yield item


async def cancel_at_event(stage: Stage, inputs: AgentInput, n: int) -> bool:
    """Cancel the listening task as it has the nth event in hand."""
    seen = itertools.count()
    hit = False

    async def listen() -> None:
        nonlocal hit
        async with aclosing(stage.agent.reply_stream(inputs)) as stream:
            async for _ in stream:
                if next(seen) == n:
                    task = asyncio.current_task()
                    hit = task is not None and task.cancel()

    await asyncio.wait([asyncio.create_task(listen())])
    return hit


def cancel_at_step(times: int) -> Break:
    """Return what cancels at the nth turn of the loop, and again at each of the next turns."""

    async def cancel(stage: Stage, inputs: AgentInput, n: int) -> bool:
        task = asyncio.create_task(stage.agent.reply(inputs))
        for _ in range(n):
            await asyncio.sleep(0)
        hit = task.cancel()
        for _ in range(times - 1):
            await asyncio.sleep(0)
            task.cancel()
        await asyncio.wait([task])
        return hit

    return cancel


class Failing:
    """A storage that fails at its nth write, once."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.hit = False

    async def save(self, state: AgentState, *, directory: str | None = None) -> None:
        """Keep nothing, or fail."""
        await self.write()

    async def append(self, session_id: str, event: AgentEvent) -> None:
        """Keep nothing, or fail."""
        await self.write()

    async def write(self) -> None:
        """Count down to the failure."""
        await asyncio.sleep(0)
        self.n -= 1
        if self.n == -1:
            self.hit = True
            raise SessionError("the disk is full")


async def fail_to_store(stage: Stage, inputs: AgentInput, n: int) -> bool:
    """Have the nth write of the session's storage fail."""
    storage: Any = Failing(n)
    stream = recorded(stage.agent.reply_stream(inputs), stage.agent.state, storage)
    with suppress(SessionError):
        async with aclosing(stream):
            async for _ in stream:
                pass
    return bool(storage.hit)


BREAKS: dict[str, Break] = {
    "close": close,
    "cancel at event": cancel_at_event,
    "cancel at step": cancel_at_step(1),
    "cancel at step, twice": cancel_at_step(2),
    "cancel at step, thrice": cancel_at_step(3),
    "storage fails": fail_to_store,
}
DEPTHS = {"the first message": 0, "the first answer": 1, "the last answer": 3}


@pytest.mark.parametrize("raises", [False, True], ids=["swallows", "raises"])
@pytest.mark.parametrize("depth", DEPTHS.values(), ids=DEPTHS)
@pytest.mark.parametrize("how", BREAKS.values(), ids=BREAKS)
async def test_a_reply_may_break_off_anywhere(how: Break, depth: int, raises: bool) -> None:
    """Each call is closed or waits, nothing runs twice, and the session goes on, restarted or not.

    The reply is broken off at its first point, then at its second, until it has no further one;
    every other time with layers around all of its parts.
    """
    for n in itertools.count():
        config = ReActConfig(interruption_raise_cancelled_error=raises)
        stage = Stage(config, hooked=n // 2 % 2 == 1)
        inputs: AgentInput = GO
        for _ in range(depth):
            await stage.agent.reply(inputs)
            inputs = stage.next_answer()
        hit = await how(stage, inputs, n)
        stage.check()
        if n % 2:
            stage.restart()
        await stage.finish()
        if not hit:
            break
    assert n > 3


async def test_a_timeout_around_a_reply_ends_it_in_order() -> None:
    """The reply ends as interrupted, and what comes after the timeout is not cancelled."""

    async def endless(_: str) -> AsyncGenerator[Any, None]:
        while True:
            await asyncio.sleep(0.01)
            yield chunk_of("tick ")

    for raises in (False, True):
        config = ReActConfig(interruption_raise_cancelled_error=raises)
        agent = agent_of([Probe(work=endless)], [call_of()], DONE, config=config)
        timed_out = False
        try:
            async with asyncio.timeout(0.05):
                await agent.reply(GO)
        except TimeoutError:
            timed_out = True
        assert timed_out is raises
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        assert calls_of(agent)["c1"].state is ToolCallState.FINISHED
        assert (await agent.reply(UserMsg("user", "again"))).get_text_content() == "All done."


async def test_a_task_group_that_fails_ends_the_replies_in_it() -> None:
    """A sibling's failure interrupts the reply; the group raises that failure alone."""

    async def endless(_: str) -> AsyncGenerator[Any, None]:
        while True:
            await asyncio.sleep(0.01)
            yield chunk_of("tick ")

    async def fail() -> None:
        await asyncio.sleep(0.05)
        raise OSError("sibling")

    config = ReActConfig(interruption_raise_cancelled_error=True)
    agents = [
        agent_of([Probe(work=endless)], [call_of()], DONE),
        agent_of([Probe(work=endless)], [call_of()], DONE, config=config),
    ]

    async def together() -> None:
        async with asyncio.TaskGroup() as group:
            for agent in agents:
                group.create_task(agent.reply(GO))
            group.create_task(fail())

    with pytest.raises(ExceptionGroup) as caught:
        await together()
    assert [type(error) for error in caught.value.exceptions] == [OSError]
    for agent in agents:
        assert calls_of(agent)["c1"].state is ToolCallState.FINISHED
        assert (await agent.reply(UserMsg("user", "again"))).get_text_content() == "All done."


async def test_a_cancellation_that_was_caught_before_does_not_interrupt_a_reply() -> None:
    """A task that went on after a CancelledError, without `uncancel`, can still have replies."""

    async def stubborn() -> Msg:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        agent = agent_of([Probe(), Probe("Seq", concurrent=False)], CALLS[3:6], DONE)
        return await agent.reply(GO)

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    task.cancel()
    assert (await task).get_text_content() == "All done."
