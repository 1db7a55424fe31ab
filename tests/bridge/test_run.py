"""Blocking code runs async code, one result at a time."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from contextvars import ContextVar

import pytest

from agentscope_like.bridge import BackgroundLoop, run, shared_loop
from agentscope_like.exception import BridgeError

VARIABLE: ContextVar[str] = ContextVar("variable", default="unset")


@pytest.fixture
def loop() -> Iterator[BackgroundLoop]:
    """Give a loop of the test's own."""
    with BackgroundLoop(grace=2) as one:
        yield one


async def answer(value: int) -> int:
    """Give the value later."""
    await asyncio.sleep(0)
    return value


async def where() -> tuple[int, int]:
    """Return which thread and which loop this runs on."""
    return threading.get_ident(), id(asyncio.get_running_loop())


def names() -> list[str]:
    """Return the names of the threads that the bridge may start."""
    kinds = ("background-loop", "tool-call")
    return [one.name for one in threading.enumerate() if one.name.startswith(kinds)]


def test_a_result_comes_back(loop: BackgroundLoop) -> None:
    """A coroutine's result is returned, and what it raises is raised."""

    async def fails() -> None:
        raise KeyError("boom")

    assert loop.run(answer(3)) == 3
    with pytest.raises(KeyError, match="boom"):
        loop.run(fails())
    assert loop.run(answer(4)) == 4


def test_anything_that_can_be_awaited_is_run(loop: BackgroundLoop) -> None:
    """An object with `__await__` is as good as a coroutine."""

    class Later:
        def __await__(self) -> Generator[None, None, str]:
            yield from asyncio.sleep(0).__await__()
            return "later"

    assert loop.run(Later()) == "later"


