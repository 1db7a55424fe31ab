"""Repeats a model call that failed for a passing reason."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agentscope_like.exception import DeveloperOrientedException, ModelError
from agentscope_like.types import ErrorType

__all__ = ["Backoff", "Sleep", "TransientModelError", "as_model_error"]

LONGEST_DELAY = 60.0
"""Seconds that are waited at most before a call is tried again."""

Sleep = Callable[[float], Awaitable[None]]
"""`async (seconds)`: waits, as `asyncio.sleep` does."""


class TransientModelError(ModelError):
    """A failure that may pass: the same call may be tried again.

    Args:
        message: What happened, and how to mend it if it does not pass.
        type: The kind of failure.
        retry_after: Seconds that the server asks to wait, or None where it does not say.
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
    """Return the failure of calling `model` as an error of this project; one of its own stays."""
    if isinstance(error, DeveloperOrientedException):
        return error
    if isinstance(error, ConnectionError | TimeoutError):
        return TransientModelError(f"the connection to the model {model!r} failed: {error!r}")
    return ModelError(f"calling the model {model!r} failed: {error!r}")


@dataclass(slots=True)
class Backoff:
    """The tries that are left of one call.

    Attributes:
        left: How often it may still be tried again.
        delay: Seconds to wait before the next try; doubled each time.
        sleep: Waits.
    """

    left: int
    delay: float
    sleep: Sleep

    async def pause(self, error: DeveloperOrientedException) -> None:
        """Wait until the call may be tried again.

        The wait is the server's where it names one, else exponential with full jitter in its
        upper half, so that many clients do not come back at once.

        Raises:
            DeveloperOrientedException: `error` itself: it will not pass, no try is left, or the
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
