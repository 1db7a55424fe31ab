"""Ends what runs inside a layer together with the layer's own turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, TypeVar

__all__ = ["Turn"]

ItemT = TypeVar("ItemT")

_END: Any = object()


class Turn:
    """The time in which layers may run what is inside them; when it is over, nothing runs on.

    A layer may have started the inner part in a task of its own and left it there: such a task is
    cancelled, and the end of the turn waits until the step under way has ended.

    Attributes:
        is_over: Whether it has ended.
    """

    __slots__ = ("_steps", "is_over")

    def __init__(self) -> None:
        # The tasks in which a step is under way; with what tells of its end, once the turn waits.
        self._steps: dict[asyncio.Task[Any] | None, asyncio.Future[None] | None] = {}
        self.is_over = False

    async def through(self, stream: AsyncGenerator[ItemT, None]) -> AsyncGenerator[ItemT, None]:
        """Yield the stream as long as the turn lasts."""
        async with aclosing(stream):
            while not self.is_over:
                task = asyncio.current_task()
                self._steps[task] = None
                try:
                    item = await anext(stream, _END)
                finally:
                    ended = self._steps.pop(task)
                    if ended is not None:
                        ended.set_result(None)
                if item is _END:
                    return
                yield item

    async def end(self) -> bool:
        """End the turn, and return whether something ran on in another task and was stopped."""
        self.is_over = True
        own = asyncio.current_task()
        ends: list[asyncio.Future[None]] = []
        for task, awaited in self._steps.items():
            if task is not None and task is not own:
                ended = awaited or asyncio.get_running_loop().create_future()
                self._steps[task] = ended
                ends.append(ended)
                task.cancel()
        if ends:
            await asyncio.wait(ends)
        return bool(ends)