def test_one_loop_serves_all_calls_and_threads(loop: BackgroundLoop) -> None:
    """Calls one after another, and from other threads, run on one loop: connections stay."""
    places = [loop.run(where()) for _ in range(3)]
    threads = [threading.Thread(target=lambda: places.append(loop.run(where()))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(places) == 7
    assert len(set(places)) == 1
    assert places[0][0] != threading.get_ident()


def test_calls_of_several_threads_run_at_once(loop: BackgroundLoop) -> None:
    """Two threads meet on the loop; neither waits for the other's call to end."""
    meeting = loop.run(_barrier())
    threads = [threading.Thread(target=loop.run, args=[meeting.wait()]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads)


class _Meeting:
    def __init__(self) -> None:
        self.count = 0
        self.complete = asyncio.Event()

    async def wait(self) -> None:
        self.count += 1
        if self.count == 2:
            self.complete.set()
        await self.complete.wait()


async def _barrier() -> _Meeting:
    return _Meeting()


def test_a_timeout_cancels_and_waits_for_the_cleanup(loop: BackgroundLoop) -> None:
    """`TimeoutError` is raised when the cancelled coroutine has cleaned up; the loop goes on."""
    said: list[str] = []

    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            said.append("clean")

    with pytest.raises(TimeoutError, match=r"not done after 0\.05 s"):
        loop.run(slow(), timeout=0.05)
    assert said == ["clean"]
    assert loop.run(answer(1), timeout=20) == 1


def test_a_timeout_of_the_coroutine_itself_is_its_own(loop: BackgroundLoop) -> None:
    """A `TimeoutError` that the coroutine raises comes through as it is."""

    async def gives_up() -> None:
        raise TimeoutError("the server slept")

    with pytest.raises(TimeoutError, match="the server slept"):
        loop.run(gives_up(), timeout=20)


def test_what_ignores_its_cancellation_is_left_behind(caplog: pytest.LogCaptureFixture) -> None:
    """A coroutine that goes on after its cancellation is waited for a while, and that is said."""
    let_go: list[asyncio.Event] = []

    async def stubborn() -> None:
        let_go.append(asyncio.Event())
        for _ in range(2):
            with suppress(asyncio.CancelledError):
                await let_go[0].wait()

    with BackgroundLoop(grace=0.1) as loop:
        with pytest.raises(TimeoutError):
            loop.run(stubborn(), timeout=0.05)
        assert "left behind" in caplog.text
        assert loop.run(answer(1)) == 1


def test_a_call_in_a_running_loop_is_an_error_with_the_cure() -> None:
    """Blocking the thread of a running loop is refused, and the error says what to do."""

    async def asks() -> None:
        with pytest.raises(BridgeError, match="in async code, `await` what you gave"):
            run(answer(1))

    asyncio.run(asks())
    gc.collect()  # a coroutine that was never awaited would warn


def test_a_call_on_the_loop_itself_is_an_error(loop: BackgroundLoop) -> None:
    """Code on a background loop cannot wait for that loop, and neither close it."""

    async def asks() -> None:
        with pytest.raises(BridgeError, match="would stop the event loop"):
            loop.run(answer(1))
        with pytest.raises(BridgeError, match="close it in another thread"):
            loop.close()

    loop.run(asks())
    assert loop.run(answer(1)) == 1


def test_context_variables_pass_in_both_directions(loop: BackgroundLoop) -> None:
    """The coroutine sees what its caller set, and what it sets is set for the caller."""

    async def change() -> str:
        before = VARIABLE.get()
        VARIABLE.set("inner")
        return before

    async def change_and_fail() -> None:
        VARIABLE.set("failed")
        raise ValueError

    token = VARIABLE.set("outer")
    assert loop.run(change()) == "outer"
    assert VARIABLE.get() == "inner"
    with pytest.raises(ValueError):  # noqa: PT011 - it has no message
        loop.run(change_and_fail())
    assert VARIABLE.get() == "failed"
    VARIABLE.reset(token)
    assert loop.run(change()) == "unset"


def test_a_task_that_ends_the_program_ends_its_caller(loop: BackgroundLoop) -> None:
    """`SystemExit` reaches the caller, and the loop is as good as before."""

    async def leaves() -> None:
        raise SystemExit(3)

    with pytest.raises(SystemExit, match="3"):
        loop.run(leaves())
    assert loop.run(answer(1)) == 1


def test_closing_cancels_what_runs_and_leaves_no_thread() -> None:
    """`close` cancels all tasks, waits for their cleanup, and ends all threads."""
    said: list[str] = []
    begun = threading.Event()
    workers = names().count("background-loop_0")  # of other loops
    loop = BackgroundLoop()

    async def beside() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            said.append("beside")

    async def work() -> None:
        task = asyncio.create_task(beside())
        await asyncio.sleep(0)
        begun.set()
        try:
            await asyncio.to_thread(time.sleep, 0.01)
            await task
        finally:
            await asyncio.sleep(0.01)
            said.append("work")

    def call() -> None:
        with pytest.raises(asyncio.CancelledError):
            loop.run(work())
        said.append("told")

    caller = threading.Thread(target=call)
    caller.start()
    assert begun.wait(20)
    loops = names().count("background-loop")
    loop.close()
    caller.join(20)
    assert sorted(said) == ["beside", "told", "work"]
    assert names().count("background-loop") == loops - 1
    assert names().count("background-loop_0") == workers  # of the loop's own executor none is left
    loop.close()  # once more does nothing
    with pytest.raises(BridgeError, match="is closed: make another"):
        loop.run(answer(1))


def test_a_loop_that_was_never_used_has_no_thread() -> None:
    """The thread is started by the first call."""
    before = threading.active_count()
    with BackgroundLoop() as loop:
        assert threading.active_count() == before
        loop.run(answer(1))
        assert threading.active_count() == before + 1
    assert threading.active_count() <= before


def test_the_shared_loop_is_one_and_is_held_by_blocks() -> None:
    """Calls share a loop; it ends with the last of the blocks that hold it, not sooner."""
    with shared_loop() as outer:
        first = run(where())
        with shared_loop() as inner:
            assert inner is outer
        assert run(where()) == first == outer.run(where())
    assert outer.is_closed
    with shared_loop() as again:
        assert again is not outer
        assert run(answer(5)) == 5
    assert not [name for name in names() if name != "background-loop"]


def test_a_call_that_is_running_keeps_the_shared_loop() -> None:
    """A block that ends does not break off another thread's call; that call closes the loop."""
    begun, results = threading.Event(), []

    async def slow() -> int:
        begun.set()
        await asyncio.sleep(0.2)
        return 7

    with shared_loop() as loop:
        caller = threading.Thread(target=lambda: results.append(run(slow())))
        caller.start()
        assert begun.wait(20)
    assert not loop.is_closed
    caller.join(20)
    assert results == [7]
    assert loop.is_closed
