"""Calls parts that may fail, logs each failure once, and goes on without them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

__all__ = ["Attempts"]

PATIENCE = 30.0
"""Longest time that one part may hold up the others, in seconds."""

_log = logging.getLogger(__name__)

ResultT = TypeVar("ResultT")


class Attempts:
    """Calls one part repeatedly; only the first of successive failures is logged.

    Args:
        what: The part, for the log, such as `the tool source 'github'`.

    Attributes:
        failure: What went wrong the last time; None where it went well.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self.failure: str | None = None

    async def ask(self, question: Callable[[], Awaitable[ResultT]]) -> ResultT | None:
        """Return the answer, or None where there was none; `failure` tells the two apart.

        Raises:
            asyncio.CancelledError: The caller was cancelled. That the part was, within itself, is
                a failure like any other.
        """
        try:
            async with asyncio.timeout(PATIENCE):
                answer = await question()
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            self._fail("it was cancelled")
        except TimeoutError as error:
            self._fail(str(error) or f"it did not answer within {PATIENCE:.0f} seconds")
        except Exception as error:
            self._fail(f"{type(error).__name__}: {error}")
        else:
            self.failure = None
            return answer
        return None

    def _fail(self, failure: str) -> None:
        if failure != self.failure:
            _log.warning("%s is left out for now: %s", self._what, failure)
        self.failure = failure
