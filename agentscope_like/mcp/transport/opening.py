"""Opens the MCP library's transports, and watches for their end.

This module loads the MCP library; it is imported when a client first connects.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache
from types import TracebackType
from typing import Any, Self

import anyio
import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from agentscope_like.mcp.config import HttpMCPConfig, StdioMCPConfig, Transport
from agentscope_like.mcp.sound_tools import SoundTools
from agentscope_like.mcp.transport.oversized import LimitedStream
from agentscope_like.mcp.transport.program import open_program
from agentscope_like.mcp.transport.watch import ANSWER, Watch

__all__ = ["open_transport"]

_SESSION_ID = "mcp-session-id"
_NOT_FOUND, _BAD_REQUEST = 404, 400
"""An unknown session: the protocol says 404; other servers send 400 and say so in words."""

_Streams = tuple[Any, Any]
"""The read and write streams of the library's `Transport`, whose types are private."""


@asynccontextmanager
async def open_transport(
    config: StdioMCPConfig | HttpMCPConfig, watch: Watch
) -> AsyncIterator[_Streams]:
    """Open the streams to the server; clean up on exit.

    Args:
        config: How to reach the server.
        watch: Gets the end of the streams.
    """
    if isinstance(config, StdioMCPConfig):
        opened = open_program(config, watch)
    elif config.transport is Transport.SSE:
        opened = _sse(config, watch)
    else:
        opened = _streamable_http(config, watch)
    async with opened as (read, write):
        yield _WatchedStream(read, watch), write


@asynccontextmanager
async def _streamable_http(config: HttpMCPConfig, watch: Watch) -> AsyncIterator[_Streams]:
    certificates = await asyncio.to_thread(_certificates)
    async with (
        _http_client(config, watch, certificates) as http,
        streamable_http_client(config.url, http_client=http) as streams,
    ):
        yield streams


@asynccontextmanager
async def _sse(config: HttpMCPConfig, watch: Watch) -> AsyncIterator[_Streams]:
    certificates = await asyncio.to_thread(_certificates)

    def client(*_: Any, **__: Any) -> httpx2.AsyncClient:
        return _http_client(config, watch, certificates)

    async with sse_client(config.url, httpx_client_factory=client) as streams:
        yield streams


@lru_cache(maxsize=1)
def _certificates() -> ssl.SSLContext:
    """Return the trusted certificates, cached since loading them takes longer than a call."""
    return httpx2.create_ssl_context()


def _http_client(
    config: HttpMCPConfig, watch: Watch, certificates: ssl.SSLContext
) -> httpx2.AsyncClient:
    """Return a client without a timeout for answers, since each call has one."""
    is_sse = config.transport is Transport.SSE

    async def begin(request: httpx2.Request) -> None:
        if (answer := ANSWER.get()) is not None:
            request.extensions = {**request.extensions, "trace": answer.trace}

    async def note(response: httpx2.Response) -> None:
        watch.answered(response.status_code)
        answer = ANSWER.get()
        response.stream = LimitedStream(response.stream, lambda: watch.overflowed(answer))
        if response.request.method != "POST":
            return
        if answer is not None:
            has_session = is_sse or _SESSION_ID in response.request.headers
            answer.is_forgotten = has_session and await _knows_no_session(response)
        if is_sse and response.is_error:
            watch.ended.set()  # nobody is told: the library waits for an answer all the same

    timeout = httpx2.Timeout(config.timeout, read=None)
    return httpx2.AsyncClient(
        headers=config.headers,
        timeout=timeout,
        verify=certificates,
        event_hooks={"request": [begin], "response": [note]},
    )


async def _knows_no_session(response: httpx2.Response) -> bool:
    """Return whether a server refuses a request since it does not know the session."""
    if response.status_code != _BAD_REQUEST:
        return response.status_code == _NOT_FOUND
    return b"session" in (await response.aread()).lower()


class _WatchedStream:
    """A read stream that tells the watch when it ends."""

    def __init__(self, inner: Any, watch: Watch) -> None:
        self._inner = inner
        self._watch = watch
        self._sound = SoundTools()

    @property
    def last_context(self) -> Any:
        """Return the context of the last message, which the library needs."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        try:
            received: SessionMessage | Exception = await self._inner.receive()
        except BaseException:  # the end of the stream, or of the task that reads it
            self._watch.ended.set()
            raise
        if isinstance(received, SessionMessage):
            self._sound.keep(received.message)
        return received

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        left: bool | None = await self._inner.__aexit__(exc_type, exc_val, exc_tb)
        return left
