"""Lets a thread wait for a coroutine of the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar

from agentscope_like.tool.builtin.tool_results import Checkpoint

__all__ = ["Waiter"]

_POLL_SECONDS = 0.1

ResultT = TypeVar("ResultT")


class Waiter:
    """Has a loop do something, and waits until that has ended, however it ends.

    Args:
        loop: The loop.
        checkpoint: Called several times a second; what it raises ends what is being waited for.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, checkpoint: Checkpoint) -> None:
        self._loop = loop
        self._checkpoint = checkpoint

    def __call__(self, ask: Callable[[], Awaitable[ResultT]], /) -> ResultT:
        """Return what `ask` returns in the loop."""
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
                self._checkpoint()
            return started[0].result()
        finally:
            if not ended.is_set():
                # it may not have been started yet
                self._loop.call_soon_threadsafe(lambda: started[0].cancel())  # noqa: PLW0108
                ended.wait()
