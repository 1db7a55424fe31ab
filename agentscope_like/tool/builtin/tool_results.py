"""Builds the results of built-in tools, and runs their blocking work off the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from agentscope_like.exception import ToolInterruptedError
from agentscope_like.message import TextBlock, ToolChunk, ToolResultState

__all__ = ["CancelCheck", "failed", "off_loop", "succeeded"]

ResultT = TypeVar("ResultT")

CancelCheck: TypeAlias = Callable[[], None]
"""Called by blocking work between its steps; raises an exception after a cancellation."""


def succeeded(text: str, metadata: dict[str, Any] | None = None) -> ToolChunk:
    """Return the chunk of a successful call."""
    return ToolChunk(
        content=[TextBlock(text=text)], state=ToolResultState.SUCCESS, metadata=metadata or {}
    )


def failed(message: str) -> ToolChunk:
    """Return the chunk of a failed call, which tells the model what to do instead."""
    return ToolChunk(content=[TextBlock(text=message)], state=ToolResultState.ERROR)


async def off_loop(work: Callable[[CancelCheck], ResultT]) -> ResultT:
    """Run blocking work in a thread and return its result; wait for its end even if cancelled.

    Args:
        work: Called with a cancel check, which it calls wherever it can safely stop.

    Raises:
        asyncio.CancelledError: The call was cancelled; the work has ended.
    """
    cancelled = threading.Event()

    def cancel_check() -> None:
        if cancelled.is_set():
            raise ToolInterruptedError("The call was interrupted.")

    running = asyncio.ensure_future(asyncio.to_thread(work, cancel_check))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        cancelled.set()
        with contextlib.suppress(Exception):
            await running
        raise
