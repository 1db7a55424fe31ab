"""Blocking code iterates over asynchronous generators."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextvars import ContextVar

import pytest

from agentscope_like.bridge import BackgroundLoop, iterate
from agentscope_like.exception import BridgeError

VARIABLE: ContextVar[int] = ContextVar("variable", default=0)


@pytest.fixture
def loop() -> Iterator[BackgroundLoop]:
    """Give a loop of the test's own."""
    with BackgroundLoop(grace=2) as one:
        yield one


class Source:
    """A generator of numbers that keeps what happened to it."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.tasks: set[asyncio.Task[object] | None] = set()

    async def numbers(self, count: int = 10) -> AsyncGenerator[int, None]:
        """Yield the numbers below `count`, and clean up in its own time."""
        try:
            for number in range(count):
                self.tasks.add(asyncio.current_task())
                self.said.append(f"make {number}")
                await asyncio.sleep(0)
                yield number
        except asyncio.CancelledError:
            self.said.append("cancelled")
            raise
        finally:
            self.tasks.add(asyncio.current_task())
            await asyncio.sleep(0.02)
            self.said.append("closed")


def test_all_items_come_in_order_and_each_when_it_is_asked_for(loop: BackgroundLoop) -> None:
    """Nothing is made before it is asked for, and all steps are of one task."""
    source = Source()
    items = loop.iterate(source.numbers(3))
    assert source.said == []
    assert next(items) == 0
    assert source.said == ["make 0"]
    assert list(items) == [1, 2]
    assert source.said[-1] == "closed"
    assert len(source.tasks) == 1
    assert list(items) == []


def test_leaving_the_for_loop_closes_the_generator(loop: BackgroundLoop) -> None:
    """After a `break` the generator has been closed, and its cleanup has ended."""
    source = Source()
    for number in loop.iterate(source.numbers()):
        if number == 1:
            break
    assert source.said == ["make 0", "make 1", "closed"]
    assert len(source.tasks) == 1


def test_closing_and_failing_close_the_generator(loop: BackgroundLoop) -> None:
    """`close` closes it, and so does an exception in the loop's body."""
    source, other = Source(), Source()
    items = loop.iterate(source.numbers())
    next(items)
    items.close()
    assert source.said[-1] == "closed"

    def use() -> None:
        for number in loop.iterate(other.numbers()):
            raise LookupError(number)

    with pytest.raises(LookupError):
        use()
    gc.collect()
    assert other.said == ["make 0", "closed"]


def test_an_error_of_the_generator_is_raised(loop: BackgroundLoop) -> None:
    """What the generator raises is raised where the item was asked for."""

    async def fails() -> AsyncGenerator[int, None]:
        yield 1
        raise KeyError("boom")

    items = loop.iterate(fails())
    assert next(items) == 1
    with pytest.raises(KeyError, match="boom"):
        next(items)


def test_a_late_item_is_a_timeout(loop: BackgroundLoop) -> None:
    """The time is that of one item; the generator is cancelled, and cleaned up."""
    said: list[str] = []

    async def ever_slower() -> AsyncGenerator[int, None]:
        try:
            for number in range(3):
                await asyncio.sleep(60 * (number == 2))
                yield number
        finally:
            await asyncio.sleep(0)
            said.append("closed")

    items = loop.iterate(ever_slower(), timeout=0.2)
    assert [next(items), next(items)] == [0, 1]
    with pytest.raises(TimeoutError, match=r"no item in 0\.2 s"):
        next(items)
    assert said == ["closed"]


def test_context_variables_pass_with_each_step(loop: BackgroundLoop) -> None:
    """Each step sees what the loop's body set, and the body sees what the step set."""

    async def doubling() -> AsyncGenerator[int, None]:
        for _ in range(3):
            VARIABLE.set(VARIABLE.get() * 2)
            yield VARIABLE.get()

    VARIABLE.set(1)
    seen = []
    for value in loop.iterate(doubling()):
        seen.append((value, VARIABLE.get()))
        VARIABLE.set(value + 1)
    assert seen == [(2, 2), (6, 6), (14, 14)]


def test_any_async_iterator_will_do(loop: BackgroundLoop) -> None:
    """An iterator without `aclose` is iterated too."""

    class Countdown:
        def __init__(self) -> None:
            self.left = 3

        def __aiter__(self) -> AsyncIterator[int]:
            return self

        async def __anext__(self) -> int:
            self.left -= 1
            if self.left < 0:
                raise StopAsyncIteration
            return self.left

    assert list(loop.iterate(Countdown())) == [2, 1, 0]


def test_iterating_in_a_running_loop_is_refused_at_once() -> None:
    """The error comes with the call, not with the first item."""
    source = Source()

    async def asks() -> None:
        with pytest.raises(BridgeError, match="`async for`"):
            iterate(source.numbers())

    asyncio.run(asks())
    assert source.said == []


def test_closing_the_loop_closes_what_is_iterated() -> None:
    """A generator in the middle is closed with its loop; the iterator then raises."""
    source = Source()
    with BackgroundLoop() as loop:
        items = loop.iterate(source.numbers())
        next(items)
    assert source.said[-1] == "closed"
    with pytest.raises(asyncio.CancelledError):
        next(items)


def test_an_iterator_dropped_on_a_loop_is_closed_there(loop: BackgroundLoop) -> None:
    """The garbage collector may drop it on any thread; on the loop itself nothing waits."""
    source = Source()
    kept = [loop.iterate(source.numbers())]
    next(kept[0])

    async def drop() -> None:
        kept.clear()

    async def settle() -> None:
        for _ in range(200):
            if source.said[-1] == "closed":
                return
            await asyncio.sleep(0.01)

    loop.run(drop(), timeout=1)
    loop.run(settle())
    assert source.said == ["make 0", "closed"]
