"""Defines `Cancellation`, by which blocking code learns that its call was cancelled."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextvars import ContextVar

__all__ = ["CURRENT", "Cancellation", "cancellation"]


class Cancellation:
    """Whether a call is cancelled, for blocking code in a worker thread.

    Python cannot stop a thread. Code that looks here now and then can stop by itself.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self._is_cancelled = False
        self.is_watched = False
        """Whether the call's code has asked for this object, and so may stop by itself."""

    @property
    def is_cancelled(self) -> bool:
        """Return whether the call was cancelled."""
        return self._is_cancelled

    def check(self) -> None:
        """Stop the code here if the call was cancelled.

        Raises:
            asyncio.CancelledError: It was.
        """
        if self._is_cancelled:
            raise asyncio.CancelledError

    def wait(self, timeout: float | None = None) -> bool:
        """Sleep until the call is cancelled, or the seconds are over; return `is_cancelled`."""
        told = threading.Event()
        forget = self.on_cancel(told.set)
        try:
            told.wait(timeout)
        finally:
            forget()
        return self._is_cancelled

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have the callback called once the call is cancelled, or now if it is already.

        It is called in the thread that cancels, which is an event loop's: it must not block.

        Returns:
            A function that takes the callback back.
        """
        with self._lock:
            is_late = self._is_cancelled
            if not is_late:
                self._callbacks.append(callback)
        if is_late:
            callback()
        return lambda: self._forget(callback)

    def _forget(self, callback: Callable[[], None]) -> None:
        with self._lock:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

    def cancel(self) -> None:
        """Tell the code that the call is cancelled."""
        with self._lock:
            self._is_cancelled = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()


CURRENT: ContextVar[Cancellation] = ContextVar("cancellation")
"""The cancellation of the call that runs in this worker thread."""


def cancellation() -> Cancellation:
    """Return the cancellation of the call that this code runs for.

    Outside of a worker thread it is one that nothing cancels.
    """
    found = CURRENT.get(None) or Cancellation()
    found.is_watched = True
    return found
