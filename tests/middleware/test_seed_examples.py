"""The middlewares that the documents show, word for word, run here."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from agentscope_like.tool import ToolBase, ToolChunk, ToolMiddlewareBase
from tests.middleware.kit import Scripted, result_of, text_of


class LoggingMiddleware(ToolMiddlewareBase):
    """Seed 002, "Tool Middleware", example."""

    async def on_tool_call(
        self,
        tool: ToolBase,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., AsyncGenerator[ToolChunk, None]],
    ) -> AsyncGenerator[ToolChunk, None]:
        print(f"→ Calling {tool.name} with {input_kwargs}")  # noqa: T201
        async for chunk in next_handler(**input_kwargs):
            yield chunk
        print(f"✓ {tool.name} finished")  # noqa: T201


class RetryMiddleware(ToolMiddlewareBase):
    """Seed 002, "Tool Middleware", example."""

    def __init__(self, max_attempts: int = 3) -> None:
        self.max_attempts = max_attempts

    async def on_tool_call(
        self,
        tool: ToolBase,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., AsyncGenerator[ToolChunk, None]],
    ) -> AsyncGenerator[ToolChunk, None]:
        for attempt in range(1, self.max_attempts + 1):
            try:
                async for chunk in next_handler(**input_kwargs):
                    yield chunk
                return
            except Exception as e:
                if attempt == self.max_attempts:
                    raise
                print(f"Attempt {attempt} failed: {e}, retrying…")  # noqa: T201


async def test_the_seed_s_middlewares_run_unchanged(capsys: pytest.CaptureFixture[str]) -> None:
    """Logging around retry: two failures, then the result."""
    tool = Scripted(
        [OSError("one")],
        [OSError("two")],
        ["done"],
        middlewares=[LoggingMiddleware(), RetryMiddleware(max_attempts=3)],
    )
    assert text_of(await result_of(tool, a=1)) == "done"
    assert capsys.readouterr().out.splitlines() == [
        "→ Calling Scripted with {'a': 1}",
        "Attempt 1 failed: one, retrying…",
        "Attempt 2 failed: two, retrying…",
        "✓ Scripted finished",
    ]
    assert (tool.runs, tool.closed) == (3, 3)


async def test_the_seed_s_retry_gives_up() -> None:
    """The last failure is the caller's."""
    tool = Scripted([OSError("always")], middlewares=[RetryMiddleware(max_attempts=2)])
    with pytest.raises(OSError, match="always"):
        await result_of(tool)
    assert tool.runs == 2
