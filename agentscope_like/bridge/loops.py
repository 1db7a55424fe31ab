"""The background loop that blocking code of this process shares."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterable, Awaitable, Generator, Iterator
from contextlib import contextmanager
from typing import TypeVar

from agentscope_like.bridge.background_loop import CURE, BackgroundLoop

__all__ = ["iterate", "run", "shared_loop"]

T = TypeVar("T")


class _SharedLoop:
    """The loop of all blocking doors, so that connections are made once."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin without a loop, as a forked process does."""
        self._lock = threading.Lock()
        self._loop = BackgroundLoop()
        self._users = 0
        self._closes = False

    def take(self, *, closes: bool) -> BackgroundLoop:
        """Return the loop, for one more user.

        Args:
            closes: Whether the loop is to be closed when nobody uses it any more.
        """
        with self._lock:
            if self._loop.is_closed:
                self._loop = BackgroundLoop()
                self._closes = False
            self._closes = self._closes or closes
            self._users += 1
            return self._loop

    def give_back(self) -> None:
        """Have one user less."""
        with self._lock:
            self._users -= 1
            closed = None
            if self._closes and not self._users:
                closed, self._loop, self._closes = self._loop, BackgroundLoop(), False
        if closed is not None:
            closed.close()


_shared = _SharedLoop()
os.register_at_fork(after_in_child=_shared.forget)


@contextmanager
def shared_loop() -> Iterator[BackgroundLoop]:
    """Hold the loop that `run` and `iterate` share, for the time of a `with` block.

    The loop is closed, and its thread ended, when the last block and the last call in it end.
    Where there is no such block, the loop is kept until the process ends.
    """
    loop = _shared.take(closes=True)
    try:
        yield loop
    finally:
        _shared.give_back()


def run(awaitable: Awaitable[T], *, timeout: float | None = None, instead: str = CURE) -> T:
    """Run the awaitable on the shared loop, as `BackgroundLoop.run` does."""
    loop = _shared.take(closes=False)
    try:
        return loop.run(awaitable, timeout=timeout, instead=instead)
    finally:
        _shared.give_back()


def iterate(
    stream: AsyncIterable[T], *, timeout: float | None = None, instead: str = CURE
) -> Generator[T, None, None]:
    """Return an iterator of the stream on the shared loop, as `BackgroundLoop.iterate` does."""
    loop = _shared.take(closes=False)
    try:
        items = loop.iterate(stream, timeout=timeout, instead=instead)
    finally:
        _shared.give_back()
    return items
