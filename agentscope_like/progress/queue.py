"""The events of running calls, on their way to one reader."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from agentscope_like.exception import ConfigurationError
from agentscope_like.progress.event import STREAMS, ProgressStream, ToolProgressEvent
from agentscope_like.progress.settings import ProgressSettings

__all__ = ["MAX_BYTES", "MAX_EVENTS", "ProgressQueue"]

MAX_EVENTS = 1024
"""Events that wait for the reader; more text joins what is being gathered."""

MAX_BYTES = 64 << 20
"""Bytes of text that wait for the reader; more is counted and left out."""

_Key = tuple[str, ProgressStream]


@dataclass(slots=True, eq=False)
class _Reader:
    """Somebody who waits for an event.

    Attributes:
        loop: Where it waits.
        woken: What it waits for.
        due: When it looks again by itself; None for never.
    """

    loop: asyncio.AbstractEventLoop
    woken: asyncio.Future[None]
    due: float | None


@dataclass(slots=True)
class _Gathering:
    """Texts of one stream of a call that will be one event.

    Attributes:
        due: When its window ends, by the queue's clock.
        size: Bytes in UTF-8.
    """

    due: float
    parts: list[str] = field(default_factory=list)
    size: int = 0


class ProgressQueue:
    """Takes text from any thread, never blocking, and gives events to one reader: `async for`.

    Texts of one call and stream become one event for a fixed window from the first of them on.
    While the reader is behind, they go on becoming one. Nothing comes twice, and the order of a
    stream is kept; only beyond `max_bytes` is text left out, which an `info` event of the call then
    says, with the number of bytes. The end of a call always has its place.

    Args:
        max_events: Events that wait, besides the last ones of calls that have ended.
        max_bytes: Bytes of text that wait.
        clock: Returns the time in seconds, ever rising.

    Raises:
        ConfigurationError: A limit is not above zero.
    """

    def __init__(
        self,
        *,
        max_events: int = MAX_EVENTS,
        max_bytes: int = MAX_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if max_events < 1 or max_bytes < 1:
            raise ConfigurationError(
                f"a progress queue of {max_events} events and {max_bytes} bytes holds nothing: "
                "give limits above 0"
            )
        self._max_events = max_events
        self._max_bytes = max_bytes
        self._clock = clock
        self._lock = threading.Lock()
        self._ready: deque[tuple[ToolProgressEvent, int]] = deque()
        self._gathering: dict[_Key, _Gathering] = {}
        self._left_out: dict[str, int] = {}
        self._is_flooded = False
        self._bytes = 0
        self._is_over = False
        self._reader: _Reader | None = None

    @property
    def waiting_bytes(self) -> int:
        """Return how many bytes of text wait for the reader."""
        return self._bytes

    @property
    def is_over(self) -> bool:
        """Return whether it takes nothing any more."""
        return self._is_over

    def put(
        self, tool_call_id: str, stream: ProgressStream, text: str, *, settings: ProgressSettings
    ) -> bool:
        """Take a text; from any thread.

        Args:
            tool_call_id: The call that it comes from.
            stream: Which of the call's streams.
            text: Unicode without surrogates.
            settings: When it becomes an event.

        Returns:
            Whether the reader has something to read, so that it should get its turn.
        """
        size = len(text) if text.isascii() else len(text.encode())
        with self._lock:
            if self._is_over or not size:
                return False
            if self._has_no_room(size):
                self._left_out[tool_call_id] = self._left_out.get(tool_call_id, 0) + size
                return True
            if tool_call_id in self._left_out:
                self._flush_call(tool_call_id)
            self._gather((tool_call_id, stream), text, size, settings)
            self._wake()
            return bool(self._ready)

    def close_call(self, tool_call_id: str) -> None:
        """Send what the call has shown so far, then its `closed` event; from any thread."""
        with self._lock:
            if not self._is_over:
                self._flush_call(tool_call_id)
                self._send(tool_call_id, "info", "", 0, closed=True)
                self._wake()

    def end(self) -> None:
        """Take nothing more; what is still being gathered is discarded, events stay readable."""
        with self._lock:
            self._is_over = True
            self._bytes -= sum(one.size for one in self._gathering.values())
            self._gathering.clear()
            self._left_out.clear()
            self._wake()

    def get_nowait(self) -> ToolProgressEvent | None:
        """Return the next event, or None while there is none."""
        with self._lock:
            return self._take()

    def __aiter__(self) -> ProgressQueue:
        return self

    async def __anext__(self) -> ToolProgressEvent:
        """Return the next event; the iteration ends with the queue.

        Raises:
            ConfigurationError: Somebody else is waiting for an event of this queue.
        """
        while (event := self.get_nowait()) is None:
            if self._is_over and not self._ready:
                raise StopAsyncIteration
            await self.wait()
        return event

    async def wait(self, *others: asyncio.Future[Any]) -> None:
        """Wait until there may be an event, the queue is over, or one of the others is done.

        Args:
            *others: They are left as they are, also where the waiting is cancelled.

        Raises:
            ConfigurationError: Somebody else is waiting for an event of this queue.
        """
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._ready or self._is_over:
                return
            if self._reader is not None:
                raise ConfigurationError(
                    "this progress queue has a reader: give each reader a queue of its own"
                )
            reader = self._reader = _Reader(loop, loop.create_future(), self._next_due())
        try:
            timeout = None if reader.due is None else max(reader.due - self._clock(), 0)
            await asyncio.wait(
                {reader.woken, *others}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            with self._lock:
                if self._reader is reader:
                    self._reader = None

    def _has_no_room(self, size: int) -> bool:
        """Return whether text is left out; then it is until half of the room is free again."""
        if self._is_flooded:
            self._is_flooded = self._bytes > self._max_bytes // 2
        self._is_flooded = self._is_flooded or self._bytes + size > self._max_bytes
        return self._is_flooded

    def _gather(self, key: _Key, text: str, size: int, settings: ProgressSettings) -> None:
        self._flush_due()
        gathering = self._gathering.get(key)
        if gathering is None:
            due = self._clock() + settings.flush_interval
            gathering = self._gathering[key] = _Gathering(due)
        gathering.parts.append(text)
        gathering.size += size
        self._bytes += size
        is_enough = gathering.size >= settings.flush_bytes or settings.flush_interval <= 0
        if is_enough and len(self._ready) < self._max_events:
            self._flush(key)

    def _take(self) -> ToolProgressEvent | None:
        self._flush_due()
        if not self._ready:
            return None
        event, size = self._ready.popleft()
        self._bytes -= size
        return event

    def _next_due(self) -> float | None:
        return min((one.due for one in self._gathering.values()), default=None)

    def _flush_due(self) -> None:
        if self._gathering and len(self._ready) < self._max_events:
            now = self._clock()
            for key in [key for key, one in self._gathering.items() if one.due <= now]:
                if len(self._ready) < self._max_events:
                    self._flush(key)

    def _flush_call(self, tool_call_id: str) -> None:
        for stream in STREAMS:
            self._flush((tool_call_id, stream))
        if left_out := self._left_out.pop(tool_call_id, 0):
            notice = f"[{left_out:,} bytes left out here: they came faster than they were read]\n"
            self._bytes += len(notice)
            self._send(tool_call_id, "info", notice, len(notice))

    def _flush(self, key: _Key) -> None:
        # Out of the gathering before it is sent: so it cannot be sent twice.
        gathering = self._gathering.pop(key, None)
        if gathering is not None:
            self._send(*key, "".join(gathering.parts), gathering.size)

    def _send(
        self,
        tool_call_id: str,
        stream: ProgressStream,
        text: str,
        size: int,
        *,
        closed: bool = False,
    ) -> None:
        event = ToolProgressEvent(tool_call_id, text, stream, closed, time.time())
        self._ready.append((event, size))

    def _wake(self) -> None:
        reader, due = self._reader, self._next_due()
        if reader is None:
            return
        is_sooner = due is not None and (reader.due is None or due < reader.due)
        if self._ready or self._is_over or is_sooner:
            self._reader = None
            with suppress(RuntimeError):  # its loop is closed: nobody reads
                reader.loop.call_soon_threadsafe(_finish, reader.woken)


def _finish(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)
