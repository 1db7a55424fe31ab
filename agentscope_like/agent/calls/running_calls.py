"""Runs granted calls at the same time, and passes on what they yield as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from agentscope_like.agent.calls.call_runner import CallRunner
from agentscope_like.message import ToolCallBlock, ToolChunk, ToolResponse
from agentscope_like.tool import Grant

__all__ = ["Item", "RunningCalls"]

_QUEUED = 64
Item = tuple[ToolCallBlock, ToolChunk | ToolResponse]


class RunningCalls:
    """Calls that run at the same time, each in a task.

    Args:
        runner: Runs one call.
    """

    def __init__(self, runner: CallRunner) -> None:
        self._runner = runner
        self._tasks: dict[asyncio.Task[None], ToolCallBlock] = {}
        self._ended: list[ToolCallBlock] = []
        self._failed: list[asyncio.Task[None]] = []
        self._queue: asyncio.Queue[Item | asyncio.Task[None]] = asyncio.Queue()
        self._room = asyncio.Semaphore(_QUEUED)

    @property
    def count(self) -> int:
        """Return how many calls run."""
        return len(self._tasks)

    def start(self, call: ToolCallBlock, grant: Grant) -> None:
        """Start a call."""
        task = asyncio.create_task(self._pump(call, grant))
        task.add_done_callback(self._queue.put_nowait)
        self._tasks[task] = call

    async def _pump(self, call: ToolCallBlock, grant: Grant) -> None:
        try:
            async with aclosing(self._runner.run(call, grant)) as items:
                async for item in items:
                    await self._room.acquire()
                    self._queue.put_nowait((call, item))
        except GeneratorExit as error:
            # Raised out of a task it would tear the generators of whoever awaits the task.
            raise RuntimeError(f"{call.name} raised GeneratorExit") from error

    async def until_one_ends(self) -> AsyncGenerator[Item, None]:
        """Yield what calls yield until one has ended; if one has failed, until all have.

        Raises:
            BaseException: What the first call that failed has raised, once all have ended.
        """
        while self._tasks:
            item = await self._queue.get()
            if isinstance(item, asyncio.Task):
                self._ended.append(self._tasks.pop(item))
                if item.cancelled() or item.exception() is not None:
                    self._failed.append(item)
                if not self._failed:
                    return
            else:
                self._room.release()
                yield item
        await asyncio.gather(*self._failed)

    def ended(self) -> list[ToolCallBlock]:
        """Return the calls that have ended since this was asked before."""
        ended, self._ended = self._ended, []
        return ended

    async def stop(self) -> None:
        """Cancel what still runs, and wait for its cleanup."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
