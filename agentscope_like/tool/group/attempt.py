"""Calls parts that may fail, logs each failure once, and continues without them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

__all__ = ["Attempts"]

PATIENCE = 30.0
"""The timeout of one part in seconds."""

_log = logging.getLogger(__name__)

ResultT = TypeVar("ResultT")


class Attempts:
    """Calls one part repeatedly; only the first of successive failures is logged.

    Args:
        what: The part, for the log, such as `the tool source 'github'`.

    Attributes:
        failure: The last failure; None after a success.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self.failure: str | None = None

    async def ask(self, question: Callable[[], Awaitable[ResultT]]) -> ResultT | None:
        """Return the result, or None after a failure; `failure` tells which.

        Raises:
            asyncio.CancelledError: The caller was cancelled. A cancellation within the part is an
            ordinary failure.
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
