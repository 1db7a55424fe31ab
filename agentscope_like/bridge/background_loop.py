"""Defines `BackgroundLoop`, an event loop in a thread of its own, for blocking code."""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import threading
from collections.abc import AsyncIterable, Awaitable, Callable, Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from types import TracebackType
from typing import Any, TypeVar

from agentscope_like.bridge.steps import End, Steps
from agentscope_like.bridge.work import Work, carry, is_on_loop
from agentscope_like.bridge.worker_threads import end_idle_workers
from agentscope_like.exception import BridgeError

__all__ = ["BackgroundLoop"]

T = TypeVar("T")

GRACE = 5.0
"""Seconds that cancelled tasks may take to clean up."""
CURE = "`await` what you gave, or iterate it with `async for`"

_log = logging.getLogger(__name__)


class BackgroundLoop:
    """An event loop in a thread of its own, for code that is not async.

    The thread starts on first use. `close`, or the end of a `with` block, cancels what still runs,
    waits for its cleanup and ends the thread; so does the end of the process. Several threads may
    use one loop at the same time. A forked process cannot use the loop of its parent.

    Args:
        grace: Seconds that cancelled tasks may take to clean up; then they are abandoned, and a
            warning is logged.
    """

    def __init__(self, *, grace: float = GRACE) -> None:
        self._grace = grace
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._is_closed = False

    @property
    def is_closed(self) -> bool:
        """Return whether the loop can no longer be used."""
        return self._is_closed or self._process != os.getpid()

    def run(
        self, awaitable: Awaitable[T], *, timeout: float | None = None, instead: str = CURE
    ) -> T:
        """Run the awaitable on the loop, and return its result or raise its error.

        It sees the caller's context variables, and what it sets is set for the caller afterwards,
        as with `await`. Whatever interrupts the waiting, such as Ctrl-C, cancels the awaitable, and
        is raised when its cleanup has ended. If the caller is itself a blocking call of an async
        one (`call_in_thread`), its cancellation is passed on too.

        Args:
            awaitable: A coroutine, or anything else that can be awaited.
            timeout: Seconds after which the awaitable is cancelled.
            instead: What async code does instead, for the error message.

        Raises:
            TimeoutError: The time was over.
            BridgeError: This thread runs an event loop; or the loop is closed, or of another
                process.
            asyncio.CancelledError: The awaitable was cancelled by something else.
        """
        coroutine = awaitable if isinstance(awaitable, Coroutine) else _awaited(awaitable)
        work = Work(coroutine, copy_context())
        try:
            with work.interruptible(self._grace):
                _check_blocking(instead)
                self._start(work.begin)
                work.wait_in_time(timeout)
        finally:
            carry(work.context)
        result: T = work.outcome()
        return result

    def iterate(
        self, stream: AsyncIterable[T], *, timeout: float | None = None, instead: str = CURE
    ) -> Generator[T, None, None]:
        """Return an iterator of what the stream yields.

        All steps run in one task. The stream is closed when the iterator is: at its end, when a
        `for` loop over it is left, or by `close()`. Otherwise as `run`.

        Args:
            stream: An asynchronous generator or iterator.
            timeout: Seconds that one item may take.
            instead: What async code does instead, for the error message.

        Raises:
            BridgeError: As for `run`, at once.
        """
        _check_blocking(instead)
        self._start(lambda _: None)
        return self._iterated(stream, timeout)

    def _iterated(
        self, stream: AsyncIterable[T], timeout: float | None
    ) -> Generator[T, None, None]:
        steps = Steps(stream, copy_context(), self._grace)
        with steps.work.interruptible(self._grace):
            self._start(steps.work.begin)
        try:
            while True:
                item = steps.next(timeout)
                if item is End.END:
                    return
                yield item
        finally:
            steps.close()

    def close(self) -> None:
        """Cancel what still runs, wait for its cleanup, and end the thread.

        Idle worker threads of blocking calls are ended as well.

        Raises:
            BridgeError: It is called on this very loop, which cannot wait for its own end.
        """
        if self._process != os.getpid():
            return
        if threading.current_thread() is self._thread:
            raise BridgeError("a background loop cannot close itself: close it in another thread")
        with self._lock:
            self._is_closed = True
            loop, thread = self._loop, self._thread
            if loop is not None:
                with suppress(RuntimeError):  # closed before, by another thread
                    loop.call_soon_threadsafe(loop.stop)
        if thread is not None:
            thread.join(4 * self._grace)  # tasks, generators, threads, and some room
            if thread.is_alive():
                _log.warning("a background loop cannot end: a task blocks its thread")
        _open.discard(self)
        end_idle_workers()

    def __enter__(self) -> BackgroundLoop:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _start(self, begin: Callable[[asyncio.AbstractEventLoop], object]) -> None:
        """Begin something on the loop, which is started if need be.

        Raises:
            BridgeError: The loop is closed.
        """
        if self._process != os.getpid():
            raise BridgeError(
                "this background loop was made before the process was forked, and its thread is "
                "in the parent: make another BackgroundLoop in the child"
            )
        with self._lock:
            if self._is_closed:
                raise BridgeError("this background loop is closed: make another BackgroundLoop")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._serve, args=[self._loop], name="background-loop", daemon=True
                )
                self._thread.start()
                _open.add(self)
            begin(self._loop)

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        executor = ThreadPoolExecutor(thread_name_prefix="background-loop")
        loop.set_default_executor(executor)
        try:
            _run_until(loop, lambda: self._is_closed)
            self._finish(loop, executor)
        finally:
            asyncio.set_event_loop(None)
            loop.close()

    def _finish(self, loop: asyncio.AbstractEventLoop, executor: ThreadPoolExecutor) -> None:
        """Cancel all tasks; end what they leave open."""
        ending = loop.create_task(_ended(loop, self._grace))
        _run_until(loop, ending.done, stop_with=ending)
        ending.result()
        waiting = threading.Thread(target=executor.shutdown, daemon=True)
        waiting.start()
        waiting.join(self._grace)
        if waiting.is_alive():
            _log.warning("a thread of a background loop's `to_thread` goes on after the loop")


