"""From stored events back to the state: any prefix, wherever it was saved in between."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentscope_like.event import (
    AgentEvent,
    ConfirmResult,
    CustomEvent,
    HintBlockEvent,
    ModelCallEndEvent,
    ModelCallStartEvent,
    ReplyEndEvent,
    ReplyStartEvent,
    RequireUserConfirmEvent,
    TextBlockDeltaEvent,
    TextBlockEndEvent,
    TextBlockStartEvent,
    ThinkingBlockDeltaEvent,
    ThinkingBlockEndEvent,
    ThinkingBlockStartEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
    ToolResultDataDeltaEvent,
    ToolResultEndEvent,
    ToolResultStartEvent,
    ToolResultTextDeltaEvent,
    UserConfirmResultEvent,
)
from agentscope_like.message import (
    Msg,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from agentscope_like.session import SessionError, SQLiteSessionStorage, recorded
from agentscope_like.state import AgentState

R = "reply"
TEXT = st.text(st.characters(codec="utf-8") | st.just("\udc80"), max_size=5)


def said(block: str, pieces: list[str]) -> list[AgentEvent]:
    deltas = [TextBlockDeltaEvent(reply_id=R, block_id=block, delta=piece) for piece in pieces]
    return [
        TextBlockStartEvent(reply_id=R, block_id=block),
        *deltas,
        TextBlockEndEvent(reply_id=R, block_id=block),
    ]


def thought(block: str, pieces: list[str]) -> list[AgentEvent]:
    deltas = [ThinkingBlockDeltaEvent(reply_id=R, block_id=block, delta=p) for p in pieces]
    return [
        ThinkingBlockStartEvent(reply_id=R, block_id=block),
        *deltas,
        ThinkingBlockEndEvent(reply_id=R, block_id=block),
    ]


def called(call: str, pieces: list[str], asks: bool, state: ToolResultState) -> list[AgentEvent]:
    asking = ToolCallBlock(id=call, name="Bash", input="{}", state=ToolCallState.ASKING)
    answer = ConfirmResult(confirmed=True, tool_call=asking)
    waiting: list[AgentEvent] = [
        RequireUserConfirmEvent(reply_id=R, tool_calls=[asking]),
        UserConfirmResultEvent(reply_id=R, confirm_results=[answer]),
    ]
    data = ToolResultDataDeltaEvent(
        reply_id=R, tool_call_id=call, media_type="image/png", data="QQ=="
    )
    return [
        ToolCallStartEvent(reply_id=R, tool_call_id=call, tool_call_name="Bash"),
        ToolCallDeltaEvent(reply_id=R, tool_call_id=call, delta="{}"),
        ToolCallEndEvent(reply_id=R, tool_call_id=call),
        *(waiting if asks else []),
        ToolResultStartEvent(reply_id=R, tool_call_id=call, tool_call_name="Bash"),
        *(ToolResultTextDeltaEvent(reply_id=R, tool_call_id=call, delta=p) for p in pieces),
        data,
        ToolResultEndEvent(reply_id=R, tool_call_id=call, state=state, metadata={"exit_code": 1}),
    ]


PIECES = st.lists(TEXT, max_size=3)
PARTS = st.one_of(
    st.tuples(st.just(said), PIECES),
    st.tuples(st.just(thought), PIECES),
    st.tuples(st.just(called), PIECES, st.booleans(), st.sampled_from(ToolResultState)),
)


@st.composite
def replies(draw: st.DrawFn) -> list[AgentEvent]:
    """Draw the events of a reply, cut off anywhere."""
    events: list[AgentEvent] = [
        ReplyStartEvent(session_id="s", reply_id=R, name="agent"),
        ModelCallStartEvent(reply_id=R, model_name="m"),
    ]
    for number, (make, *rest) in enumerate(draw(st.lists(PARTS, max_size=4))):
        events += make(f"b{number}", *rest)
    events += [
        HintBlockEvent(reply_id=R, block_id="h", hint=draw(TEXT)),
        CustomEvent(name="note", value={"x": [1]}),
        ModelCallEndEvent(reply_id=R, input_tokens=1, output_tokens=2),
        ReplyEndEvent(session_id="s", reply_id=R),
    ]
    return events[: draw(st.integers(1, len(events)))]


def built(state: AgentState, events: list[AgentEvent]) -> AgentState:
    """Return the state as the agent would have it, with its message built from the events."""
    state = state.model_copy(deep=True)
    state.reply_context.reply_id = R
    message = Msg(name="agent", role="assistant", content=[], id=R, created_at=events[0].created_at)
    state.context.append(message)
    for event in events:
        message.append_event(event)
        state.reply_context.cur_iter += event.type == "MODEL_CALL_START"
    return state


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(events=replies(), saves=st.sets(st.integers(0, 30), max_size=3))
def test_any_prefix_gives_its_state(events: list[AgentEvent], saves: set[int]) -> None:
    """What is loaded is the state that the events so far build, wherever it was saved between."""
    begun = AgentState(session_id="s", context=[UserMsg("u", "go")])

    async def stored() -> AgentState | None:
        with tempfile.TemporaryDirectory() as place:
            async with SQLiteSessionStorage(Path(place) / "s.db") as storage:
                await storage.save(begun)
                for number, event in enumerate(events, start=1):
                    await storage.append("s", event)
                    if number in saves:
                        await storage.save(built(begun, events[:number]))
            async with SQLiteSessionStorage(Path(place) / "s.db") as storage:
                return await storage.load("s")

    assert asyncio.run(stored()) == built(begun, events)


async def test_a_call_that_was_running(tmp_path: Path) -> None:
    """A result that began and did not end is RUNNING, its call unfinished; an ended one is not."""
    done = called("done", ["x"], asks=False, state=ToolResultState.SUCCESS)
    cut = called("cut", ["so far"], asks=False, state=ToolResultState.SUCCESS)[:-2]
    async with SQLiteSessionStorage(tmp_path / "s.db") as storage:
        await storage.save(AgentState(session_id="s"))
        start = ReplyStartEvent(session_id="s", reply_id=R, name="agent")
        for event in (start, *done, *cut):
            await storage.append("s", event)
        state = await storage.load("s")
    assert state is not None
    assert [call.id for call in state.get_unfinished_tool_calls("agent")] == ["cut"]
    states = {b.id: b.state for b in state.context[-1].content if isinstance(b, ToolResultBlock)}
    assert states == {"done": ToolResultState.SUCCESS, "cut": ToolResultState.RUNNING}


async def test_a_call_that_waits(tmp_path: Path) -> None:
    """A call that asked before the process died still asks."""
    asked = called("c", [], asks=True, state=ToolResultState.SUCCESS)[:4]
    async with SQLiteSessionStorage(tmp_path / "s.db") as storage:
        await storage.save(AgentState(session_id="s"))
        for event in (ReplyStartEvent(session_id="s", reply_id=R, name="agent"), *asked):
            await storage.append("s", event)
        state = await storage.load("s")
    assert state is not None
    assert [call.id for call in state.get_awaiting_tool_calls("agent")] == ["c"]


class TestRecorded:
    """Passing on a stream, each event only once it is stored."""

    def _events(self) -> Iterator[AgentEvent]:
        yield ReplyStartEvent(session_id="s", reply_id=R, name="agent")
        yield from said("t", ["a", "b"])
        yield ReplyEndEvent(session_id="s", reply_id=R)

    async def _reply(self, state: AgentState) -> AsyncGenerator[AgentEvent | Msg, None]:
        state.reply_context.reply_id = R
        state.append_context("agent", [])
        for event in self._events():
            state.context[-1].append_event(event)
            yield event
        yield state.context[-1]

    async def test_seen_is_stored(self, tmp_path: Path) -> None:
        """At each event that is seen, another process finds the state just as it is."""
        state = AgentState(session_id="s", context=[UserMsg("u", "go")])
        async with (
            SQLiteSessionStorage(tmp_path / "s.db") as storage,
            SQLiteSessionStorage(tmp_path / "s.db") as other,
            aclosing(recorded(self._reply(state), state, storage, directory="/w")) as stream,
        ):
            seen = []
            async for event in stream:
                seen.append(event)
                assert await other.load("s") == state
        assert len(seen) == 7
        assert isinstance(seen[-1], Msg)

    async def test_left_early(self, tmp_path: Path) -> None:
        """A stream that is closed early closes the reply and saves its state."""
        state = AgentState(session_id="s")
        closed = []

        async def reply() -> AsyncGenerator[AgentEvent | Msg, None]:
            try:
                async with aclosing(self._reply(state)) as events:
                    async for event in events:
                        yield event
            finally:
                closed.append(True)
                state.middle_context["settled"] = True

        async with SQLiteSessionStorage(tmp_path / "s.db") as storage:
            async with aclosing(recorded(reply(), state, storage)) as stream:
                await anext(stream)
            assert closed == [True]
            assert await storage.load("s") == state

    async def test_not_stored_is_not_seen(self, tmp_path: Path) -> None:
        """An event that cannot be stored is not passed on."""
        state = AgentState(session_id="s")
        storage = SQLiteSessionStorage(tmp_path / "s.db")
        stream = recorded(self._reply(state), state, storage)
        assert isinstance(await anext(stream), ReplyStartEvent)
        await storage.close()
        with pytest.raises(SessionError):
            await anext(stream)
        with pytest.raises(StopAsyncIteration):
            await anext(stream)

    async def test_a_cancellation_reaches_the_agent(self, tmp_path: Path) -> None:
        """One that comes while an event is being stored is still the agent's to end in order."""
        state = AgentState(session_id="s")
        storing = asyncio.Event()
        seen: list[str] = []

        class Slow(SQLiteSessionStorage):
            async def append(self, session_id: str, event: AgentEvent) -> None:
                storing.set()
                await asyncio.sleep(0.05)
                await super().append(session_id, event)

        async def reply() -> AsyncGenerator[AgentEvent | Msg, None]:
            yield ReplyStartEvent(session_id="s", reply_id=R, name="agent")
            try:
                yield TextBlockStartEvent(reply_id=R, block_id="t")
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                assert task is not None
                task.uncancel()
                yield ReplyEndEvent(session_id="s", reply_id=R)

        async def watch(storage: SQLiteSessionStorage) -> None:
            async with aclosing(recorded(reply(), state, storage)) as stream:
                async for event in stream:
                    assert not isinstance(event, Msg)
                    seen.append(event.type)
            await asyncio.sleep(0)

        async with Slow(tmp_path / "s.db") as storage:
            watching = asyncio.create_task(watch(storage))
            await storing.wait()
            watching.cancel()
            await watching
            assert watching.cancelling() == 0
        assert seen == ["REPLY_START", "TEXT_BLOCK_START", "REPLY_END"]
