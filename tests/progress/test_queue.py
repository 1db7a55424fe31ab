"""The queue: bounded, in order, each byte once, whoever reads it however slowly."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_like.exception import ConfigurationError
from agentscope_like.progress import (
    ProgressQueue,
    ProgressSettings,
    ToolProgressEvent,
    bind_tool_progress,
    emit_tool_progress,
    register_progress_queue,
    unregister_progress_queue,
)
from tests.progress.kit import DEFAULTS, Clock, drained, shorts, text_of

AT_ONCE = ProgressSettings(flush_interval=0)


def put(queue: ProgressQueue, text: str, stream: Any = "stdout", call: str = "c1") -> None:
    """Put a text that waits for nothing."""
    queue.put(call, stream, text, settings=AT_ONCE)


def test_a_full_queue_goes_on_merging() -> None:
    """Where the reader is behind, further texts become one event: none is lost, few wait."""
    queue = ProgressQueue(max_events=2, clock=Clock())
    for letter in "abcdef":
        put(queue, letter)
    assert [event.text for event in drained(queue)] == ["a", "b", "cdef"]


def test_closed_has_its_place_in_a_full_queue() -> None:
    """The end of a call comes, after all that it showed, however full the queue is."""
    queue = ProgressQueue(max_events=1, max_bytes=4, clock=Clock())
    for letter in "abcd":
        put(queue, letter)
    queue.close_call("c1")
    assert shorts(drained(queue)) == [("stdout", "a"), ("stdout", "bcd"), ("closed", "")]


def test_what_is_left_out_is_said() -> None:
    """Beyond the limit text is left out, in one piece, and its bytes are counted where it was."""
    queue = ProgressQueue(max_bytes=10, clock=Clock())
    put(queue, "0123456789")
    put(queue, "€")
    put(queue, "x")
    assert queue.waiting_bytes == 10
    read = drained(queue)
    put(queue, "more")
    queue.close_call("c1")
    texts = [event.text for event in read + drained(queue)]
    assert texts[0] == "0123456789"
    assert texts[1].startswith("[4 bytes left out here")
    assert texts[2:] == ["more", ""]


def test_what_is_left_out_at_the_end_is_said_before_the_end() -> None:
    """A call that ends while the queue is full says how much is missing; another is not blamed."""
    queue = ProgressQueue(max_bytes=10, clock=Clock())
    put(queue, "0123456789")
    put(queue, "gone")
    queue.close_call("c1")
    queue.close_call("c2")
    events = drained(queue)
    assert [event.stream for event in events] == ["stdout", "info", "info", "info"]
    assert events[1].text.startswith("[4 bytes left out here")
    assert [event.closed for event in events] == [False, False, True, True]
    assert queue.waiting_bytes == 0


def test_text_is_taken_again_once_half_of_the_room_is_free() -> None:
    """What is left out is one gap, not many small ones."""
    queue = ProgressQueue(max_bytes=10, clock=Clock())
    for text in ("012", "345", "678", "xx"):
        put(queue, text)
    queue.get_nowait()
    put(queue, "y")
    queue.get_nowait()
    put(queue, "z")
    texts = [event.text for event in drained(queue)]
    assert texts[0] == "678"
    assert texts[1].startswith("[3 bytes left out here")
    assert texts[2:] == ["z"]


@pytest.mark.parametrize(("max_events", "max_bytes"), [(0, 1), (1, 0), (-1, 1)])
def test_a_queue_that_holds_nothing_is_refused(max_events: int, max_bytes: int) -> None:
    """It would show nothing; one that holds a little is fine."""
    with pytest.raises(ConfigurationError, match="above 0"):
        ProgressQueue(max_events=max_events, max_bytes=max_bytes)
    ProgressQueue(max_events=1, max_bytes=1)


async def test_a_shorter_window_wakes_the_reader_sooner() -> None:
    """A reader that waits for the end of one window does not sleep through another's."""
    queue = ProgressQueue()
    queue.put("c1", "stdout", "later", settings=ProgressSettings(flush_interval=600))
    reading = asyncio.ensure_future(anext(queue))
    await asyncio.sleep(0)
    queue.put("c2", "stdout", "soon", settings=ProgressSettings(flush_interval=0.01))
    async with asyncio.timeout(20):
        assert (await reading).text == "soon"


async def test_a_tool_without_a_pause_lets_the_reader_read() -> None:
    """A coroutine that only ever awaits its own progress does not keep it from being seen."""
    queue = register_progress_queue()
    read: list[ToolProgressEvent] = []

    async def show() -> None:
        async for event in queue:
            read.append(event)  # noqa: PERF401 - it is looked at meanwhile

    showing = asyncio.create_task(show())
    with bind_tool_progress("c1"):
        for _ in range(20):
            await emit_tool_progress("x" * 20_000)
        assert read
    unregister_progress_queue()
    await showing
    assert len(text_of(read, "c1", "stdout")) == 400_000


