"""Lets a thread wait for a coroutine of the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar

from agentscope_like.tool.builtin.tool_results import CancelCheck

__all__ = ["Waiter"]

_POLL_SECONDS = 0.1

ResultT = TypeVar("ResultT")


class Waiter:
    """Runs a coroutine in an event loop, and waits in this thread until it has ended.

    Args:
        loop: The loop.
        cancel_check: Called several times a second; an exception from it cancels the coroutine.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, cancel_check: CancelCheck) -> None:
        self._loop = loop
        self._cancel_check = cancel_check

    def __call__(self, ask: Callable[[], Awaitable[ResultT]], /) -> ResultT:
        """Return the result of `ask` in the loop."""
        ended = threading.Event()
        started: list[asyncio.Task[ResultT]] = []

        async def answer() -> ResultT:
            return await ask()

        def start() -> None:
            started.append(asyncio.create_task(answer()))
            started[0].add_done_callback(lambda _: ended.set())

        self._loop.call_soon_threadsafe(start)
        try:
            while not ended.wait(_POLL_SECONDS):
                self._cancel_check()
            return started[0].result()
        finally:
            if not ended.is_set():
                # it may not have been started yet
                self._loop.call_soon_threadsafe(lambda: started[0].cancel())  # noqa: PLW0108
                ended.wait()
