"""Timing one operation, in a process that does nothing else."""

from __future__ import annotations

import gc
import time
from collections.abc import Awaitable, Callable
from typing import Any

__all__ = ["timed"]


async def timed(
    operation: Callable[[int], Awaitable[Any]], rounds: int, *, batches: int = 5
) -> float:
    """Return the microseconds of one operation: the best of the batches.

    Args:
        operation: Awaited with a number that it has not been given before.
        rounds: Operations in a batch.
        batches: How many batches.
    """
    for number in range(max(1, rounds // 10)):
        await operation(-1 - number)
    best = float("inf")
    gc.disable()
    for batch in range(batches):
        begin = time.perf_counter()
        for number in range(rounds):
            await operation(batch * rounds + number)
        best = min(best, (time.perf_counter() - begin) / rounds)
    gc.enable()
    return best * 1e6
