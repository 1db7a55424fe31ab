"""What one more layer around a tool costs: `python benchmarks/onion.py`.

A one-chunk tool runs through 1 and through 21 layers that pass its chunks on; the difference,
divided by 20, is printed beside what bare nested async generators cost, which close nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from typing import Any

from agentscope_like.message import TextBlock, ToolChunk
from agentscope_like.tool import FunctionTool, ToolMiddlewareBase

RUNS = 1_000
ROUNDS = 25
CHUNK = ToolChunk(content=[TextBlock(text="x")])

Open = Callable[..., AsyncGenerator[ToolChunk, None]]


class PassOn(ToolMiddlewareBase):
    """Does nothing but pass on."""

    async def on_tool_call(
        self, tool: Any, input_kwargs: dict[str, Any], next_handler: Open
    ) -> AsyncGenerator[ToolChunk, None]:
        """Yield what the next layer yields."""
        async for chunk in next_handler(**input_kwargs):
            yield chunk


async def one_chunk(a: int) -> AsyncGenerator[ToolChunk, None]:
    """Yield one chunk."""
    yield CHUNK


def layered(depth: int) -> Open:
    """Return the tool inside that many layers of the onion."""
    return FunctionTool(one_chunk, middlewares=[PassOn() for _ in range(depth)])


def bare(depth: int) -> Open:
    """Return the same, nested by hand and without any closing."""

    def around(inner: Open) -> Open:
        return lambda **kwargs: PassOn().on_tool_call(None, kwargs, inner)

    handler: Open = one_chunk
    for _ in range(depth):
        handler = around(handler)
    return handler


async def microseconds(run: Open) -> float:
    """Return the processor time of one run, the best of several rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.process_time()
        for _ in range(RUNS):
            async for _ in run(a=1):
                pass
        best = min(best, time.process_time() - begun)
    return best / RUNS * 1e6


async def main() -> None:
    """Measure and print."""
    for name, make in (("layered", layered), ("bare", bare)):
        few, many = await microseconds(make(1)), await microseconds(make(21))
        print(f"{name}: one layer {few:.2f} us, each further one {(many - few) / 20:.2f} us")


if __name__ == "__main__":
    asyncio.run(main())
