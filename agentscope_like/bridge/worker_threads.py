"""Runs blocking functions and generators in dedicated worker threads.

The loop has few default threads, and file tools need them, so a call that hangs must not occupy
one. A worker runs one call at a time; a few idle workers are kept for later calls.
"""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import logging
import os
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from enum import Enum, auto
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

from msgspec import Struct

from agentscope_like.bridge.cancel import CURRENT, Cancellation
from agentscope_like.bridge.loop_inbox import LoopInbox

__all__ = ["call_in_thread", "end_idle_workers", "iterate_in_thread"]

T = TypeVar("T")

MAX_IDLE = 8
"""The maximum number of idle workers."""
GRACE = 5.0
"""Seconds that cancelled code may take to stop, if it can be told."""

_log = logging.getLogger(__name__)


class _End(Enum):
    END = auto()


async def call_in_thread(
    call: Callable[[], T], *, interrupt: Callable[[], object] | None = None
) -> T:
    """Run a blocking call in a thread, with a copy of the context variables.

    Python cannot stop a thread. When this is cancelled, the call's `cancellation()` says so, and
    `interrupt` is called. If the call has asked for its `cancellation()`, or there is an
    `interrupt`, its end is waited for, a few seconds at most; else the waiting stops at once. A
    call that continues in the background is logged. It does not delay the end of the process.

    Args:
        call: Takes no arguments.
        interrupt: Makes the call stop; called in another thread than the call, and than the loop.

    Raises:
        RuntimeError: The call raised StopIteration, which a future cannot hold.
        OSError: The process has too many open files.
    """
    inbox, context = LoopInbox.of_running_loop(), contextvars.copy_context()
    job = _idle.take().submit(call, inbox, context, Cancellation(), is_last=True)
    try:
        result: T = await job.outcome
        return result
    finally:
        if job.outcome.cancelled():
            await _stop(job, call, interrupt)


async def iterate_in_thread(generator: Generator[T, Any, Any]) -> AsyncGenerator[T, None]:
    """Yield the items of a blocking generator; all its steps run in one thread.

    The steps share one copy of the context variables. When this is closed or cancelled, the
    generator is closed in its thread: between two steps at once, else after the current step. That
    step is told as a call is by `call_in_thread`.
    """
    inbox, context = LoopInbox.of_running_loop(), contextvars.copy_context()
    worker, told = _idle.take(), Cancellation()
    step: _Job | None = None
    try:
        while True:
            step = worker.submit(lambda: next(generator, _End.END), inbox, context, told)
            item: T | _End = await step.outcome
            if item is _End.END:
                return
            yield item
    finally:
        closing = worker.submit(generator.close, inbox, context, told, is_last=True)
        if step is None or not step.is_running or await _stop(step, generator, None):
            await asyncio.shield(closing.outcome)


async def _stop(job: _Job, what: object, interrupt: Callable[[], object] | None) -> bool:
    """Tell cancelled code to stop, and wait for it if it can know; return whether it has ended."""
    job.cancellation.cancel()
    try:
        if interrupt is not None:
            context = contextvars.copy_context()
            told = _idle.take().submit(interrupt, job.inbox, context, Cancellation(), is_last=True)
            telling = told.outcome
            await asyncio.wait([telling], timeout=GRACE)
            if telling.done() and (error := telling.exception()) is not None:
                _log.warning("interrupting %r failed", what, exc_info=error)
        if interrupt is not None or job.cancellation.is_watched:
            job.ended = asyncio.get_running_loop().create_future()
            if job.is_running:
                await asyncio.wait([job.ended], timeout=GRACE)
        return not job.is_running
    finally:
        if job.is_running:
            _log.warning("cancelled; %r cannot be stopped and runs on in its thread", what)


class _Job(Struct, eq=False):
    """A call for a worker; after the last one the worker becomes idle.

    Attributes:
        call: The call.
        context: The context that it runs in.
        outcome: Its result, for the event loop; cancelled if it is no longer wanted.
        inbox: The event loop's.
        is_last: Whether it is the last one.
        cancellation: Tells the call that it is cancelled.
        is_running: Whether it has begun and not ended.
        ended: Done once a cancelled call has ended, if somebody waits for that.
    """

    call: Callable[[], Any]
    context: contextvars.Context
    outcome: asyncio.Future[Any]
    inbox: LoopInbox
    is_last: bool
    cancellation: Cancellation
    is_running: bool = False
    ended: asyncio.Future[None] | None = None

    def run(self) -> tuple[Any, BaseException | None]:
        """Run the call, unless it is no longer wanted; return its result or its error."""
        self.is_running = True  # before the look, so that whoever cancels it then is warned
        try:
            return (None if self.outcome.cancelled() else self.context.run(self._carried)), None
        except BaseException as error:  # raised again where it is waited for
            return None, error
        finally:
            self.is_running = False

    def _carried(self) -> Any:
        CURRENT.set(self.cancellation)
        try:
            return self.call()
        except StopIteration as error:
            raise RuntimeError("the function raised StopIteration") from error


def _settle(job: _Job, result: Any, error: BaseException | None) -> None:
    if job.ended is not None and not job.ended.done():
        job.ended.set_result(None)
    if job.outcome.done():
        return
    if error is None:
        job.outcome.set_result(result)
    else:
        job.outcome.set_exception(error)


class _Worker:
    """A thread that runs calls one after another; a daemon, so that no process waits for it."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="tool-call", daemon=True)
        self._thread.start()

    def submit(
        self,
        call: Callable[[], Any],
        inbox: LoopInbox,
        context: contextvars.Context,
        told: Cancellation,
        *,
        is_last: bool = False,
    ) -> _Job:
        """Run the call after those given before; with `is_last`, become idle afterwards."""
        outcome = asyncio.get_running_loop().create_future()
        job = _Job(call, context, outcome, inbox, is_last, told)
        self._jobs.put(job)
        return job

    def end(self) -> None:
        """End the thread, which is idle."""
        self._jobs.put(None)
        self._thread.join(GRACE)

    def _work(self) -> None:
        while self._run_next():
            pass

    def _run_next(self) -> bool:
        """Run one call and return whether there may be more.

        The job is a local variable here, so that an idle worker keeps no result alive.
        """
        job = self._jobs.get()
        if job is None:
            return False
        result, error = job.run()
        # idle before the outcome is known: whoever waits for it can use this worker at once
        goes_on = not job.is_last or _idle.keep(self)
        job.inbox.post(partial(_settle, job, result, error))
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

    def end(self) -> None:
        """End the threads that are idle now."""
        with self._lock:
            workers, self._workers = self._workers, []
        for worker in workers:
            worker.end()


_idle = _IdleWorkers()
end_idle_workers = _idle.end
os.register_at_fork(after_in_child=_idle.forget)
atexit.register(end_idle_workers)
