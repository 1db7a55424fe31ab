"""A well-behaved server, made with the MCP library: `notes.py [LOG]`."""

from __future__ import annotations

import asyncio
import base64
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from pydantic import BaseModel, Field
from starlette.applications import Starlette
from starlette.routing import Mount

PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
        "0000000d4944415478da63f8cfc0f01f00050001ff56c7b4d50000000049454e44ae426082"
    )
).decode()


class Point(BaseModel):
    """A place."""

    x: int
    y: int


def make_server(log: Path | None = None) -> MCPServer[Any]:
    """Return the server.

    Args:
        log: A file that gets a line for each message, and for each call that was cancelled.
    """

    def note(line: str) -> None:
        if log is not None:
            with log.open("a") as file:
                file.write(f"{line}\n")

    async def note_method(ctx: Any, call_next: Any) -> Any:
        note(ctx.method)
        return await call_next(ctx)

    async def wait(seconds: float) -> str:
        """Wait."""
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            note("cancelled")
            raise
        return f"waited {seconds}"

    server = MCPServer("notes", log_level="ERROR", middleware=[note_method])
    server.add_tool(add, annotations=ToolAnnotations(read_only_hint=True))
    server.add_tool(wipe, annotations=ToolAnnotations(destructive_hint=True))
    for tool in (choose, locate, fail, wait):
        server.add_tool(tool)
    server.add_tool(mixed, structured_output=False)
    add_changing_tools(server)
    return server


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def wipe() -> str:
    """Wipe all notes."""
    return "wiped"


def choose(
    size: Literal["small", "large"],
    count: Annotated[int, Field(ge=1, le=5)],
    where: Point,
    label: str | int | None = None,
) -> str:
    """Choose something."""
    return f"{count} {size} at {where.x},{where.y} {label}"


def locate() -> Point:
    """Return a structured result."""
    return Point(x=1, y=2)


def fail() -> str:
    """Fail."""
    raise ValueError("the disk is full")


def mixed() -> CallToolResult:
    """Return one of everything."""
    return CallToolResult(
        content=[
            TextContent(text="first"),
            TextContent(text="second"),
            ImageContent(data=PIXEL, mime_type="image/png"),
            AudioContent(data="UklGRg==", mime_type="audio/wav"),
            ResourceLink(uri="notes://all", name="all", mime_type="text/plain", size=1234),
            EmbeddedResource(resource=TextResourceContents(uri="notes://1", text="buy milk")),
            EmbeddedResource(
                resource=BlobResourceContents(
                    uri="notes://2", blob="JVBERg==", mime_type="application/pdf"
                )
            ),
        ],
        structured_content={"notes": 2},
    )


def extra() -> str:
    """Be an extra."""
    return "extra"


def add_changing_tools(server: MCPServer[Any]) -> None:
    """Add tools that change what the server offers."""

    async def tell(ctx: Context[Any, Any]) -> None:
        await ctx.notify_tools_changed()  # to those who subscribed
        await ctx.session.send_tool_list_changed()  # to a client of the older protocol

    async def grow(ctx: Context[Any, Any]) -> str:
        """Offer another tool."""
        server.add_tool(extra)
        await tell(ctx)
        return "grown"

    server.add_tool(grow)


def make_app(log: Path | None = None) -> Starlette:
    """Return one application with all ways over HTTP.

    `/mcp` is streamable HTTP as it is, `/old/mcp` the same as older servers speak it, and `/sse`
    server-sent events. Each is a server of its own.
    """
    modern, older, events = make_server(log), make_server(log), make_server(log)
    streamable, legacy = modern.streamable_http_app(), older.streamable_http_app()

    async def refuse_discovery(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        if headers.get(b"mcp-method") == b"server/discover":
            await send({"type": "http.response.start", "status": 404, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await legacy(scope, receive, send)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with modern.session_manager.run(), older.session_manager.run():
            yield

    return Starlette(
        routes=[
            Mount("/old", app=refuse_discovery),
            Mount("/events", app=events.sse_app()),
            Mount("/", app=streamable),
        ],
        lifespan=lifespan,
    )


def serve(port: int, log: Path | None = None) -> None:
    """Serve over HTTP, at a port that somebody else keeps free for it."""
    config = uvicorn.Config(make_app(log), log_level="critical", ws="none")
    uvicorn.Server(config).run(sockets=[shared_port(port)])


def shared_port(port: int = 0) -> socket.socket:
    """Return a socket at a port that only those can use who share it."""
    shared = socket.socket()
    shared.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    shared.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    shared.bind(("127.0.0.1", port))
    return shared


def main() -> None:
    """Serve over standard input and output."""
    log = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    anyio.run(make_server(log).run_stdio_async)


if __name__ == "__main__":
    main()
