"""A task on a background loop, as another thread sees it."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context
from typing import Any

from agentscope_like.bridge.cancel import CURRENT

__all__ = ["Work", "carry", "is_on_loop"]

_log = logging.getLogger(__name__)
_UNSET = object()


class Work:
    """A task on a background loop, as the thread that waits for it sees it.

    Args:
        coroutine: What the task runs.
        context: The context that it runs in.
        on_end: Called on the loop when the task has ended.
    """

    def __init__(
        self,
        coroutine: Coroutine[Any, Any, Any],
        context: Context,
        *,
        on_end: Callable[[], object] | None = None,
    ) -> None:
        self.context = context
        self._coroutine = coroutine
        self._on_end = on_end
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._is_cancelled = False
        self._running = threading.Lock()  # held until the task has ended
        self._running.acquire()

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Have the loop start the task; called in any thread."""
        self._loop = loop
        loop.call_soon_threadsafe(self._start, loop)

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._task = loop.create_task(self._coroutine, context=self.context)
        self._task.add_done_callback(self._end)
        if self._is_cancelled:
            self._cancel()

    def _end(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled():
            task.exception()  # looked at, as the thread that waited may be gone
        self._running.release()
        if self._on_end is not None:
            self._on_end()

    @property
    def has_ended(self) -> bool:
        """Return whether the task has ended."""
        return not self._running.locked()

    def post(self, callback: Callable[..., object], *args: Any) -> None:
        """Have the loop call this, unless the task has ended; called in any thread."""
        if self._loop is not None and not self.has_ended:
            try:
                self._loop.call_soon_threadsafe(callback, *args)
            except RuntimeError:
                _log.debug("the loop of %r is closed already", self._task)

    def cancel(self) -> None:
        """Cancel the task, once, as a second time would break off its cleanup; in any thread."""
        if not self._is_cancelled:
            self._is_cancelled = True
            self.post(self._cancel)

    def _cancel(self) -> None:
        if self._task is not None and not self._task.cancelling():
            self._task.cancel()

    def stop(self, grace: float) -> None:
        """Cancel the task and wait for its cleanup, these seconds at most."""
        if self._loop is None:
            self._coroutine.close()
            return
        self.cancel()
        if not self.wait(grace):
            _log.warning("%r was cancelled and goes on: it is left behind", self._task)

    def wait(self, timeout: float | None) -> bool:
        """Wait until the task has ended; return whether it has."""
        seconds = -1 if timeout is None else min(max(timeout, 0), threading.TIMEOUT_MAX)
        if not self._running.acquire(timeout=seconds):
            return False
        self._running.release()
        return True

    @contextmanager
    def interruptible(self, grace: float) -> Iterator[None]:
        """Stop the task if the block is left by an exception, such as Ctrl-C or a timeout.

        Within it, the task is cancelled as well if the blocking call that waits is cancelled.
        """
        around = CURRENT.get(None)
        if around is not None:
            around.is_watched = True
        forget = around.on_cancel(self.cancel) if around is not None else None
        try:
            yield
        except BaseException:
            self.stop(grace)
            raise
        finally:
            if forget is not None:
                forget()

    def wait_in_time(self, timeout: float | None) -> None:
        """Wait for the task.

        Raises:
            TimeoutError: The time was over.
        """
        if not self.wait(timeout):
            raise TimeoutError(f"not done after {timeout} s; it was cancelled")

    def outcome(self) -> Any:
        """Return the result of the ended task, or raise its error."""
        if self._task is None:
            raise asyncio.CancelledError
        return self._task.result()


def carry(source: Context) -> None:
    """Set each variable here to what it is in that context, where it is another value."""
    for variable, value in source.items():
        if variable.get(_UNSET) is not value:
            variable.set(value)


def is_on_loop() -> bool:
    """Return whether this thread runs an event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
