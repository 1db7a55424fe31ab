"""What an agent says and what its tools show, as one stream."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncGenerator
from enum import Enum, auto
from typing import Any, TypeVar

from agentscope_like.progress.call import register_progress_queue
from agentscope_like.progress.event import ToolProgressEvent
from agentscope_like.progress.queue import ProgressQueue

__all__ = ["interleave_message_and_progress"]

T = TypeVar("T")


async def interleave_message_and_progress(
    messages: AsyncGenerator[T, None], queue: ProgressQueue | None = None
) -> AsyncGenerator[T | ToolProgressEvent, None]:
    """Yield messages as they come, and between them the progress of the tools that run meanwhile.

    All that a call has shown comes before the message of its end, also where that is an exception.
    The next message is worked on once the last has been taken. The messages are made in a context
    of their own, in which the queue is registered.

    Args:
        messages: Such as `agent.reply_stream(...)`; closed in the end.
        queue: Where the progress goes; by default a new one. It ends with the messages.

    Raises:
        Exception: Whatever the messages raise.
    """
    queue = ProgressQueue() if queue is None else queue
    context = contextvars.copy_context()
    context.run(register_progress_queue, queue)
    step: asyncio.Task[T | _End] | None = None
    try:
        while True:
            step = asyncio.create_task(_advance(messages), context=context)
            while True:
                if (event := queue.get_nowait()) is not None:
                    yield event
                elif step.done():
                    break
                else:
                    await _wait(step, queue)
            message = step.result()
            if message is _End.END:
                return
            yield message
    finally:
        if step is not None:
            await _ended(step)
        await asyncio.create_task(messages.aclose(), context=context)
        queue.end()


class _End(Enum):
    END = auto()


async def _advance(messages: AsyncGenerator[T, None]) -> T | _End:
    return await anext(messages, _End.END)


async def _wait(step: asyncio.Task[Any], queue: ProgressQueue) -> None:
    """Wait for an event or for the step; what cancels the waiting cancels the step."""
    try:
        await queue.wait(step)
    except asyncio.CancelledError:
        step.cancel()
        await asyncio.wait({step})
        if step.cancelled():
            raise
        # As an agent does that ends its reply in order: the messages say how it goes on.
        if (task := asyncio.current_task()) is not None:
            task.uncancel()


async def _ended(step: asyncio.Task[Any]) -> None:
    """Cancel the step if nobody is to take its message any more."""
    if not step.done():
        step.cancel()
        await asyncio.wait({step})
    if not step.cancelled():
        step.exception()  # taken note of, lest asyncio complain
