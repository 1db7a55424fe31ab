"""Async code calls blocking code, which is told when its call is cancelled."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import resource
import threading
import time
from collections.abc import Generator
from contextlib import aclosing
from functools import partial

import pytest

from agentscope_like.bridge import call_in_thread, cancellation, iterate_in_thread, run, shared_loop
from agentscope_like.message import TextBlock
from agentscope_like.tool import FunctionTool


async def _cancelled(task: asyncio.Task[object], begun: threading.Event) -> None:
    assert await asyncio.to_thread(begun.wait, 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_code_that_looks_for_its_cancellation_stops_and_is_waited_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Blocking code that waits with its `cancellation()` stops at once, and cleans up first."""
    begun, said = threading.Event(), []

    def work() -> None:
        told = cancellation()
        begun.set()
        try:
            while not told.wait(30):
                pass
            told.check()
        finally:
            said.append("clean")

    task = asyncio.create_task(call_in_thread(work))
    with caplog.at_level(logging.WARNING):
        await _cancelled(task, begun)
    assert said == ["clean"]
    assert caplog.text == ""


async def test_an_interrupt_is_called_in_another_thread() -> None:
    """`interrupt` makes the call end, and that end is waited for."""
    begun, let_go, said = threading.Event(), threading.Event(), []

    def work() -> None:
        begun.set()
        let_go.wait(20)
        said.append(f"worked in {threading.get_ident()}")

    def interrupt() -> None:
        said.append(f"interrupted in {threading.get_ident()}")
        let_go.set()

    task = asyncio.create_task(call_in_thread(work, interrupt=interrupt))
    await _cancelled(task, begun)
    kinds = [one.split(" in ")[0] for one in said]
    idents = {one.split(" in ")[1] for one in said}
    assert kinds == ["interrupted", "worked"]
    assert len(idents | {str(threading.get_ident())}) == 3


async def test_a_call_that_is_not_cancelled_is_told_nothing() -> None:
    """Without a cancellation no interrupt is called, and `check` passes."""
    said: list[str] = []

    def work() -> bool:
        cancellation().check()
        return cancellation().is_cancelled

    assert await call_in_thread(work, interrupt=lambda: said.append("interrupt")) is False
    assert said == []


async def test_an_interrupt_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """The cancellation goes through although the interrupt raises."""
    begun = threading.Event()

    def work() -> None:
        told = cancellation()
        begun.set()
        told.wait(20)

    def interrupt() -> None:
        raise OSError("no such process")

    task = asyncio.create_task(call_in_thread(work, interrupt=interrupt))
    await _cancelled(task, begun)
    assert "no such process" in caplog.text


def test_outside_of_a_call_nothing_is_cancelled() -> None:
    """Code that asks for its cancellation works the same where nobody can cancel it."""
    assert cancellation().wait(0) is False
    cancellation().check()


async def test_a_generator_learns_of_its_cancellation_in_the_middle_of_a_step() -> None:
    """The object that a generator took at first tells it in any later step."""
    begun = threading.Event()
    said: list[object] = []

    def steps() -> Generator[int, None, None]:
        told = cancellation()
        try:
            yield 1
            begun.set()
            said.append(told.wait(20))
            yield 2
        finally:
            said.append("closed")

    async def use() -> None:
        async with aclosing(iterate_in_thread(steps())) as items:
            async for _ in items:
                pass

    await _cancelled(asyncio.create_task(use()), begun)
    assert said == [True, "closed"]


async def test_a_function_tool_is_told() -> None:
    """A function that is a tool reads `cancellation()` with no further ado."""
    begun, said = threading.Event(), []

    def work() -> str:
        told = cancellation()
        begun.set()
        said.append(told.wait(20))
        return "done"

    async def use() -> None:
        async for _ in FunctionTool(work)():
            pass

    await _cancelled(asyncio.create_task(use()), begun)
    assert said == [True]


async def test_a_cancellation_reaches_async_code_through_blocking_code() -> None:
    """Async code that calls blocking code that runs async code: the innermost is cancelled."""
    begun, said = threading.Event(), []

    async def innermost() -> None:
        try:
            begun.set()
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0.02)
            said.append("innermost")
            raise

    def between() -> None:
        try:
            run(innermost())
        finally:
            said.append("between")

    await _cancelled(asyncio.create_task(call_in_thread(between)), begun)
    assert said == ["innermost", "between"]


async def test_async_code_that_blocking_code_begins_too_late_is_cancelled_at_once() -> None:
    """A call that was cancelled already runs no more async code, however long it would take."""
    begun, said = threading.Event(), []

    def late() -> None:
        told = cancellation()
        begun.set()
        told.wait(20)
        try:
            run(asyncio.sleep(60))
        except asyncio.CancelledError:
            said.append("cancelled")
            raise

    await _cancelled(asyncio.create_task(call_in_thread(late)), begun)
    assert said == ["cancelled"]


def test_a_tool_that_blocks_may_use_the_loop_that_it_is_run_by() -> None:
    """A function in a worker thread runs async code on the very loop that waits for it."""

    async def twice(number: int) -> int:
        await asyncio.sleep(0)
        return 2 * number

    def double(number: int) -> int:
        return run(twice(number))

    async def text() -> str:
        chunks = [chunk async for chunk in FunctionTool(double)(number=21)]
        return "".join(
            block.text for one in chunks for block in one.content if isinstance(block, TextBlock)
        )

    with shared_loop():
        assert run(text(), timeout=20) == "42"


async def test_many_calls_at_once_each_give_their_own_result() -> None:
    """What ends in many threads at the same time comes back whole, errors too."""

    def work(number: int) -> int:
        if number % 7 == 0:
            raise ValueError(number)
        return number

    calls = (call_in_thread(partial(work, number)) for number in range(300))
    results = await asyncio.gather(*calls, return_exceptions=True)
    for number, result in enumerate(results):
        if number % 7 == 0:
            assert isinstance(result, ValueError)
            assert result.args == (number,)
        else:
            assert result == number


def test_a_call_may_outlive_its_event_loop(caplog: pytest.LogCaptureFixture) -> None:
    """A call that ends when its loop is closed harms nothing, and leaves no file open."""
    begun, let_go, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        let_go.wait(20)
        ended.set()

    async def leave_it() -> None:
        await _cancelled(asyncio.create_task(call_in_thread(work)), begun)

    open_before = len(os.listdir("/dev/fd"))
    with caplog.at_level(logging.WARNING):
        asyncio.run(leave_it())
    assert "runs on in its thread" in caplog.text
    let_go.set()
    assert ended.wait(20)
    assert asyncio.run(call_in_thread(lambda: "as ever")) == "as ever"
    deadline = time.monotonic() + 20
    while len(os.listdir("/dev/fd")) > open_before and time.monotonic() < deadline:
        time.sleep(0.01)
        gc.collect()  # the errors that were raised hold the closed loop
    assert len(os.listdir("/dev/fd")) <= open_before


def test_a_call_that_cannot_begin_leaves_no_thread() -> None:
    """With too many open files a call is an error, takes no thread, and works again afterwards."""

    async def with_too_many_open_files() -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
        try:
            with pytest.raises(OSError, match="Too many open files"):
                await call_in_thread(int)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert threading.active_count() == before
        assert await call_in_thread(int) == 0

    with shared_loop():  # ends idle threads as it is closed
        run(asyncio.sleep(0), timeout=20)
    before = threading.active_count()
    asyncio.run(with_too_many_open_files())
