"""A server that asks and reports while it works, made with the MCP library.

`asking.py` speaks over stdio, `asking.py PORT` HTTP.
"""

from __future__ import annotations

import asyncio
import base64
import sys
from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.resolve import Elicit, ElicitationResult, Resolve
from pydantic import BaseModel

server: MCPServer[Any] = MCPServer("asking", log_level="ERROR")
PICTURE = b"\x89PNG picture"


class Name(BaseModel):
    """What is asked."""

    name: str


def ask_name() -> Elicit[Name]:
    """Ask for a name."""
    return Elicit("What is your name?", Name)


@server.tool()
async def greet(answer: Annotated[ElicitationResult[Name], Resolve(ask_name)]) -> str:
    """Ask for a name, and greet."""
    return f"hello {answer.data.name}" if answer.action == "accept" else answer.action


@server.tool()
async def count(seconds: float, steps: int, ctx: Context[Any, Any]) -> str:
    """Report progress in steps."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps, f"step {step + 1}")
        await asyncio.sleep(seconds / steps)
    return "counted"


@server.tool()
def large(size: int) -> str:
    """Return so many characters."""
    return "x" * size


@server.tool()
def picture() -> Image:
    """Return a picture."""
    return Image(data=PICTURE, format="png")


@server.tool()
def pictures() -> list[dict[str, str]]:
    """Return a picture, structured too."""
    data = base64.b64encode(PICTURE).decode()
    return [{"type": "image", "data": data, "mimeType": "image/png"}]


@server.resource("notes://all")
def notes() -> str:
    """All notes."""
    return "buy milk"


@server.prompt()
def review(what: str) -> str:
    """Review something."""
    return f"Please review {what}."


def serve(port: int) -> None:
    """Serve over HTTP."""
    import uvicorn

    app = server.streamable_http_app()
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="critical", ws="none")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        serve(int(sys.argv[1]))
    else:
        anyio.run(server.run_stdio_async)
