"""Seed 000, 12, "Tool live-progress channel", row by row: SAGE-P of the behaviour table."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from agentscope_like.event import AgentEvent, EventType
from agentscope_like.message import Msg, TextBlock, ToolCallBlock, UserMsg
from agentscope_like.progress import (
    ProgressQueue,
    ProgressSettings,
    ToolProgressEvent,
    bind_tool_progress,
    emit_tool_progress,
    emit_tool_progress_closed,
    interleave_message_and_progress,
    register_progress_queue,
    unregister_progress_queue,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit
from tests.agent.kit import agent_of, model_of
from tests.progress.kit import DEFAULTS, Clock, call_of, drained, run_watched, shorts, tool_of

SECRET = "seen by whoever watches"
DONE = (TextBlock(text="Done."),)
GO = UserMsg("user", "Go.")


async def talk() -> str:
    """Show something, then return something else."""
    await emit_tool_progress(SECRET)
    await emit_tool_progress("a warning", stream="stderr")
    return "the result"


def talking_agent() -> Any:
    """Return an agent that calls `talk`, then is done."""
    return agent_of([tool_of(talk)], [ToolCallBlock(id="c1", name="talk", input="{}")], DONE)


async def test_sage_p_01_the_result_is_what_it_would_be_without_progress() -> None:
    """What a tool returns is its result, whole, whether somebody watches or not."""
    tool = tool_of(talk)
    _, said = await run_watched(tool)
    assert said == "the result"


async def test_sage_p_02_to_04_progress_is_not_stored_and_not_sent_to_the_model() -> None:
    """Neither the state, nor any message that the model sees, nor any event holds it."""
    agent = talking_agent()
    items = [item async for item in interleave_message_and_progress(agent.reply_stream(GO))]
    assert any(isinstance(item, ToolProgressEvent) and SECRET in item.text for item in items)
    assert SECRET not in agent.state.model_dump_json()
    assert model_of(agent).seen
    for messages in model_of(agent).seen:
        assert all(SECRET not in message.model_dump_json() for message in messages)
    said = [item for item in items if not isinstance(item, ToolProgressEvent)]
    assert all(SECRET not in item.model_dump_json() for item in said)


@pytest.mark.parametrize("stream", ["stdout", "stderr", "info"])
async def test_sage_p_05_a_text_goes_to_its_stream(stream: Any) -> None:
    """There are three streams; the first is the default."""

    async def show() -> None:
        await emit_tool_progress("text", stream=stream)

    events, _ = await run_watched(tool_of(show))
    assert shorts(events) == [(stream, "text"), ("closed", "")]


async def test_sage_p_05_another_stream_is_shown_as_info(caplog: pytest.LogCaptureFixture) -> None:
    """What a tool says into a stream that is none is not lost, and the log says so."""

    async def show() -> str:
        await emit_tool_progress("text", stream="stdlog")  # type: ignore[arg-type]
        return "done"

    events, said = await run_watched(tool_of(show))
    assert shorts(events) == [("info", "text"), ("closed", "")]
    assert said == "done"
    assert "stdlog" in caplog.text


@pytest.mark.parametrize("text", [7, None, object(), "\ud800", b"\xff\xfe", ["a"]])
async def test_sage_p_06_it_never_raises(text: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever is shown, the tool goes on to its result, and what comes after is shown."""

    async def show() -> str:
        await emit_tool_progress(text)
        await emit_tool_progress("more", stream="stderr")
        return "done"

    with caplog.at_level(logging.CRITICAL):
        events, said = await run_watched(tool_of(show))
    assert said == "done"
    assert ("stderr", "more") in shorts(events)
    assert [json.loads(event.to_ndjson()) for event in events]


async def test_sage_p_06_it_never_blocks() -> None:
    """A tool that shows much goes on although nobody reads, as long as it wants to."""

    async def show() -> str:
        for _ in range(1000):
            await emit_tool_progress("x" * 1000)
        return "done"

    _, said = await run_watched(tool_of(show))
    assert said == "done"


async def test_sage_p_07_where_nobody_watches_nothing_happens() -> None:
    """Outside of a call, and in a call that nobody watches, a tool works as it does."""
    await emit_tool_progress("nobody")
    await emit_tool_progress_closed()
    tool = tool_of(talk)
    assert [chunk.content[0].text async for chunk in tool()] == ["the result"]  # type: ignore[union-attr]
    queue = register_progress_queue()
    await emit_tool_progress("no call")
    assert drained(queue) == []
    unregister_progress_queue()


