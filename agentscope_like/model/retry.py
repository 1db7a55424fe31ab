"""Retries model calls after transient failures."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agentscope_like.exception import DeveloperOrientedException, ModelError
from agentscope_like.types import ErrorType

__all__ = ["Backoff", "Sleep", "TransientModelError", "as_model_error"]

LONGEST_DELAY = 60.0
"""The maximum number of seconds to wait before a retry."""

Sleep = Callable[[float], Awaitable[None]]
"""`async (seconds)`: waits, as `asyncio.sleep` does."""


class TransientModelError(ModelError):
    """A transient failure: the same call may be retried.

    Args:
        message: What happened, and how to fix it if it persists.
        type: The kind of failure.
        retry_after: Seconds that the server asks to wait, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        type: ErrorType = ErrorType.CONNECTION,  # noqa: A002
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, type=type)
        self.retry_after = retry_after


def as_model_error(error: Exception, model: str) -> DeveloperOrientedException:
    """Return the failure of calling `model` as an error of this project."""
    if isinstance(error, DeveloperOrientedException):
        return error
    if isinstance(error, ConnectionError | TimeoutError):
        return TransientModelError(f"the connection to the model {model!r} failed: {error!r}")
    return ModelError(f"calling the model {model!r} failed: {error!r}")


@dataclass(slots=True)
class Backoff:
    """The remaining retries of one call.

    Attributes:
        left: The number of remaining retries.
        delay: Seconds to wait before the next retry; doubled each time.
        sleep: Waits.
    """

    left: int
    delay: float
    sleep: Sleep

    async def pause(self, error: DeveloperOrientedException) -> None:
        """Wait until the call may be retried.

        The server may name the time to wait; otherwise it grows exponentially, with jitter in its
        upper half so that many clients do not retry at once.

        Raises:
            DeveloperOrientedException: `error` itself, if it is permanent, no retry is left, or the
                server asks to wait longer than a minute.
        """
        if not isinstance(error, TransientModelError) or self.left <= 0:
            raise error
        wanted = error.retry_after
        if wanted is not None and wanted > LONGEST_DELAY:
            raise error
        self.left -= 1
        jittered = self.delay * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards nothing
        self.delay *= 2
        await self.sleep(min(jittered, LONGEST_DELAY) if wanted is None else max(wanted, 0.0))
