"""Logs each run of a tool."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from typing_extensions import override

from agentscope_like.message import ToolChunk, ToolResultState
from agentscope_like.middleware.base import NextHandler, ToolMiddlewareBase

__all__ = ["LoggingMiddleware"]

_INJECTED = frozenset({"_agent_state", "_permission_context", "_prepared_call"})


class LoggingMiddleware(ToolMiddlewareBase):
    """Logs the start and the end of each run, its outcome and its duration.

    Only the names of arguments are logged, since their values may be secret.

    Args:
        logger: The logger; by default that of this module.
        level: The level of starts and ends; failures are logged as warnings.
        shows_values: Whether the values of the arguments are logged as well.
        clock: Returns the time, in seconds; monotonic by default.
    """

    def __init__(
        self,
        logger: logging.Logger | None = None,
        level: int = logging.INFO,
        *,
        shows_values: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._logger = logger if logger is not None else logging.getLogger(__name__)
        self._level = level
        self._shows_values = shows_values
        self._clock = clock

    @override
    async def on_tool_call(
        self, tool: Any, input_kwargs: dict[str, Any], next_handler: NextHandler
    ) -> AsyncGenerator[ToolChunk, None]:
        self._logger.log(self._level, "%s starts (%s)", tool.name, self._shown(input_kwargs))
        begun = self._clock()
        level, how = self._level, "was closed early"
        try:
            state = ToolResultState.SUCCESS
            async with aclosing(next_handler(**input_kwargs)) as stream:
                async for chunk in stream:
                    state = state if chunk.state is ToolResultState.RUNNING else chunk.state
                    yield chunk
            how = f"ended: {state}"
        except asyncio.CancelledError:
            how = "was cancelled"
            raise
        except Exception as error:
            level, how = logging.WARNING, f"failed: {type(error).__name__}: {error}"
            raise
        finally:
            self._logger.log(level, "%s %s, after %.3f s", tool.name, how, self._clock() - begun)

    def _shown(self, input_kwargs: dict[str, Any]) -> str:
        given = {name: value for name, value in input_kwargs.items() if name not in _INJECTED}
        if not self._shows_values:
            return ", ".join(given)
        return ", ".join(f"{name}={value!r}" for name, value in given.items())
