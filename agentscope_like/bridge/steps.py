"""Takes the steps of an asynchronous iterator one by one, as another thread asks for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable
from contextvars import Context, copy_context
from enum import Enum, auto
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from agentscope_like.bridge.work import Work, carry, is_on_loop

__all__ = ["End", "Steps"]

T = TypeVar("T")


class End(Enum):
    """What comes after the last item."""

    END = auto()


class Steps(Generic[T]):
    """The steps of an asynchronous iterator; one task takes them all, and closes it.

    Args:
        stream: The iterator.
        context: The context of all steps.
        grace: Seconds that a cancelled step, or the closing, may take.
    """

    def __init__(self, stream: AsyncIterable[T], context: Context, grace: float) -> None:
        self._stream = stream
        self._grace = grace
        self._items: SimpleQueue[T | End] = SimpleQueue()
        self._asked: asyncio.Queue[Context | None] = asyncio.Queue()
        self.work = Work(self._serve(), context, on_end=lambda: self._items.put(End.END))

    async def _serve(self) -> None:
        items = aiter(self._stream)
        try:
            while (asking := await self._asked.get()) is not None:
                carry(asking)
                item: T | End = await anext(items, End.END)
                if item is End.END:
                    return
                self._items.put(item)
        finally:
            aclose = getattr(items, "aclose", None)
            if aclose is not None:
                await aclose()

    def next(self, timeout: float | None) -> T | End:
        """Return the next item, or the end.

        Raises:
            TimeoutError: The item took longer than these seconds; the iterator is closed.
        """
        self.work.post(self._asked.put_nowait, copy_context())
        with self.work.interruptible(self._grace):
            try:
                item = self._items.get(timeout=None if timeout is None else max(timeout, 0))
            except Empty:
                raise TimeoutError(f"no item in {timeout} s; the iterator is closed") from None
        carry(self.work.context)
        if item is End.END:
            self.work.outcome()
        return item

    def close(self) -> None:
        """Close the iterator, and wait for that; on an event loop, without waiting."""
        if self.work.has_ended:
            return
        self.work.post(self._asked.put_nowait, None)
        if is_on_loop():  # the garbage collector may come by anywhere
            return
        with self.work.interruptible(self._grace):
            if not self.work.wait(self._grace):
                self.work.stop(self._grace)
