"""Retries failed tool runs."""

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
    """Retries a tool that raised an exception if a second run is harmless.

    It is harmless if the tool is idempotent or read-only, and nothing of the failed attempt was
    passed on. Errors that the model or the developer must fix are not retried, nor are cancelled
    calls; an error that the tool returns as its result is not a failure.

    Args:
        max_attempts: The maximum number of attempts, including the first (default 3).
        delay: Seconds before the second attempt (default 0.5).
        backoff: The factor by which the delay grows with each further attempt (default 2).
        retry_on: The exceptions after which to retry (default all).
        even_if_not_idempotent: Whether to retry other tools as well.
        buffered: Whether chunks are held back until the attempt has succeeded, so that it can be
            retried in full.
        sleep: Waits for a number of seconds.

    Raises:
        ConfigurationError: A number is out of range, or `retry_on` is not made of exception
            classes.
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
        self.may_repeat = even_if_not_idempotent
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
        return bool(tool.is_idempotent or tool.is_read_only or self.may_repeat)