async def test_sage_p_07_an_empty_text_is_no_event() -> None:
    """A text that says nothing opens no window."""

    async def show() -> None:
        await emit_tool_progress("")
        await emit_tool_progress(b"")

    events, _ = await run_watched(tool_of(show))
    assert shorts(events) == [("closed", "")]


async def test_sage_p_08_a_tool_that_shows_nothing_is_as_it_was() -> None:
    """Its result is the same; whoever watches sees that it is over."""

    async def quiet(text: str) -> str:
        return text

    events, said = await run_watched(tool_of(quiet), "c9", text="hello")
    assert said == "hello"
    assert [(e.tool_call_id, e.closed) for e in events] == [("c9", True)]


async def test_sage_p_09_the_line_of_an_event() -> None:
    """One line of JSON, with the fields of the document and no other."""
    events, _ = await run_watched(tool_of(talk), "call_abc")
    line = events[0].to_ndjson()
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    fields = json.loads(line)
    assert isinstance(fields.pop("ts"), float)
    assert fields == {
        "type": "tool_progress",
        "tool_call_id": "call_abc",
        "text": SECRET,
        "stream": "stdout",
        "closed": False,
    }


async def test_sage_p_10_and_32_calls_side_by_side_are_told_apart() -> None:
    """Each event names the call that it came from, also where calls run at the same time."""

    async def show(word: str) -> str:
        for _ in range(3):
            await emit_tool_progress(word)
            await asyncio.sleep(0)
        return word

    tool = tool_of(show)
    calls = [call_of(tool, f"c-{word}", word=word) for word in ("one", "two", "three")]
    agent = agent_of([tool], calls, DONE)
    items = [item async for item in interleave_message_and_progress(agent.reply_stream(GO))]
    shown: dict[str, str] = {}
    for item in items:
        if isinstance(item, ToolProgressEvent):
            shown[item.tool_call_id] = shown.get(item.tool_call_id, "") + item.text
    assert shown == {f"c-{word}": word * 3 for word in ("one", "two", "three")}


async def test_sage_p_11_closed_ends_it_after_a_failure_too() -> None:
    """The last event of a call is `closed`, with no text, also where the tool raises."""

    async def fail() -> None:
        await emit_tool_progress("so far")
        raise ValueError("broken")

    events, said = await run_watched(tool_of(fail))
    assert "broken" in said
    assert shorts(events) == [("stdout", "so far"), ("closed", "")]


async def test_sage_p_11_closed_ends_it_after_a_cancellation_too() -> None:
    """A call that is cancelled still ends for whoever watches, and may say why."""
    queue = ProgressQueue()
    begun = asyncio.Event()

    async def hang() -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            await emit_tool_progress("cleaning up", stream="info")

    async def run() -> None:
        register_progress_queue(queue)
        tool = tool_of(hang)
        async for _ in Toolkit([tool]).call_tool(call_of(tool), AgentState()):
            pass

    running = asyncio.create_task(run())
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert shorts(drained(queue)) == [("info", "cleaning up"), ("closed", "")]


async def test_sage_p_12_messages_are_as_they_were() -> None:
    """Without its progress, a watched reply says what an unwatched one does."""

    def kinds(events: list[AgentEvent | Msg]) -> list[EventType | str]:
        return [event.type if not isinstance(event, Msg) else "message" for event in events]

    alone = [item async for item in talking_agent().reply_stream(GO)]
    both = interleave_message_and_progress(talking_agent().reply_stream(GO))
    watched = [item async for item in both if not isinstance(item, ToolProgressEvent)]
    assert kinds(watched) == kinds(alone)


def put(queue: ProgressQueue, text: str, stream: Any = "stdout", call: str = "c1") -> None:
    """Put a text with the settings of the document."""
    queue.put(call, stream, text, settings=DEFAULTS)


def test_sage_p_21_one_event_for_each_call_and_stream() -> None:
    """What comes within a window is merged by call and stream, and by nothing else."""
    clock = Clock()
    queue = ProgressQueue(clock=clock)
    for part in ("a", "b"):
        put(queue, part)
        put(queue, part, "stderr")
        put(queue, part, call="c2")
    clock.now = 0.05
    assert [(e.tool_call_id, e.stream, e.text) for e in drained(queue)] == [
        ("c1", "stdout", "ab"),
        ("c1", "stderr", "ab"),
        ("c2", "stdout", "ab"),
    ]


