"""Run a tool again when it fails."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from typing_extensions import override

from agentscope_like.exception import (
    AgentOrientedException,
    ConfigurationError,
    DeveloperOrientedException,
)
from agentscope_like.message import ToolChunk
from agentscope_like.middleware.base import NextHandler, ToolMiddlewareBase

__all__ = ["RetryMiddleware"]

_log = logging.getLogger(__name__)

_FINAL = (AgentOrientedException, DeveloperOrientedException)


class RetryMiddleware(ToolMiddlewareBase):
    """Runs a tool that raised once more, where that can do no harm.

    That is so where the tool is idempotent or read-only, and nothing of the failed attempt has been
    passed on. What the model or the developer has to mend is not tried again, nor is a cancelled
    call; an error that the tool reports as a result is a result.

    Args:
        max_attempts: Attempts in all, the first one included (default 3).
        delay: Seconds before the second attempt (default 0.5).
        backoff: What the delay is multiplied by for each further attempt (default 2).
        retry_on: The exceptions to try again after (default all).
        even_if_not_idempotent: Whether other tools are run again as well.
        buffered: Whether chunks are held back until the attempt has ended well, so that it can be
            repeated as a whole.
        sleep: Waits for a number of seconds.

    Raises:
        ConfigurationError: A number is out of range, or an exception is none that a tool raises.
    """

    def __init__(
        self,
        max_attempts: int = 3,
        *,
        delay: float = 0.5,
        backoff: float = 2.0,
        retry_on: tuple[type[Exception], ...] = (Exception,),
        even_if_not_idempotent: bool = False,
        buffered: bool = False,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if max_attempts < 1 or delay < 0 or backoff < 1:
            raise ConfigurationError(
                f"cannot try {max_attempts} times with delay {delay} and backoff {backoff}: give "
                "max_attempts >= 1, delay >= 0 and backoff >= 1"
            )
        if not all(issubclass(kind, Exception) for kind in retry_on):
            raise ConfigurationError(
                f"cannot retry on {retry_on}: cancellation and exit are no failures; give "
                "subclasses of Exception"
            )
        self._max_attempts = max_attempts
        self._delay = delay
        self._backoff = backoff
        self._retry_on = retry_on
        self._even_if_not_idempotent = even_if_not_idempotent
        self._buffered = buffered
        self._sleep = sleep

    @override
    async def on_tool_call(
        self, tool: Any, input_kwargs: dict[str, Any], next_handler: NextHandler
    ) -> AsyncGenerator[ToolChunk, None]:
        attempts = self._max_attempts if self._may_repeat(tool) else 1
        for attempt in range(1, attempts + 1):
            held: list[ToolChunk] = []
            has_passed_on = False
            try:
                async with aclosing(next_handler(**input_kwargs)) as stream:
                    async for chunk in stream:
                        if self._buffered:
                            held.append(chunk)
                            continue
                        has_passed_on = True
                        yield chunk
            except self._retry_on as error:
                if attempt == attempts or has_passed_on or isinstance(error, _FINAL):
                    raise
                wait = self._delay * self._backoff ** (attempt - 1)
                _log.info("%s failed: %r; trying again in %.1f s", tool.name, error, wait)
            else:
                for chunk in held:
                    yield chunk
                return
            await self._sleep(wait)

    def _may_repeat(self, tool: Any) -> bool:
        return bool(tool.is_idempotent or tool.is_read_only or self._even_if_not_idempotent)