async def test_a_second_reader_is_refused() -> None:
    """Two readers would each get a part; one after the other may read."""
    queue = ProgressQueue()
    first = asyncio.ensure_future(anext(queue))
    await asyncio.sleep(0)
    with pytest.raises(ConfigurationError, match="has a reader"):
        await anext(queue)
    queue.put("c1", "stdout", "text", settings=DEFAULTS)
    assert (await first).text == "text"
    queue.close_call("c1")
    assert (await anext(queue)).closed


async def test_a_reader_that_gives_up_takes_nothing_with_it() -> None:
    """An event that comes while a reader is cancelled is there for the next."""
    queue = ProgressQueue()
    for number in range(50):
        reading = asyncio.ensure_future(anext(queue))
        await asyncio.sleep(0)
        put(queue, str(number))
        for _ in range(number % 4):
            await asyncio.sleep(0)
        reading.cancel()
        done = await asyncio.gather(reading, return_exceptions=True)
        if not isinstance(done[0], ToolProgressEvent):
            assert (await anext(queue)).text == str(number)
        else:
            assert done[0].text == str(number)


async def test_the_reader_of_a_queue_that_ends_comes_to_an_end() -> None:
    """Also where it waits already, and where the queue ends in another thread."""
    queue = ProgressQueue()

    async def read() -> list[ToolProgressEvent]:
        return [event async for event in queue]

    reading = asyncio.create_task(read())
    await asyncio.sleep(0)
    ending = threading.Thread(target=queue.end)
    ending.start()
    assert await reading == []
    ending.join()


async def test_threads_may_put_at_the_same_time() -> None:
    """What each thread says comes whole and in order, to a reader on the loop."""
    queue = ProgressQueue()
    settings = ProgressSettings(flush_interval=0.001, flush_bytes=64)

    def talk(call: str) -> None:
        for number in range(2000):
            queue.put(call, "stdout", f"{number} ", settings=settings)
        queue.close_call(call)

    calls = [f"c{number}" for number in range(4)]
    threads = [threading.Thread(target=talk, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    events: list[ToolProgressEvent] = []
    async for event in queue:
        events.append(event)
        if sum(one.closed for one in events) == len(calls):
            break
    for thread in threads:
        thread.join()
    for call in calls:
        assert text_of(events, call, "stdout") == "".join(f"{n} " for n in range(2000))
        assert [one for one in events if one.tool_call_id == call][-1].closed


STEPS = st.one_of(
    st.tuples(
        st.just("put"),
        st.sampled_from(["c1", "c2"]),
        st.sampled_from(["stdout", "stderr", "info"]),
        st.text(st.characters(codec="utf-8"), max_size=12),
    ),
    st.tuples(st.just("pass"), st.sampled_from([0.001, 0.02, 0.06])),
    st.tuples(st.just("read"), st.integers(1, 3)),
)


@given(
    steps=st.lists(STEPS, max_size=60),
    max_events=st.integers(1, 4),
    interval=st.sampled_from([0, 0.01, 0.05]),
    flush_bytes=st.integers(1, 40),
)
def test_nothing_is_lost_or_doubled_by_any_schedule(
    steps: list[Any], max_events: int, interval: float, flush_bytes: int
) -> None:
    """Each stream of each call is read as it was said, and each call ends with `closed`."""
    clock = Clock()
    queue = ProgressQueue(max_events=max_events, clock=clock)
    settings = ProgressSettings(flush_interval=interval, flush_bytes=flush_bytes)
    said: dict[tuple[str, str], str] = {}
    events: list[ToolProgressEvent] = []
    for kind, *given_ in steps:
        if kind == "put":
            call, stream, text = given_
            said[call, stream] = said.get((call, stream), "") + text
            queue.put(call, stream, text, settings=settings)
        elif kind == "pass":
            clock.now += given_[0]
        else:
            events += filter(None, (queue.get_nowait() for _ in range(given_[0])))
    for call in ("c1", "c2"):
        queue.close_call(call)
    events += drained(queue)
    for (call, stream), text in said.items():
        assert text_of(events, call, stream) == text
    for call in ("c1", "c2"):
        own = [event for event in events if event.tool_call_id == call]
        assert [event.closed for event in own] == [False] * (len(own) - 1) + [True]
    assert queue.waiting_bytes == 0


@given(sizes=st.lists(st.tuples(st.integers(1, 30), st.integers(0, 2)), max_size=80))
def test_the_bound_holds_and_every_byte_is_accounted_for(sizes: list[tuple[int, int]]) -> None:
    """What waits is never more than the limit; what was read and what is missing is what was said.

    The notices themselves are beside the limit, at most one for each call while nobody reads.
    """
    queue = ProgressQueue(max_bytes=50, max_events=3, clock=Clock())
    events: list[ToolProgressEvent] = []
    for size, reads in sizes:
        put(queue, "x" * size)
        assert queue.waiting_bytes <= 50 + 100
        events += filter(None, (queue.get_nowait() for _ in range(reads)))
    queue.close_call("c1")
    events += drained(queue)
    read = len(text_of(events, "c1", "stdout"))
    notices = [event.text for event in events if event.stream == "info" and not event.closed]
    missing = sum(int(text.split()[0].removeprefix("[").replace(",", "")) for text in notices)
    assert read + missing == sum(size for size, _ in sizes)
