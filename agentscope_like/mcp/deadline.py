"""Limits how long a call may take; progress and questions to a person are signs of life."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

__all__ = ["Deadline"]


class Deadline:
    """An asynchronous context that raises `TimeoutError` once its time is over.

    Args:
        seconds: The time.
        renews: Whether a sign of life begins the time anew.
    """

    def __init__(self, seconds: float, *, renews: bool) -> None:
        self._seconds = seconds
        self._renews = renews
        self._timeout = asyncio.timeout(seconds)
        self._pauses = 0
        self._is_over = False

    def renew(self) -> None:
        """Begin the time anew, if it renews."""
        if self._renews:
            self._restart()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let no time pass while a person thinks; the time begins anew afterwards."""
        self._pauses += 1
        self._restart()
        try:
            yield
        finally:
            self._pauses -= 1
            self._restart()

    def _restart(self) -> None:
        if not self._is_over and not self._timeout.expired():
            now = asyncio.get_running_loop().time()
            self._timeout.reschedule(None if self._pauses else now + self._seconds)

    async def __aenter__(self) -> Self:
        await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self._is_over = True
        await self._timeout.__aexit__(exc_type, exc_val, exc_tb)
