"""Locks of resources: a call runs when nothing before it needs what it needs."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum, auto
from typing import TypeVar

from agentscope_like.exception import AgentOrientedException
from agentscope_like.tool.resources.claim import DeclaredResources

__all__ = ["ResourceLocks", "while_held"]

T = TypeVar("T")

CIRCLE = (
    "This call did not run: it is made by a call that holds {held}, and would wait for one that "
    "itself waits for that. Call again when the other has ended."
)


class _End(Enum):
    END = auto()


class _Request:
    """One call's request for its resources, from when it asks until it has ended."""

    def __init__(self, declared: DeclaredResources, outer: _Request | None) -> None:
        alone = set(declared.keys)
        self.alone = {key: key in alone for key in sorted(alone.union(declared.shared))}
        """Whether each key is needed for this call alone."""
        self.outer = outer
        self.is_held = False
        self.woken: asyncio.Future[None] | None = None

    def outers(self) -> Iterator[_Request]:
        """Yield the calls that this call is made by, the nearest first."""
        outer = self.outer
        while outer is not None:
            yield outer
            outer = outer.outer

    def wake(self) -> bool:
        """Wake who waits; return False if its event loop is gone."""
        if self.woken is None:
            return True
        try:
            self.woken.get_loop().call_soon_threadsafe(_set, self.woken)
        except RuntimeError:
            return False
        return True


def _set(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)


class ResourceLocks:
    """The locks of all resources; for any number of event loops and threads.

    A request takes its places in the queues of its keys all at once, in the order of the keys, and
    is granted when nothing before it in any queue conflicts: nobody holds a lock while it waits for
    another, so there is no deadlock; and nobody is overtaken by a later request that it conflicts
    with, so everybody's turn comes.

    A call that is made by another call, while that one holds its resources, is not kept out by
    these, and goes before requests that do not hold anything yet. Where it would close a circle of
    calls that wait for each other, it is refused.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin without any request: a forked process runs none of its parent's calls."""
        self._lock = threading.Lock()
        self._queues: dict[str, list[_Request]] = {}

    async def acquire(self, declared: DeclaredResources) -> _Request:
        """Wait until the resources are free, and hold them.

        Raises:
            AgentOrientedException: The call would wait for one that waits for it.
        """
        request = _Request(declared, _holding())
        with self._lock:
            for key in request.alone:
                self._enqueue(request, self._queues.setdefault(key, []))
            request.is_held = not any(self._before(request))
            if request.is_held:
                return request
            closes_circle = request.outer is not None and self._waits_for_itself(request)
            request.woken = asyncio.get_running_loop().create_future()
        if closes_circle:
            self.release(request)
            held = ", ".join(sorted({key for outer in request.outers() for key in outer.alone}))
            raise AgentOrientedException(CIRCLE.format(held=held))
        try:
            await request.woken
        except BaseException:
            self.release(request)
            raise
        return request

    def release(self, request: _Request) -> None:
        """Give the resources back, or give up the wait for them."""
        gone = [request]
        while gone:
            with self._lock:
                woken = self._removed(gone.pop())
            gone.extend(one for one in woken if not one.wake())

    def _removed(self, request: _Request) -> list[_Request]:
        """Remove the request; return those that are granted by that."""
        request.is_held = False
        behind: dict[_Request, None] = {}
        for key in request.alone:
            queue = self._queues[key]
            queue.remove(request)
            behind.update((one, None) for one in queue if not one.is_held)
            if not queue:
                del self._queues[key]
        granted = []
        for one in behind:
            if not any(self._before(one)):
                one.is_held = True
                granted.append(one)
        return granted

    @staticmethod
    def _enqueue(request: _Request, queue: list[_Request]) -> None:
        place = len(queue)
        if request.outer is not None:
            later = (at for at, one in enumerate(queue) if one.outer is None and not one.is_held)
            place = next(later, place)
        queue.insert(place, request)

    def _before(self, request: _Request) -> Iterator[_Request]:
        """Yield the requests that this one has to wait for."""
        passed = {request, *request.outers()}
        for key, alone in request.alone.items():
            is_ahead = True
            for other in self._queues[key]:
                is_ahead = is_ahead and other is not request
                conflicts = alone or other.alone[key]
                if conflicts and (is_ahead or other.is_held) and other not in passed:
                    yield other

    def _waits_for_itself(self, request: _Request) -> bool:
        """Return whether what the request waits for waits in turn for a call that it is part of."""
        own = {request, *request.outers()}
        waiting = {one for queue in self._queues.values() for one in queue if not one.is_held}
        seen: set[_Request] = set()
        ahead = list(self._before(request))
        while ahead:
            one = ahead.pop()
            if one in own:
                return True
            if one not in seen:
                seen.add(one)
                parts = [other for other in waiting if other is one or one in other.outers()]
                ahead.extend(other for part in parts for other in self._before(part))
        return False


_inside: ContextVar[_Request | None] = ContextVar("holding_call", default=None)
_locks = ResourceLocks()
os.register_at_fork(after_in_child=_locks.forget)


async def while_held(
    declared: DeclaredResources, stream: AsyncGenerator[T, None], locks: ResourceLocks = _locks
) -> AsyncGenerator[T, None]:
    """Yield the stream of a call while its resources are held.

    Args:
        declared: The resources.
        stream: What the call yields; it is closed before they are given back.
        locks: The locks; by default those of the process.

    Raises:
        AgentOrientedException: The call would wait for one that waits for it.
    """
    request = await locks.acquire(declared)
    try:
        while True:
            with _within(request):
                item = await anext(stream, _End.END)
            if item is _End.END:
                return
            yield item
    finally:
        try:
            with _within(request):
                await stream.aclose()
        finally:
            locks.release(request)


@contextmanager
def _within(request: _Request) -> Iterator[None]:
    """Be inside of the call for one step: over a `yield`, who reads would be inside too."""
    token = _inside.set(request)
    try:
        yield
    finally:
        _inside.reset(token)


def _holding() -> _Request | None:
    """Return the call that this code is a part of, if it holds resources."""
    call = _inside.get()
    while call is not None and not call.is_held:
        call = call.outer
    return call
