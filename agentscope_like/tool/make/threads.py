"""Runs blocking calls and generators, each in a thread of its own.

The loop's default threads are few, and file tools need them: a call that hangs must not hold one.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from enum import Enum, auto
from typing import Any, TypeVar

__all__ = ["call_in_thread", "iterate_in_thread"]

T = TypeVar("T")

_log = logging.getLogger(__name__)


class _End(Enum):
    END = auto()


async def call_in_thread(call: Callable[[], T]) -> T:
    """Run a blocking call in a thread, with a copy of the context variables.

    Cancelling stops the waiting at once. Python cannot stop a thread: the call runs on to its end,
    unobserved, and a warning is logged that says so.

    Args:
        call: Takes no arguments.

    Raises:
        RuntimeError: The call raised StopIteration, which no future can carry.
    """
    worker = _new_worker()
    running = worker.submit(contextvars.copy_context().run, _carried, call)
    worker.shutdown(wait=False)
    try:
        return await asyncio.wrap_future(running)
    finally:
        _warn_if_unfinished(running, call)


def _carried(call: Callable[[], T]) -> T:
    try:
        return call()
    except StopIteration as error:
        raise RuntimeError("the function raised StopIteration") from error


async def iterate_in_thread(generator: Generator[T, Any, Any]) -> AsyncGenerator[T, None]:
    """Yield what a blocking generator yields; all its steps run in one thread.

    The steps share one copy of the context variables. When this is closed or cancelled the
    generator is closed in its thread: at once between two steps, else after the step under way.
    """
    worker = _new_worker()
    context = contextvars.copy_context()
    step: Future[T | _End] | None = None
    try:
        while True:
            step = worker.submit(context.run, _next, generator)
            item = await asyncio.wrap_future(step)
            if item is _End.END:
                return
            yield item
    finally:
        closing = worker.submit(context.run, generator.close)
        worker.shutdown(wait=False)
        if step is None or step.done():
            await asyncio.shield(asyncio.wrap_future(closing))
        else:
            _warn_if_unfinished(step, generator)


def _next(generator: Generator[T, Any, Any]) -> T | _End:
    return next(generator, _End.END)


def _new_worker() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="tool-call")


def _warn_if_unfinished(running: Future[Any], what: object) -> None:
    if not running.done():
        _log.warning("cancelled; %r cannot be stopped and runs on in its thread", what)
