"""Real servers over every transport, of the newer protocol and of the older one."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Tool

from agentscope_like.mcp import HttpMCPConfig, MCPClient, StdioMCPConfig
from agentscope_like.message import ToolResultState
from agentscope_like.tool import MCPTool
from tests.mcp.kit import SERVERS, Web, said_in, until

STATEFUL = ["/mcp", "/old/mcp", "/events/sse"]
WAYS = [(path, stateful) for path in STATEFUL for stateful in (True, False)]


@asynccontextmanager
async def stdio(log: Path) -> AsyncIterator[MCPClient]:
    """Connect to the notes server as a program."""
    arguments = [str(SERVERS / "notes.py"), str(log)]
    config = StdioMCPConfig(command=sys.executable, args=arguments)
    async with MCPClient(name="notes", is_stateful=True, mcp_config=config) as client:
        yield client


async def works(client: MCPClient) -> None:
    """Check that tools are listed and called."""
    tools = {tool.name: tool for tool in await client.list_tools()}
    added = await tools["mcp__notes__add"].call(a=1, b=2)
    assert said_in(added) == "3"
    mixed = await tools["mcp__notes__mixed"].call()
    kinds = [block.type for block in mixed.content]
    assert kinds == ["text", "data", "data", "text", "data", "text"]
    failed = await tools["mcp__notes__fail"].call()
    assert failed.state is ToolResultState.ERROR
    assert tools["mcp__notes__add"].is_read_only


async def test_stdio(tmp_path: Path) -> None:
    """A program's tools work, change when it says so, and it is told of a call given up."""
    log = tmp_path / "log"
    async with stdio(log) as client:
        await works(client)
        await hears_changes(client)
        call = asyncio.create_task((await client.get_tool("wait")).call(seconds=60))
        await until(lambda: log.read_text().count("tools/call") == 5)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await until(lambda: "cancelled" in log.read_text().splitlines())
        assert client.is_connected
    assert log.read_text().splitlines().count("tools/list") == 2


@pytest.mark.parametrize(("path", "stateful"), WAYS)
async def test_http(web: Web, path: str, stateful: bool) -> None:
    """Each way over HTTP works, with one listing however many calls there are."""
    async with web.client(path, stateful=stateful) as client:
        await works(client)
        assert client.is_connected == stateful
    assert web.listings() == 1


@pytest.mark.parametrize("path", STATEFUL)
async def test_http_hears_of_changes(web: Web, path: str) -> None:
    """A connection that lasts hears that the tools have changed; one refresh lists them anew."""
    async with web.client(path) as client:
        await hears_changes(client)
    assert web.listings() == 2


async def hears_changes(client: MCPClient) -> None:
    """Have the server offer another tool, and check that it is listed."""
    version = client.version
    await (await client.get_tool("grow")).call()
    async with asyncio.timeout(5):
        while client.version == version:
            await asyncio.sleep(0.01)
            await client.refresh()
    assert (await client.list_tools())[-1].name == "mcp__notes__extra"


@pytest.mark.parametrize("path", ["/mcp", "/old/mcp"])
async def test_a_stateless_client_looks_once_for_each_reply(web: Web, path: str) -> None:
    """Each refresh lists the tools once, and sees what changed without being told."""
    async with web.client(path) as other:
        await (await other.get_tool("grow")).call()
    client = web.client(path, stateful=False)
    before = web.listings()
    await client.refresh()
    tools = await client.list_tools()
    await tools[0].call(a=1, b=2)
    await tools[0].call(a=3, b=4)
    assert web.listings() == before + 1
    await client.refresh()
    assert await client.list_tools() == tools
    assert tools[-1].name == "mcp__notes__extra"
    assert web.listings() == before + 2


@pytest.mark.parametrize("path", STATEFUL)
async def test_cancelling_a_call_over_http_tells_the_server(web: Web, path: str) -> None:
    """A call that is given up is cancelled at the server; the connection goes on."""
    async with web.client(path) as client:
        call = asyncio.create_task((await client.get_tool("wait")).call(seconds=60))
        await until(lambda: "tools/call" in web.log.read_text())
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await until(lambda: "cancelled" in web.log.read_text().splitlines())
        added = await (await client.get_tool("add")).call(a=1, b=2)
    assert said_in(added) == "3"


async def test_a_tool_takes_any_transport_or_session(web: Web) -> None:
    """A tool also works by a transport for each call, or by a session of the MCP library."""
    definition = Tool(name="add", input_schema={"type": "object"})
    alone = MCPTool("notes", definition, partial(streamable_http_client, web.url("/mcp")))
    assert said_in(await alone.call(a=1, b=2)) == "3"
    async with Client(web.url("/mcp")) as client:
        assert said_in(await MCPTool("n", definition, session=client).call(a=1, b=2)) == "3"
        by_session = MCPTool("n", definition, session=client.session)
        assert said_in(await by_session.call(a=1, b=2)) == "3"


async def test_headers_are_sent(web: Web) -> None:
    """Each request carries the configured headers."""
    seen: list[str | None] = []

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        seen.extend(line for line in head.splitlines() if line.startswith("authorization"))
        writer.write(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(listen, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        config = HttpMCPConfig(
            url=f"http://127.0.0.1:{port}/mcp", headers={"Authorization": "Bearer abc"}
        )
        client = MCPClient(name="a", is_stateful=True, mcp_config=config)
        with pytest.raises(Exception, match="HTTP status 401") as refused:
            await client.connect()
    assert set(seen) == {"authorization: bearer abc"}
    assert "abc" not in str(refused.value)
