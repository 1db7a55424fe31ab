"""Waits for work that must not be left half done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

__all__ = ["finished"]

ResultT = TypeVar("ResultT")


async def finished(
    work: Awaitable[ResultT], *, undo: Callable[[ResultT], object] | None = None
) -> ResultT:
    """Return the result of work that goes on to its end even if the caller is cancelled.

    Args:
        work: The work.
        undo: Called in a thread with the result if the caller was cancelled meanwhile.

    Raises:
        asyncio.CancelledError: The caller was cancelled; the work has ended, and is undone.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if undo is not None and not task.cancelled() and task.exception() is None:
            await asyncio.wait([asyncio.ensure_future(asyncio.to_thread(undo, task.result()))])
        raise
