"""Hands calls from other threads to an event loop.

`loop.call_soon_threadsafe` does this too, by a socket that asyncio reads twice for each wake. A
pipe is read once, which saves a fifth of what a call in a worker thread costs
(docs/decisions/sync-tools.md).
"""

from __future__ import annotations

import asyncio
import os
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress

__all__ = ["LoopInbox"]

_READ_AT_ONCE = 4096


class LoopInbox:
    """The calls that other threads want an event loop to make, and the pipe that wakes it.

    The loop holds its inbox until it is closed, and so does everybody who may still post; the pipe
    is closed with the inbox. Calls for a closed loop are dropped.
    """

    def __init__(self) -> None:
        self._calls: deque[Callable[[], object]] = deque()
        self._read_end, self._write_end = os.pipe()
        for each in (self._read_end, self._write_end):
            os.set_blocking(each, False)
            weakref.finalize(self, os.close, each).atexit = False  # threads may still post then

    @classmethod
    def of_running_loop(cls) -> LoopInbox:
        """Return the running loop's inbox.

        Raises:
            NotImplementedError: The loop cannot wait for a pipe.
            OSError: The process has too many open files.
        """
        loop = asyncio.get_running_loop()
        known = _of_loops.get(loop)
        inbox = known() if known is not None else None
        if inbox is None:
            inbox = cls()
            loop.add_reader(inbox._read_end, inbox._call_all)
            _of_loops[loop] = weakref.ref(inbox)
        return inbox

    def post(self, call: Callable[[], object]) -> None:
        """Have the loop make this call, which raises nothing; from any thread."""
        self._calls.append(call)
        with suppress(BlockingIOError):  # full of wakes that the loop has not seen yet
            os.write(self._write_end, b"1")

    def _call_all(self) -> None:
        os.read(self._read_end, _READ_AT_ONCE)
        while self._calls:
            self._calls.popleft()()


_of_loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, weakref.ref[LoopInbox]] = (
    weakref.WeakKeyDictionary()
)