def test_sage_p_22_inside_the_window_nothing_comes() -> None:
    """The first event is there after 50 ms, not before."""
    clock = Clock()
    queue = ProgressQueue(clock=clock)
    put(queue, "a")
    clock.now = 0.049
    assert drained(queue) == []
    clock.now = 0.05
    assert shorts(drained(queue)) == [("stdout", "a")]


@pytest.mark.parametrize("is_read_at_once", [True, False])
def test_sage_p_23_the_window_is_fixed(is_read_at_once: bool) -> None:
    """Ten texts, one every 20 ms, are four events: later texts do not put off the window's end."""
    clock = Clock()
    queue = ProgressQueue(clock=clock)
    events = []
    for number in range(10):
        clock.now = number * 0.02
        put(queue, str(number))
        if is_read_at_once:
            events += drained(queue)
    clock.now = 1.0
    events += drained(queue)
    assert [event.text for event in events] == ["012", "345", "678", "9"]


@pytest.mark.parametrize(
    ("text", "comes_at_once"),
    [("x" * 16_383, False), ("x" * 16_384, True), ("€" * 5_461, False), ("€" * 5_462, True)],
)
def test_sage_p_24_bytes_are_counted_not_characters(text: str, comes_at_once: bool) -> None:
    """An event is sent at once from 16,384 bytes on; 5,462 characters of three bytes are enough."""
    queue = ProgressQueue(clock=Clock())
    put(queue, text)
    assert bool(drained(queue)) is comes_at_once


async def test_sage_p_25_closing_sends_what_waits_first() -> None:
    """Every stream of the call comes, then `closed`; nothing comes after it, nor a second one."""

    async def show() -> None:
        for stream in ("stdout", "stderr", "info"):
            await emit_tool_progress(stream, stream=stream)
        await emit_tool_progress_closed()
        await emit_tool_progress("too late")
        await emit_tool_progress_closed()

    events, _ = await run_watched(tool_of(show))
    whole = [("stdout", "stdout"), ("stderr", "stderr"), ("info", "info"), ("closed", "")]
    assert shorts(events) == whole


async def test_sage_p_26_unregistering_discards_what_is_gathered() -> None:
    """What was not sent yet is gone; what was sent can be read; then the reader comes to an end."""
    queue = register_progress_queue()
    with bind_tool_progress("c1"):
        await emit_tool_progress("x" * 16_384)
        await emit_tool_progress("gathered")
        unregister_progress_queue()
        await emit_tool_progress("too late")
    assert [len(event.text) async for event in queue] == [16_384]
    assert queue.waiting_bytes == 0


SAID: list[tuple[dict[str, str], ProgressSettings]] = [
    ({}, ProgressSettings()),
    ({"FLUSH_INTERVAL_MS": "200"}, ProgressSettings(flush_interval=0.2)),
    ({"FLUSH_INTERVAL_MS": "0"}, ProgressSettings(flush_interval=0)),
    ({"FLUSH_INTERVAL_MS": "-5"}, ProgressSettings(flush_interval=0)),
    ({"FLUSH_INTERVAL_MS": "soon"}, ProgressSettings()),
    ({"FLUSH_BYTES": "100"}, ProgressSettings(flush_bytes=100)),
    ({"FLUSH_BYTES": "0"}, ProgressSettings()),
    ({"FLUSH_BYTES": "many"}, ProgressSettings()),
    ({"ENABLED": "False"}, ProgressSettings(enabled=False)),
    ({"ENABLED": " off "}, ProgressSettings(enabled=False)),
    ({"ENABLED": "no"}, ProgressSettings(enabled=False)),
    ({"ENABLED": "0"}, ProgressSettings(enabled=False)),
    ({"ENABLED": "1"}, ProgressSettings()),
    ({"ENABLED": "yes"}, ProgressSettings()),
]


@pytest.mark.parametrize("prefix", ["AGENTSCOPE_LIKE", "SAGE"])
@pytest.mark.parametrize(("said", "settings"), SAID)
def test_sage_p_27_28_and_31_the_environment_sets_it(
    prefix: str, said: dict[str, str], settings: ProgressSettings
) -> None:
    """Three variables under either prefix; what cannot be read counts as not said."""
    environment = {f"{prefix}_TOOL_PROGRESS_{name}": value for name, value in said.items()}
    assert ProgressSettings.from_environment(environment) == settings


