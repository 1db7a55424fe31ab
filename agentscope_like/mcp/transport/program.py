"""Starts a server's program, and passes messages over its stdin and stdout, one a line.

The MCP library's own transport logs a traceback for each line that is no message, and reads lines
of any length. This module loads the MCP library; it is imported when a client first connects.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, suppress
from typing import Any, TextIO

import anyio
from anyio.abc import Process
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from agentscope_like.mcp.config import StdioMCPConfig
from agentscope_like.mcp.transport.oversized import MAX_MESSAGE_BYTES, refusal_of
from agentscope_like.mcp.transport.watch import Watch
from agentscope_like.message.block import new_id
from agentscope_like.sandbox.host import MARK_VARIABLE, ProcessFamily

__all__ = ["open_program"]

_FLUSH_SECONDS = 0.5
_EXIT_SECONDS = 2.0
_KILL_SECONDS = 2.0
_POLL_SECONDS = 0.01

_Streams = tuple[Any, Any]
_GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream, OSError)


@asynccontextmanager
async def open_program(config: StdioMCPConfig, watch: Watch) -> AsyncIterator[_Streams]:
    """Start the program and give the streams of its messages; end all that it started on exit.

    Args:
        config: How to start it.
        watch: Gets what it prints on stderr, and lines on stdout that are no messages.
    """
    mark, outer = new_id(), os.environ.get(MARK_VARIABLE)
    marked = {MARK_VARIABLE: f"{outer}:{mark}" if outer else mark}
    async with _error_output(watch) as error_output:
        try:
            process = await anyio.open_process(
                [config.command, *(config.args or [])],
                env={**get_default_environment(), **(config.env or {}), **marked},
                cwd=config.cwd,
                stderr=error_output,
                start_new_session=True,
            )
            error_output.close()
            async with _streams(process, config, watch) as streams:
                yield streams
        finally:
            # Its own process group has been ended; these left it, or outlived it.
            family = ProcessFamily(None, mark)
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(lambda: family.end(signal.SIGKILL, everyone=True))


@asynccontextmanager
async def _streams(
    process: Process, config: StdioMCPConfig, watch: Watch
) -> AsyncIterator[_Streams]:
    heard, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    said, to_send = anyio.create_memory_object_stream[SessionMessage](0)
    flushed = anyio.Event()

    async def read() -> None:
        lines = _Lines(config.encoding_error_handler, watch)
        with suppress(*_GONE):
            async with heard:
                while process.stdout is not None:
                    for message in lines.messages(await process.stdout.receive()):
                        await heard.send(message)
        with suppress(*_GONE):  # what blocks on a full pipe cannot end by itself
            while process.stdout is not None:
                await process.stdout.receive()

    async def write() -> None:
        try:
            async with to_send:
                async for each in to_send:
                    text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                    if process.stdin is not None:
                        await process.stdin.send(f"{text}\n".encode())
        except _GONE:
            await heard.aclose()  # nobody waits for an answer to what cannot be asked
        finally:
            flushed.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        try:
            yield received, said
        finally:
            with anyio.CancelScope(shield=True):
                received.close()
                said.close()
                with anyio.move_on_after(_FLUSH_SECONDS):
                    await flushed.wait()
                await _stop(process)
            tasks.cancel_scope.cancel()


async def _stop(process: Process) -> None:
    """Close the program's stdin, give it time to end, then end its process group."""
    await _closed(process.stdin)
    if not await _has_ended(process, _EXIT_SECONDS):
        _signal(process, signal.SIGTERM)
        if not await _has_ended(process, _KILL_SECONDS):
            _signal(process, signal.SIGKILL)
            await _has_ended(process, _KILL_SECONDS)
    _signal(process, signal.SIGKILL)  # what it left in its group
    await _closed(process.stdout)
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    if transport is not None:
        with suppress(PermissionError):
            transport.close()  # a child that holds the pipe would keep it open


async def _closed(stream: Any) -> None:
    if stream is not None:
        with suppress(*_GONE):
            await stream.aclose()


async def _has_ended(process: Process, seconds: float) -> bool:
    """Wait for the program alone: `wait` also waits for whoever has inherited its pipes."""
    with anyio.move_on_after(seconds):
        while process.returncode is None:  # noqa: ASYNC110
            await anyio.sleep(_POLL_SECONDS)
    return process.returncode is not None


def _signal(process: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


class _Lines:
    """Puts the lines of a program together, and reads the messages; each byte is moved once."""

    def __init__(self, errors: str, watch: Watch) -> None:
        self._errors = errors
        self._watch = watch
        self._pieces: list[bytes] = []
        self._size = 0

    def messages(self, data: bytes) -> Iterator[SessionMessage | Exception]:
        """Yield the messages that end in this data."""
        *ended, rest = data.split(b"\n")
        for piece in ended:
            self._keep(piece)
            message = self._message()
            if message is not None:
                yield message
        self._keep(rest)

    def _keep(self, piece: bytes) -> None:
        if not piece:
            return
        self._size += len(piece)
        if self._size <= MAX_MESSAGE_BYTES:
            self._pieces.append(piece)
        elif len(self._pieces) > 1:
            self._pieces = [self._pieces[0]]  # who is answered stands at the beginning

    def _message(self) -> SessionMessage | None:
        line, size = b"".join(self._pieces), self._size
        self._pieces, self._size = [], 0
        if size > MAX_MESSAGE_BYTES:
            refusal = refusal_of(line, size)
            return None if refusal is None else SessionMessage(refusal)
        try:
            text = line.decode(errors=self._errors)
            return SessionMessage(jsonrpc_message_adapter.validate_json(text, by_name=False))
        except (UnicodeDecodeError, ValidationError):
            self._watch.noticed(line)
            return None


class _ErrorOutput(asyncio.Protocol):
    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    def data_received(self, data: bytes) -> None:
        self._watch.printed(data)


@asynccontextmanager
async def _error_output(watch: Watch) -> AsyncIterator[TextIO]:
    """Give a file for a program's stderr, and record its output."""
    with ExitStack() as stack:
        reading, writing = os.pipe()
        source = stack.enter_context(os.fdopen(reading, "rb", buffering=0))
        sink = stack.enter_context(os.fdopen(writing, "w"))
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(lambda: _ErrorOutput(watch), source)
        stack.callback(transport.close)
        yield sink
