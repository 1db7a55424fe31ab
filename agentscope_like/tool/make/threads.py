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
    job = _idle.take().submit(lambda: context.run(_carried, call), is_last=True)
    try:
        result: T = await job.outcome
        return result
    finally:
        _warn_if_running(job, call)


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
    step: _Job | None = None
    try:
        while True:
            step = worker.submit(lambda: context.run(_next, generator))
            item: T | _End = await step.outcome
            if item is _End.END:
                return
            yield item
    finally:
        closing = worker.submit(lambda: context.run(generator.close), is_last=True)
        if step is None or not step.is_running:
            await asyncio.shield(closing.outcome)
        else:
            _warn_if_running(step, generator)


def _next(generator: Generator[T, Any, Any]) -> T | _End:
    return next(generator, _End.END)


def _warn_if_running(job: _Job, what: object) -> None:
    if job.is_running:
        _log.warning("cancelled; %r cannot be stopped and runs on in its thread", what)


class _Job(Struct, eq=False):
    """A call for a worker; after the last one the worker becomes idle.

    Attributes:
        call: The call.
        outcome: Its result, for the event loop; cancelled if it is no longer wanted.
        is_last: Whether it is the last one.
        is_running: Whether it has begun and not ended.
    """

    call: Callable[[], Any]
    outcome: asyncio.Future[Any]
    is_last: bool
    is_running: bool = False

    def run(self) -> tuple[Any, BaseException | None]:
        """Run the call, unless it is no longer wanted; return its result or its error."""
        self.is_running = True  # before the look, so that whoever cancels it then is warned
        try:
            return (None if self.outcome.cancelled() else self.call()), None
        except BaseException as error:  # raised again where it is waited for
            return None, error
        finally:
            self.is_running = False

    def tell(self, result: Any, error: BaseException | None) -> None:
        """Have the event loop learn of the result or the error."""
        try:
            self.outcome.get_loop().call_soon_threadsafe(_settle, self.outcome, result, error)
        except RuntimeError:
            _log.debug("the event loop is closed: nobody waits for %r", self.call)


def _settle(outcome: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if outcome.done():
        return
    if error is None:
        outcome.set_result(result)
    else:
        outcome.set_exception(error)


class _Worker:
    """A thread that runs calls one after another; a daemon, so that no process waits for it."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        threading.Thread(target=self._work, name="tool-call", daemon=True).start()

    def submit(self, call: Callable[[], Any], *, is_last: bool = False) -> _Job:
        """Run the call after those given before; with `is_last`, become idle afterwards."""
        job = _Job(call, asyncio.get_running_loop().create_future(), is_last)
        self._jobs.put(job)
        return job

    def _work(self) -> None:
        while self._run_next():
            pass

    def _run_next(self) -> bool:
        """Run one call and return whether there may be more.

        The job is a local variable here, so that an idle worker keeps no result alive.
        """
        job = self._jobs.get()
        result, error = job.run()
        # idle before the outcome is known: whoever waits for it can use this worker at once
        goes_on = not job.is_last or _idle.keep(self)
        job.tell(result, error)
        return goes_on


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