def test_sage_p_27_this_project_s_variables_come_first() -> None:
    """Where both prefixes say something, this project's counts."""
    environment = {
        "SAGE_TOOL_PROGRESS_FLUSH_BYTES": "1",
        "AGENTSCOPE_LIKE_TOOL_PROGRESS_FLUSH_BYTES": "2",
    }
    assert ProgressSettings.from_environment(environment).flush_bytes == 2


async def test_sage_p_27_an_interval_of_zero_sends_each_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is merged then."""
    monkeypatch.setenv("SAGE_TOOL_PROGRESS_FLUSH_INTERVAL_MS", "0")

    async def show() -> None:
        for letter in "abc":
            await emit_tool_progress(letter)

    events, _ = await run_watched(tool_of(show))
    assert [event.text for event in events] == ["a", "b", "c", ""]


async def test_sage_p_29_no_task_is_made() -> None:
    """Windows need no task of their own, so none can be left behind."""
    queue = register_progress_queue()
    before = asyncio.all_tasks()
    with bind_tool_progress("c1"):
        await emit_tool_progress("text")
        assert asyncio.all_tasks() == before
    assert asyncio.all_tasks() == before
    unregister_progress_queue(queue)


def test_sage_p_30_nothing_is_sent_twice() -> None:
    """What was sent for its size does not come again when its window ends."""
    clock = Clock()
    queue = ProgressQueue(clock=clock)
    put(queue, "a")
    put(queue, "x" * 16_384)
    assert shorts(drained(queue)) == [("stdout", "a" + "x" * 16_384)]
    clock.now = 1.0
    assert drained(queue) == []


@pytest.mark.parametrize("name", ["SAGE", "AGENTSCOPE_LIKE"])
async def test_sage_p_31_it_can_be_switched_off(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nothing is shown, not even the end, and the result is the same."""
    monkeypatch.setenv(f"{name}_TOOL_PROGRESS_ENABLED", "false")
    events, said = await run_watched(tool_of(talk))
    assert events == []
    assert said == "the result"


def in_a_thread() -> str:
    """Show something without waiting for it."""
    emit_tool_progress("from a thread")
    return "done"


async def as_a_stream() -> AsyncGenerator[str, None]:
    """Show something before each part."""
    for part in ("one", "two"):
        await emit_tool_progress(f"before {part} ")
        yield part


def as_a_stream_in_a_thread() -> Any:
    """Show something before each part, without waiting for it."""
    for part in ("one", "two"):
        emit_tool_progress(f"before {part} ")
        yield part


@pytest.mark.parametrize(
    ("work", "shown", "said"),
    [
        (in_a_thread, "from a thread", "done"),
        (as_a_stream, "before one before two ", "onetwo"),
        (as_a_stream_in_a_thread, "before one before two ", "onetwo"),
    ],
)
async def test_sage_p_32_every_kind_of_tool_is_bound(
    work: Callable[..., Any], shown: str, said: str
) -> None:
    """Coroutines, plain functions in threads and streams of both kinds can show something."""
    events, result = await run_watched(tool_of(work))
    assert "".join(event.text for event in events) == shown
    assert events[-1].closed
    assert result == said


async def test_sage_p_32_the_binding_does_not_leak_to_the_reader() -> None:
    """Between two parts of a tool's stream, whoever reads it shows nothing in its name."""
    queue = register_progress_queue()
    tool = tool_of(as_a_stream)
    async for _ in Toolkit([tool]).call_tool(call_of(tool), AgentState()):
        await emit_tool_progress("from outside")
    assert "outside" not in "".join(event.text for event in drained(queue))
    unregister_progress_queue()


async def test_sage_p_34_one_may_register_and_read_by_oneself() -> None:
    """A queue of one's own, read in a task beside the reply, comes to an end when it is let go."""
    queue = register_progress_queue(ProgressQueue())

    async def read() -> list[ToolProgressEvent]:
        return [event async for event in queue]

    reading = asyncio.create_task(read())
    async for _ in talking_agent().reply_stream(GO):
        pass
    unregister_progress_queue(queue)
    assert shorts(await reading) == [
        ("stdout", SECRET),
        ("stderr", "a warning"),
        ("closed", ""),
    ]
