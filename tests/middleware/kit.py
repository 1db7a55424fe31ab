"""A tool whose runs follow a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from agentscope_like.message import TextBlock, ToolChunk, ToolResponse
from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionDecision
from agentscope_like.tool import ToolBase, ToolMiddlewareBase

__all__ = ["Scripted", "Step", "heard", "result_of", "text_chunk", "text_of"]

Step = str | float | ToolChunk | BaseException


def text_chunk(text: str) -> ToolChunk:
    """Return a chunk of one text."""
    return ToolChunk(content=[TextBlock(text=text)])


class Scripted(ToolBase):
    """Runs one script per run, the last one again and again.

    A step that is text or a chunk is yielded, a number is slept, an exception is raised.
    """

    name = "Scripted"
    description = "Does as it is told."
    input_schema = {"type": "object", "properties": {}}  # noqa: RUF012
    is_concurrency_safe = True
    is_read_only = False

    def __init__(
        self,
        *scripts: Sequence[Step],
        middlewares: Sequence[ToolMiddlewareBase] = (),
        is_idempotent: bool = False,
        is_read_only: bool = False,
    ) -> None:
        super().__init__(middlewares)
        self.scripts = scripts
        self.runs = 0
        self.closed = 0
        self.is_idempotent = is_idempotent
        self.is_read_only = is_read_only

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        return PermissionDecision(PermissionBehavior.ALLOW, "always")

    async def call(self, /, **kwargs: Any) -> AsyncGenerator[ToolChunk, None]:
        script = self.scripts[min(self.runs, len(self.scripts) - 1)]
        self.runs += 1
        try:
            for step in script:
                if isinstance(step, BaseException):
                    raise step
                if isinstance(step, int | float):
                    await asyncio.sleep(step)
                else:
                    yield text_chunk(step) if isinstance(step, str) else step
        finally:
            await asyncio.sleep(0)
            self.closed += 1


async def heard(tool: ToolBase, **kwargs: Any) -> list[ToolChunk]:
    """Return the chunks of one run."""
    async with aclosing(tool(**kwargs)) as stream:
        return [chunk async for chunk in stream]


async def result_of(tool: ToolBase, **kwargs: Any) -> ToolResponse:
    """Return the whole of one run."""
    response = ToolResponse()
    for chunk in await heard(tool, **kwargs):
        response.append_chunk(chunk)
    return response


def text_of(response: ToolResponse) -> str:
    """Return the response's text."""
    return "".join(block.text for block in response.content if isinstance(block, TextBlock))
