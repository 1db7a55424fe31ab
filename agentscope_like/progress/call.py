"""The progress of the call that runs here, wherever the tool's code says it."""

from __future__ import annotations

import codecs
import logging
import threading
from collections.abc import AsyncGenerator, Awaitable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum, auto
from typing import TypeVar

from agentscope_like.progress.event import STREAMS, ProgressStream
from agentscope_like.progress.queue import ProgressQueue
from agentscope_like.progress.settings import ProgressSettings

__all__ = [
    "bind_tool_progress",
    "emit_tool_progress",
    "emit_tool_progress_closed",
    "register_progress_queue",
    "reported",
    "unregister_progress_queue",
]

T = TypeVar("T")

_log = logging.getLogger(__name__)


class _End(Enum):
    END = auto()


class _Turn:
    """Has nothing left to do; awaiting it gives others their turn where that is of use."""

    __slots__ = ("_is_given",)

    def __init__(self, *, is_given: bool) -> None:
        self._is_given = is_given

    def __await__(self) -> Generator[None, None, None]:
        if self._is_given:
            yield


_NO_TURN = _Turn(is_given=False)
_A_TURN = _Turn(is_given=True)


class _CallProgress:
    """What one running call shows; any thread may tell it."""

    def __init__(self, tool_call_id: str, queue: ProgressQueue, settings: ProgressSettings) -> None:
        self._tool_call_id = tool_call_id
        self._queue = queue
        self._settings = settings
        self._lock = threading.Lock()
        self._decoders: dict[ProgressStream, codecs.IncrementalDecoder] = {}
        self._is_closed = False

    def emit(self, text: str | bytes, stream: ProgressStream) -> bool:
        """Send a text; return whether the reader should get its turn."""
        if stream not in STREAMS:
            _log.warning("no progress stream %r: it goes to `info`; there are %s", stream, STREAMS)
            stream = "info"
        with self._lock:
            if self._is_closed:
                return False
            whole = self._decoded(text, stream) if isinstance(text, bytes) else _unicode(text)
            return self._put(whole, stream)

    def close(self) -> None:
        """Send what is left and the end, once; nothing comes after it."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            for stream, decoder in self._decoders.items():
                self._put(decoder.decode(b"", final=True), stream)
            self._queue.close_call(self._tool_call_id)

    def _put(self, text: str, stream: ProgressStream) -> bool:
        return self._queue.put(self._tool_call_id, stream, text, settings=self._settings)

    def _decoded(self, data: bytes, stream: ProgressStream) -> str:
        """Return the whole characters; one that is cut at the end waits for its other bytes."""
        decoder = self._decoders.get(stream)
        if decoder is None:
            decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
            self._decoders[stream] = decoder
        return decoder.decode(data)


def _unicode(text: str) -> str:
    """Return the text without surrogates, which UTF-8 cannot say; pairs become what they mean."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


_queue: ContextVar[ProgressQueue | None] = ContextVar("progress_queue", default=None)
_call: ContextVar[_CallProgress | None] = ContextVar("tool_progress", default=None)


def register_progress_queue(queue: ProgressQueue | None = None) -> ProgressQueue:
    """Have the calls that are run from here on in this context show their progress.

    Args:
        queue: Where it goes; by default a new one.

    Returns:
        The queue, to read from while the calls run.
    """
    queue = ProgressQueue() if queue is None else queue
    _queue.set(queue)
    return queue


def unregister_progress_queue(queue: ProgressQueue | None = None) -> None:
    """End a queue: what is still being gathered is discarded, and its reader comes to an end.

    Args:
        queue: By default the one that is registered in this context, if any.
    """
    registered = _queue.get()
    ended = registered if queue is None else queue
    if ended is not None:
        ended.end()
    if ended is registered:
        _queue.set(None)


def emit_tool_progress(text: str | bytes, stream: ProgressStream = "stdout") -> Awaitable[None]:
    """Show what the running tool has to say before its result (seed 000, 12).

    It is done when this returns, without blocking or raising, in a coroutine and in any thread that
    a tool's call runs in. Where nobody watches it does nothing. In a coroutine, await what it
    returns: a tool that says much without a pause then lets the reader have its turn.

    Args:
        text: What is new. Bytes are UTF-8, and a character that is cut at their end is completed by
            the next bytes of that stream.
        stream: `stdout`, `stderr` or `info`.
    """
    progress = _call.get()
    if progress is None or not text:
        return _NO_TURN
    try:
        return _A_TURN if progress.emit(text, stream) else _NO_TURN
    except Exception:  # what a tool shows is no reason for it to fail
        _log.warning("progress of the stream %r cannot be shown", stream, exc_info=True)
        return _NO_TURN


def emit_tool_progress_closed() -> Awaitable[None]:
    """Send all that the running call has shown, then the end of its progress.

    The end of the call does the same, however it ends; this ends the progress sooner.
    """
    progress = _call.get()
    if progress is None:
        return _NO_TURN
    progress.close()
    return _A_TURN


@contextmanager
def bind_tool_progress(tool_call_id: str) -> Iterator[None]:
    """Have the code inside show its progress as that of a call, which ends with it.

    A `Toolkit` does this for the calls that it runs; this is for code that runs tools by itself.

    Args:
        tool_call_id: The call.
    """
    progress = _begun(tool_call_id)
    token = _call.set(progress)
    try:
        yield
    finally:
        _call.reset(token)
        if progress is not None:
            progress.close()


def reported(stream: AsyncGenerator[T, None], tool_call_id: str) -> AsyncGenerator[T, None]:
    """Return the stream of a call, whose steps show their progress; itself where nobody watches.

    Args:
        stream: What the tool yields.
        tool_call_id: The call.
    """
    progress = _begun(tool_call_id)
    return stream if progress is None else _reported(stream, progress)


def _begun(tool_call_id: str) -> _CallProgress | None:
    queue = _queue.get()
    if queue is None or queue.is_over:
        return None
    settings = ProgressSettings.from_environment()
    return _CallProgress(tool_call_id, queue, settings) if settings.enabled else None


async def _reported(
    stream: AsyncGenerator[T, None], progress: _CallProgress
) -> AsyncGenerator[T, None]:
    try:
        while True:
            with _bound(progress):
                item = await anext(stream, _End.END)
            if item is _End.END:
                return
            yield item
    finally:
        try:
            with _bound(progress):
                await stream.aclose()
        finally:
            progress.close()


@contextmanager
def _bound(progress: _CallProgress) -> Iterator[None]:
    """Bind the progress for one step: over a `yield` it would leak into the reader's context."""
    token = _call.set(progress)
    try:
        yield
    finally:
        _call.reset(token)
