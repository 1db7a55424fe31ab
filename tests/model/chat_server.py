"""A server on loopback that speaks chat completions, or misbehaves as it is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

__all__ = ["ChatServer", "Reply", "delta", "failed", "running", "serving", "sse", "streamed"]

Json = dict[str, Any]

ServerT = TypeVar("ServerT", bound="ChatServer")


@dataclass(frozen=True)
class Reply:
    """One HTTP answer: its body is sent in chunks, and with `cut` never ended."""

    chunks: Sequence[bytes] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False
    held: asyncio.Event | None = None


def sse(*events: Json | str) -> list[bytes]:
    """Return server-sent events; a string is sent as it stands."""
    texts = [event if isinstance(event, str) else json.dumps(event) for event in events]
    return [f"data: {text}\n\n".encode() for text in texts]


def delta(finish: str | None = None, **fields: Any) -> Json:
    """Return a chunk of a streamed completion with one choice."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": fields, "finish_reason": finish}],
    }


def streamed(*events: Json | str, done: bool = True, cut: bool = False) -> Reply:
    """Return a stream of these events, ended as the interface wants it unless told otherwise."""
    chunks = sse(*events, *(["[DONE]"] if done else []))
    return Reply(chunks, headers={"content-type": "text/event-stream"}, cut=cut)


def failed(status: int, message: str = "no", headers: Mapping[str, str] | None = None) -> Reply:
    """Return an error as the interface tells it."""
    body = json.dumps({"error": {"message": message, "type": "x", "code": None}}).encode()
    return Reply([body], status, {"content-type": "application/json", **(headers or {})})


class ChatServer:
    """Gives its replies one after the other and keeps what it was asked."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        self.replies = list(replies)
        self.requests: list[Json] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""
        self.idle = asyncio.Event()
        self.idle.set()
        self._writers: set[asyncio.StreamWriter] = set()

    def reply_to(self, request: Json) -> Reply:
        """Return the answer to a request: the next one."""
        return self.replies.pop(0) if self.replies else failed(418, "no reply is left")

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        self._writers.add(writer)
        self.idle.clear()
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            self._writers.discard(writer)
            if not self._writers:
                self.idle.set()

    async def end(self) -> None:
        """Close every connection and wait until each is done with."""
        for writer in list(self._writers):
            writer.transport.abort()
        await self.idle.wait()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[1:]
        headers = {
            k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head if line)
        }
        body = await reader.readexactly(int(headers["content-length"]))
        self.headers.append(headers)
        self.requests.append(json.loads(body))
        reply = self.reply_to(self.requests[-1])
        fields = {**reply.headers, "transfer-encoding": "chunked"}
        lines = [f"HTTP/1.1 {reply.status} X", *(f"{k}: {v}" for k, v in fields.items())]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        for chunk in reply.chunks:
            writer.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            await writer.drain()
        if reply.held is not None:
            await reply.held.wait()
        if reply.cut:
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


@asynccontextmanager
async def serving(*replies: Reply) -> AsyncIterator[ChatServer]:
    """Run a server with these replies on a free port."""
    async with running(ChatServer(replies)) as chat:
        yield chat


@asynccontextmanager
async def running(chat: ServerT) -> AsyncIterator[ServerT]:
    """Run a server on a free port."""
    server = await asyncio.start_server(chat.handle, "127.0.0.1", 0)
    async with server:
        chat.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        try:
            yield chat
        finally:
            await chat.end()
