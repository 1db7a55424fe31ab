"""Stops tool runs that take too long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from typing_extensions import override

from agentscope_like.exception import ConfigurationError
from agentscope_like.message import TextBlock, ToolChunk, ToolResultState
from agentscope_like.middleware.base import NextHandler, ToolMiddlewareBase

__all__ = ["TimeoutMiddleware"]


class TimeoutMiddleware(ToolMiddlewareBase):
    """Stops a run after a timeout; its result is then an error that says so.

    Output before the timeout stays part of the result. The tool is cancelled and closed, and the
    result waits for its cleanup. A function that runs in a thread cannot be stopped and continues
    in the background.

    Args:
        seconds: The timeout from the first step of a run to its end, including the time that the
            consumer takes between chunks.

    Raises:
        ConfigurationError: The time is not above zero.
    """

    def __init__(self, seconds: float) -> None:
        if not seconds > 0:
            raise ConfigurationError(f"a tool cannot end within {seconds} seconds: give a time > 0")
        self._seconds = seconds

    @override
    async def on_tool_call(
        self, tool: Any, input_kwargs: dict[str, Any], next_handler: NextHandler
    ) -> AsyncGenerator[ToolChunk, None]:
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._seconds
        has_output = False
        async with aclosing(next_handler(**input_kwargs)) as stream:
            while clock() < deadline:
                # The scope holds one step and never a `yield`: it would cancel the consumer.
                scope = asyncio.timeout_at(deadline)
                try:
                    async with scope:
                        chunk = await anext(stream, None)
                except TimeoutError:
                    if not scope.expired():
                        raise
                    break
                if chunk is not None:
                    has_output = has_output or bool(chunk.content)
                    yield chunk
                elif scope.expired():
                    break
                else:
                    return
        yield ToolChunk(
            content=[TextBlock(text=self._notice(tool.name, has_output=has_output))],
            state=ToolResultState.ERROR,
            metadata={"timed_out_after": self._seconds},
        )

    def _notice(self, tool_name: str, *, has_output: bool) -> str:
        notice = (
            f"{tool_name} was stopped: it did not end within its limit of {self._seconds:g} s. "
            "Do less in one call, or find out why it takes so long."
        )
        return f"\n{notice}" if has_output else notice
