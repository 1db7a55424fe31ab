"""A web server on this machine, and toolkits that may reach it under other names."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from agentscope_like.tool import Toolkit, WebFetch

HERE = "127.0.0.1"


class Site:
    """What the server answers, by host and path, and what it was asked."""

    def __init__(self) -> None:
        self.port = 0
        self.pages: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.resolved: list[str] = []
        self.addresses: dict[str, list[str]] = {}

    def put(
        self,
        place: str,
        body: str | bytes,
        kind: str = "text/html",
        *,
        status: str = "200 OK",
        headers: Sequence[str] = (),
    ) -> str:
        """Answer requests for a place (`docs.test/page`) so; return its address."""
        data = body.encode() if isinstance(body, str) else body
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(data)}", *headers]
        if kind:
            lines.append(f"Content-Type: {kind}")
        self.pages[place] = "\r\n".join([*lines, "", ""]).encode() + data
        return self.url(place)

    def redirect(self, place: str, location: str, status: str = "302 Found") -> str:
        """Redirect requests for a place; return its address."""
        return self.put(place, "", "", status=status, headers=[f"Location: {location}"])

    def url(self, place: str) -> str:
        """Return the address of a place on this server."""
        host, slash, path = place.partition("/")
        return f"http://{host}:{self.port}{slash}{path}"

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Resolve every host to this machine, unless the test says otherwise."""
        self.resolved.append(host)
        await asyncio.sleep(0)
        return self.addresses.get(host, [HERE])

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        head = (await reader.read(65536)).decode(errors="replace")
        if not head.startswith("GET "):
            writer.close()
            return
        path = head.split(" ")[1]
        host = next(line for line in head.split("\r\n") if line.lower().startswith("host:"))
        place = host.split(":")[1].strip() + path
        self.requests.append(place)
        answer = self.pages.get(place, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        writer.write(answer)
        if not answer:
            await reader.read()  # until the client gives up
        writer.close()

    def toolkit(self, *private: str, **options: Any) -> Toolkit:
        """Return a toolkit whose WebFetch may connect to this machine under these names."""
        return Toolkit([WebFetch(private_hosts=private, resolver=self.resolve, **options)])


@asynccontextmanager
async def serving() -> AsyncIterator[Site]:
    """Serve a site on this machine."""
    site = Site()
    server = await asyncio.start_server(site.answer, HERE, 0)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()
