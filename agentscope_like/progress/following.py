"""What a command in the background says, shown as the progress of the call that waits for it."""

from __future__ import annotations

import asyncio
import math
from typing import Protocol

from agentscope_like.progress.call import emit_tool_progress
from agentscope_like.progress.event import ProgressStream

__all__ = ["BackgroundOutput", "OutputFollower", "diff_tail_for_progress"]

_MOST_BYTES = 1 << 20
_TAIL_BYTES = 65_536
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0
_PROBE = 64


class BackgroundOutput(Protocol):
    """Where commands run in the background: a `SandboxHandle` is one."""

    async def is_background_alive(self, task_id: str) -> bool:
        """Return whether a task still runs."""

    async def read_background_output_range(
        self, task_id: str, offset: int, max_bytes: int = ...
    ) -> tuple[str, int]:
        """Return what a task said from a byte on, in whole characters, and the byte after it.

        Raises:
            NotImplementedError: It cannot do that.
        """

    async def read_background_output(self, task_id: str, max_bytes: int = ...) -> str:
        """Return the last that a task has said."""


class OutputFollower:
    """Shows what a background task says, each byte once (seed 000, 12, "Backend pushing").

    Kept with the task, it goes on where it stopped, whichever call waits for the task then. Where
    the output cannot be read by ranges, its last 64 KB are compared instead: what is said faster
    than they are looked at is not shown then, and of what repeats itself some may be shown twice.

    Args:
        source: Where the task runs.
        task_id: The task.
        offset: The byte of its output to begin with.
        stream: The stream to show it as.
    """

    def __init__(
        self,
        source: BackgroundOutput,
        task_id: str,
        *,
        offset: int = 0,
        stream: ProgressStream = "stdout",
    ) -> None:
        self._source = source
        self._task_id = task_id
        self._offset = offset
        self._stream = stream
        self._tail: str | None = None

    @property
    def offset(self) -> int:
        """Return the byte that it goes on from."""
        return self._offset

    async def follow(self, timeout: float = math.inf) -> bool:  # noqa: ASYNC109 - ends in order
        """Show what the task says, until it ends or the time is over.

        Args:
            timeout: Seconds.

        Returns:
            Whether the task has ended, and all that it said has been shown.
        """
        clock = asyncio.get_running_loop().time
        deadline = clock() + timeout
        pause = _FIRST_PAUSE
        while True:
            # Asked before reading: what an ended task has said is all there when it is read.
            is_alive = await self._source.is_background_alive(self._task_id)
            text = await self._next()
            await emit_tool_progress(text, self._stream)
            if not is_alive and not text:
                return True
            left = deadline - clock()
            if is_alive and left <= 0:
                return False
            pause = _FIRST_PAUSE if text else min(pause * 1.5, _LONGEST_PAUSE)
            if not text:
                await asyncio.sleep(min(pause, left))

    async def _next(self) -> str:
        if self._tail is None:
            try:
                text, self._offset = await self._source.read_background_output_range(
                    self._task_id, self._offset, _MOST_BYTES
                )
            except NotImplementedError:
                self._tail = ""
            else:
                return text
        before = self._tail
        self._tail = await self._source.read_background_output(self._task_id, _TAIL_BYTES)
        return diff_tail_for_progress(before, self._tail)


def diff_tail_for_progress(before: str, after: str) -> str:
    """Return what is new in the end of a text, seen once and seen again.

    Args:
        before: The end of the text as it was.
        after: The end of it now, of which the beginning may have been cut off.

    Returns:
        What follows the longest end of `before` that `after` begins with; all of `after` where
        there is none.
    """
    start = before.find(after[:_PROBE])
    while start >= 0:
        overlap = len(before) - start
        if after.startswith(before[start:]):
            return after[overlap:]
        start = before.find(after[:_PROBE], start + 1)
    for overlap in range(min(_PROBE, len(before), len(after)), 0, -1):
        if before.endswith(after[:overlap]):
            return after[overlap:]
    return after
