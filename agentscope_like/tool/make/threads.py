"""Runs blocking functions and generators in dedicated worker threads.

The loop has few default threads, and file tools need them, so a call that hangs must not occupy
one. A worker runs one call at a time; a few idle workers are kept for later calls.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import os
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import Future
from enum import Enum, auto
from queue import SimpleQueue
from typing import Any, TypeVar

from msgspec import Struct

__all__ = ["call_in_thread", "iterate_in_thread"]

T = TypeVar("T")

MAX_IDLE = 8
"""The maximum number of idle workers."""

_log = logging.getLogger(__name__)


class _End(Enum):
    END = auto()


async def call_in_thread(call: Callable[[], T]) -> T:
    """Run a blocking call in a thread, with a copy of the context variables.

    Cancelling stops the waiting at once. Python cannot stop a thread: the call continues in the
    background, and a warning is logged. It does not delay the end of the process.

    Args:
        call: Takes no arguments.

    Raises:
        RuntimeError: The call raised StopIteration, which a future cannot hold.
    """
    context = contextvars.copy_context()
    running = _idle.take().submit(lambda: context.run(_carried, call), is_last=True)
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
    """Yield the items of a blocking generator; all its steps run in one thread.

    The steps share one copy of the context variables. When this is closed or cancelled, the
    generator is closed in its thread: between two steps at once, else after the current step.
    """
    worker = _idle.take()
    context = contextvars.copy_context()
    step: Future[T | _End] | None = None
    try:
        while True:
            step = worker.submit(lambda: context.run(_next, generator))
            item = await asyncio.wrap_future(step)
            if item is _End.END:
                return
            yield item
    finally:
        closing = worker.submit(lambda: context.run(generator.close), is_last=True)
        if step is None or step.done():
            await asyncio.shield(asyncio.wrap_future(closing))
        else:
            _warn_if_unfinished(step, generator)


def _next(generator: Generator[T, Any, Any]) -> T | _End:
    return next(generator, _End.END)


def _warn_if_unfinished(running: Future[Any], what: object) -> None:
    if not running.done():
        _log.warning("cancelled; %r cannot be stopped and runs on in its thread", what)


class _Job(Struct, frozen=True):
    """A call for a worker; after the last one the worker becomes idle."""

    call: Callable[[], Any]
    outcome: Future[Any]
    is_last: bool


class _Worker:
    """A thread that runs calls one after another; a daemon, so that no process waits for it."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        threading.Thread(target=self._work, name="tool-call", daemon=True).start()

    def submit(self, call: Callable[[], T], *, is_last: bool = False) -> Future[T]:
        """Run the call after earlier ones; with `is_last`, become idle afterwards."""
        outcome: Future[T] = Future()
        self._jobs.put(_Job(call, outcome, is_last))
        return outcome

    def _work(self) -> None:
        while self._run_next():
            pass

    def _run_next(self) -> bool:
        """Run one call and return whether there may be more.

        The job is a local variable here, so that an idle worker keeps no result alive.
        """
        job = self._jobs.get()
        is_wanted = job.outcome.set_running_or_notify_cancel()
        result, error = _attempt(job.call) if is_wanted else (None, None)
        # idle before the outcome is known: whoever waits for it can use this worker at once
        goes_on = not job.is_last or _idle.keep(self)
        if error is not None:
            job.outcome.set_exception(error)
        elif is_wanted:
            job.outcome.set_result(result)
        return goes_on


def _attempt(call: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return call(), None
    except BaseException as error:  # raised again where it is waited for
        return None, error


class _IdleWorkers:
    """The idle workers, the most recently used first."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Remove all workers: a forked process has none of its parent's threads."""
        self._lock = threading.Lock()
        self._workers: list[_Worker] = []

    def take(self) -> _Worker:
        """Return an idle worker, or a new one."""
        with self._lock:
            if self._workers:
                return self._workers.pop()
        return _Worker()

    def keep(self, worker: _Worker) -> bool:
        """Keep the worker for later; return False if enough are kept."""
        with self._lock:
            if len(self._workers) >= MAX_IDLE:
                return False
            self._workers.append(worker)
            return True


_idle = _IdleWorkers()
os.register_at_fork(after_in_child=_idle.forget)