def _run_until(
    loop: asyncio.AbstractEventLoop,
    is_over: Callable[[], bool],
    *,
    stop_with: asyncio.Task[None] | None = None,
) -> None:
    """Run the loop until it is stopped, although a task may raise `SystemExit`."""
    if stop_with is not None:
        stop_with.add_done_callback(lambda _: loop.stop())
    while True:
        with suppress(KeyboardInterrupt, SystemExit):  # told to whoever waits for the task
            loop.run_forever()
        if is_over():
            return


async def _ended(loop: asyncio.AbstractEventLoop, grace: float) -> None:
    tasks = asyncio.all_tasks(loop) - {asyncio.current_task(loop)}
    for task in tasks:
        task.cancel()
    if tasks:
        _, tasks = await asyncio.wait(tasks, timeout=grace)
    for task in tasks:
        _log.warning("%r goes on although its loop closes: it is abandoned", task)
    with suppress(TimeoutError):
        await asyncio.wait_for(loop.shutdown_asyncgens(), grace)


def _check_blocking(instead: str) -> None:
    """Refuse to block a thread that runs an event loop.

    Raises:
        BridgeError: It does.
    """
    if is_on_loop():
        raise BridgeError(
            "this call waits, and would stop the event loop that runs in this thread: in async "
            f"code, {instead}"
        )


async def _awaited(awaitable: Awaitable[T]) -> T:
    return await awaitable


_open: set[BackgroundLoop] = set()
_of_parents: list[Any] = []
"""Loops of parent processes, never let go: closing one here would disturb the parent's."""


def _close_all() -> None:
    for one in list(_open):
        one.close()


def _leave_to_parent() -> None:
    _of_parents.extend(_open)
    _open.clear()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_leave_to_parent)
