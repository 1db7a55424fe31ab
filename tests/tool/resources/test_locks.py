"""The locks of resources: no deadlock, nobody overtaken, nothing left after a cancellation."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_like.exception import AgentOrientedException, ConfigurationError
from agentscope_like.tool import DeclaredResources
from agentscope_like.tool.resources import ResourceLocks, while_held

KEYS = st.lists(st.sampled_from("abcd"), max_size=3, unique=True).map(tuple)
DECLARED = st.builds(DeclaredResources, keys=KEYS, shared=KEYS)


class Scene:
    """Calls that hold resources, each until it is let go; keeps who runs, and checks each start."""

    def __init__(self) -> None:
        self.locks = ResourceLocks()
        self.running: dict[int, DeclaredResources] = {}
        self.begun: list[int] = []
        self.gates: dict[int, asyncio.Event] = {}
        self.tasks: dict[int, asyncio.Task[None]] = {}

    async def _call(self, number: int, declared: DeclaredResources) -> AsyncGenerator[int, None]:
        beside = [other for other in self.running.values() if other.conflicts_with(declared)]
        assert beside == []
        self.running[number] = declared
        self.begun.append(number)
        try:
            await self.gates[number].wait()
            yield number
        finally:
            await asyncio.sleep(0)
            del self.running[number]

    async def _use(self, number: int, declared: DeclaredResources) -> None:
        stream = while_held(declared, self._call(number, declared), self.locks)
        async with aclosing(stream) as items:
            async for _ in items:
                pass

    async def start(self, number: int, declared: DeclaredResources) -> None:
        """Start a call, and let it come as far as it can."""
        self.gates[number] = asyncio.Event()
        self.tasks[number] = asyncio.create_task(self._use(number, declared))
        await self.settle()

    async def settle(self) -> None:
        """Let all tasks come as far as they can."""
        for _ in range(12):
            await asyncio.sleep(0)

    async def let_go(self, *numbers: int) -> None:
        """Let calls end."""
        for number in numbers:
            self.gates[number].set()
        await asyncio.wait_for(asyncio.gather(*(self.tasks[one] for one in numbers)), 20)
        await self.settle()

    async def cancel(self, number: int) -> None:
        """Cancel a call, whether it runs or waits."""
        self.tasks[number].cancel()
        await asyncio.wait([self.tasks[number]], timeout=20)
        await self.settle()


def alone(*keys: str) -> DeclaredResources:
    """Return what needs the keys for itself."""
    return DeclaredResources(keys=keys)


def shared(*keys: str) -> DeclaredResources:
    """Return what shares the keys."""
    return DeclaredResources(shared=keys)


def must_wait(declared: DeclaredResources, before: Sequence[tuple[int, DeclaredResources]]) -> bool:
    """Return whether a call has to wait for one of those before it that have not ended."""
    return any(declared.conflicts_with(other) for _, other in before)


@given(
    declared=st.lists(DECLARED, min_size=1, max_size=8),
    endings=st.randoms(use_true_random=False),
    cancelled=st.sets(st.integers(0, 7)),
)
def test_random_calls_all_run_and_in_order(
    declared: list[DeclaredResources], endings: Random, cancelled: set[int]
) -> None:
    """Exactly the calls run that conflict with none before them; all come to run in the end.

    Any of them may be cancelled, whether it runs or waits.
    """

    async def play() -> None:
        scene = Scene()
        left = list(enumerate(declared))
        for number, one in left:
            await scene.start(number, one)
        while left:
            expected = {
                number for at, (number, one) in enumerate(left) if not must_wait(one, left[:at])
            }
            assert set(scene.running) == expected
            doomed = [number for number, _ in left if number in cancelled]
            ended = endings.choice(doomed or sorted(expected))
            if ended in cancelled:
                await scene.cancel(ended)
            else:
                await scene.let_go(ended)
            left = [(number, one) for number, one in left if number != ended]
        assert set(scene.begun) >= set(range(len(declared))) - cancelled
        assert scene.running == {}
        await scene.start(99, alone("a", "b", "c", "d"))  # nothing is held any more
        assert list(scene.running) == [99]
        await scene.let_go(99)

    asyncio.run(play())


async def test_calls_with_the_same_key_run_one_after_another() -> None:
    """Of two writers of one resource the second waits; a third, of another, does not."""
    scene = Scene()
    await scene.start(1, alone("x"))
    await scene.start(2, alone("x"))
    await scene.start(3, alone("y"))
    assert scene.begun == [1, 3]
    await scene.let_go(1)
    assert scene.begun == [1, 3, 2]
    await scene.let_go(2, 3)


async def test_readers_share_and_do_not_overtake_a_writer() -> None:
    """Readers run together; a reader that comes after a waiting writer runs after it."""
    scene = Scene()
    await scene.start(1, shared("x"))
    await scene.start(2, shared("x"))
    await scene.start(3, alone("x"))
    await scene.start(4, shared("x"))
    assert scene.begun == [1, 2]
    await scene.let_go(1)
    assert scene.begun == [1, 2]
    await scene.let_go(2)
    assert scene.begun == [1, 2, 3]
    await scene.let_go(3)
    assert scene.begun == [1, 2, 3, 4]
    await scene.let_go(4)


async def test_opposite_orders_do_not_lock_each_other_out() -> None:
    """Two calls that name the same two keys in opposite orders both come to an end."""
    scene = Scene()
    await scene.start(1, alone("a", "b"))
    await scene.start(2, alone("b", "a"))
    await scene.let_go(1)
    await scene.let_go(2)
    assert scene.begun == [1, 2]


async def test_a_key_that_is_shared_and_needed_alone_is_needed_alone() -> None:
    """Naming a key twice is no mistake, and the stricter need counts."""
    scene = Scene()
    await scene.start(1, DeclaredResources(keys=("x",), shared=("x",)))
    await scene.start(2, shared("x"))
    assert scene.begun == [1]
    await scene.let_go(1)
    await scene.let_go(2)


async def test_a_cancelled_waiter_keeps_nobody_out() -> None:
    """After the cancellation of a writer that waits, the readers behind it run at once."""
    scene = Scene()
    await scene.start(1, shared("x"))
    await scene.start(2, alone("x"))
    await scene.start(3, shared("x"))
    await scene.cancel(2)
    assert scene.begun == [1, 3]
    await scene.let_go(1, 3)


async def test_a_waiter_cancelled_as_it_is_granted_gives_back() -> None:
    """A cancellation that comes together with the grant leaves no lock held."""
    scene = Scene()
    await scene.start(1, alone("x"))
    await scene.start(2, alone("x"))
    await scene.start(3, alone("x"))
    scene.gates[1].set()
    scene.tasks[1].add_done_callback(lambda _: scene.tasks[2].cancel())
    await scene.settle()
    assert scene.begun == [1, 3]
    await scene.let_go(3)


def test_calls_of_several_event_loops_wait_for_each_other() -> None:
    """Threads with loops of their own never hold one resource at the same time, and all end."""
    locks = ResourceLocks()
    inside: list[int] = []
    counted: list[int] = []

    async def step(number: int) -> AsyncGenerator[int, None]:
        inside.append(number)
        await asyncio.sleep(0.001)
        assert inside == [number]
        inside.remove(number)
        yield number

    async def work(number: int) -> None:
        for _ in range(25):
            stream = while_held(alone("x", f"own {number}"), step(number), locks)
            counted.extend([one async for one in stream])

    threads = [
        threading.Thread(target=lambda number=number: asyncio.run(work(number)))
        for number in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(counted) == sorted([0, 1, 2, 3] * 25)


async def test_a_call_within_a_call_passes_what_that_one_holds() -> None:
    """A call that holds a key may make calls that need it; these still exclude each other."""
    scene = Scene()
    said: list[str] = []

    async def inner(name: str) -> AsyncGenerator[str, None]:
        said.append(f"{name} begins")
        await asyncio.sleep(0)
        said.append(f"{name} ends")
        yield name

    async def use(name: str) -> None:
        async for _ in while_held(alone("x"), inner(name), scene.locks):
            pass

    async def outer() -> AsyncGenerator[None, None]:
        await asyncio.gather(use("one"), use("two"))
        yield

    async for _ in while_held(alone("x"), outer(), scene.locks):
        await scene.start(1, alone("x"))
        assert scene.begun == []
    await scene.let_go(1)
    assert said == ["one begins", "one ends", "two begins", "two ends"]


async def test_calls_within_calls_that_would_wait_for_each_other_are_refused() -> None:
    """Two calls that each hold what the other's inner call needs: one is refused, both end."""
    locks = ResourceLocks()
    holding = asyncio.Barrier(2)
    said: list[str] = []

    async def inner() -> AsyncGenerator[str, None]:
        yield "ran"

    async def outer(wanted: str) -> AsyncGenerator[None, None]:
        await holding.wait()
        try:
            said.extend([one async for one in while_held(alone(wanted), inner(), locks)])
        except AgentOrientedException as error:
            said.append(error.message)
        yield

    async def use(held: str, wanted: str) -> None:
        async for _ in while_held(alone(held), outer(wanted), locks):
            pass

    await asyncio.wait_for(asyncio.gather(use("a", "b"), use("b", "a")), 20)
    refused, ran = sorted(said)
    assert ran == "ran"
    assert refused.startswith("This call did not run: it is made by a call that holds")


async def test_a_failing_call_gives_its_resources_back() -> None:
    """A call that raises, or is left in the middle, holds nothing afterwards."""
    locks = ResourceLocks()

    async def fails() -> AsyncGenerator[int, None]:
        yield 1
        raise KeyError("boom")

    async def use() -> None:
        async for _ in while_held(alone("x"), fails(), locks):
            pass

    with pytest.raises(KeyError):
        await use()
    async with aclosing(while_held(alone("x"), fails(), locks)) as items:
        await anext(items)
    async with asyncio.timeout(10), aclosing(while_held(alone("x"), fails(), locks)) as items:
        assert await anext(items) == 1


@pytest.mark.parametrize("given_keys", ["file", ["file"], (1,)])
def test_keys_are_a_tuple_of_texts(given_keys: object) -> None:
    """One text in the place of a tuple would be as many keys as it has letters."""
    with pytest.raises(ConfigurationError, match="give a tuple of texts"):
        DeclaredResources(keys=given_keys)  # type: ignore[arg-type]
