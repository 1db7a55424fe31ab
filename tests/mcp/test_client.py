"""Clients: what they are given, and what they list."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from agentscope_like.exception import ConfigurationError
from agentscope_like.mcp import HttpMCPConfig, MCPClient, MCPConnectionError, StdioMCPConfig
from agentscope_like.tool import ToolSource
from tests.mcp.kit import OBJECT, Rogue, descendants, said_in, tool

MakeRogue = Callable[..., Rogue]


def test_importing_the_package_loads_no_mcp_library() -> None:
    """Who imports tools or clients does not wait for the MCP library, nor for a web server's."""
    code = (
        "import sys, agentscope_like.tool, agentscope_like.mcp as m; agentscope_like.tool.MCPTool;"
        "m.MCPClient(name='a', is_stateful=True, mcp_config=m.StdioMCPConfig(command='x'));"
        "print([n for n in ('mcp', 'mcp_types', 'httpx2', 'starlette') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


# What a client is given


@pytest.mark.parametrize(
    ("url", "transport"),
    [
        ("http://h/mcp", "streamable_http"),
        ("https://h/sse", "sse"),
        ("https://h/a/sse/?key=1", "sse"),
        ("https://h/messages/", "sse"),
        ("https://h/sse/mcp", "streamable_http"),
    ],
)
def test_the_path_tells_the_transport(url: str, transport: str) -> None:
    """A path that ends in /sse or /messages means server-sent events."""
    assert HttpMCPConfig(url=url).transport == transport


def make(**given: Any) -> MCPClient:
    """Make a client of what is given and of defaults."""
    config = StdioMCPConfig(command="server")
    return MCPClient(**{"name": "a", "is_stateful": True, "mcp_config": config, **given})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": "a b"}, "letters, digits"),
        ({"name": ""}, "letters, digits"),
        ({"is_stateful": False}, "is_stateful=True"),
        ({"enable_tool": ["a"]}, "did you mean 'enable_tools'"),
        ({"execution_timeout": 0}, "greater than 0"),
        ({"mcp_config": {"type": "stdio_mcp", "comand": "x"}}, "did you mean 'command'"),
        ({"mcp_config": {"type": "http_mcp", "url": "ftp://h"}}, "not the address of a server"),
        ({"mcp_config": {"type": "http_mcp", "url": "http://"}}, "not the address of a server"),
    ],
)
def test_what_cannot_work_is_refused(given: dict[str, Any], said: str) -> None:
    """A mistake in the configuration is told at once, with the nearest known name."""
    with pytest.raises(ValidationError, match=said):
        make(**given)


def test_a_configuration_can_be_stored() -> None:
    """A client's fields survive JSON; two clients are never the same one."""
    config = HttpMCPConfig(url="https://h/mcp", headers={"Authorization": "Bearer s3cret"})
    client = make(is_stateful=False, mcp_config=config, disable_tools=["x"], lock_file="mcp.lock")
    again = MCPClient.model_validate_json(client.model_dump_json())
    assert again.mcp_config == config
    assert again.lock_file == Path("mcp.lock")
    assert again != client
    assert len({again, client}) == 2


def test_secrets_are_not_printed() -> None:
    """The text of a client shows neither headers nor environment variables."""
    http = HttpMCPConfig(url="https://h/mcp", headers={"Authorization": "Bearer s3cret"})
    stdio = StdioMCPConfig(command="x", env={"TOKEN": "s3cret"})
    assert "s3cret" not in repr([http, stdio, make(mcp_config=stdio)])


# What it lists


async def test_a_client_is_a_source_of_tools(rogue: MakeRogue) -> None:
    """A client is what toolkits take; its tools are namespaced and keep the server's order."""
    async with rogue(tool("b"), tool("a")).client() as client:
        assert isinstance(client, ToolSource)
        tools = await client.list_tools()
    assert [one.name for one in tools] == ["mcp__rogue__b", "mcp__rogue__a"]
    assert [one.description for one in tools] == ["Does b.", "Does a."]
    assert {(one.is_mcp, one.mcp_name, one.is_concurrency_safe) for one in tools} == {
        (True, "rogue", False)
    }


async def test_a_client_must_be_connected(rogue: MakeRogue) -> None:
    """Listing before connecting, or after closing, is the program's mistake; closing is not."""
    client = rogue(tool("a")).client()
    await client.close()
    for listing in (client.list_tools, client.list_raw_tools):
        with pytest.raises(MCPConnectionError, match="connect"):
            await listing()
    await client.connect()
    await client.connect()
    assert client.is_connected
    await client.close()
    await client.close()
    assert not client.is_connected
    with pytest.raises(MCPConnectionError):
        await client.list_tools()
    await client.connect()
    assert len(await client.list_tools()) == 1
    await client.close()


async def test_tools_are_listed_once(rogue: MakeRogue) -> None:
    """Many looks at the tools, and refreshes without news, ask the server once."""
    server = rogue(tool("a"))
    async with server.client() as client:
        version = client.version
        for _ in range(7):
            await client.refresh()
            await client.list_tools()
        assert client.version == version
    assert server.log.count("tools/list") == 1


async def test_all_pages_are_listed(rogue: MakeRogue) -> None:
    """A server that lists its tools page by page is asked for all of them."""
    names = [f"t{number}" for number in range(7)]
    async with rogue(*map(tool, names), page=3).client() as client:
        raw = await client.list_raw_tools()
    assert [one.name for one in raw] == names


async def test_a_change_is_seen_at_the_next_refresh(rogue: MakeRogue) -> None:
    """After `list_changed` one refresh lists anew; tools that stay the same are the same."""
    server = rogue(tool("a"), tool("announce"))
    async with server.client() as client:
        version, before = client.version, await client.list_tools()
        server.set(tools=[tool("a"), tool("announce"), tool("b")])
        await client.refresh()
        assert await client.list_tools() == before
        await (await client.get_tool("announce")).call()
        await client.refresh()
        after = await client.list_tools()
        await client.refresh()
    assert after[:2] == before
    assert after[2].name == "mcp__rogue__b"
    assert client.version > version
    assert server.log.count("tools/list") == 2


async def test_a_chosen_few_are_offered(rogue: MakeRogue) -> None:
    """`enable_tools` offers only these, and `disable_tools` none of these."""
    server = rogue(tool("a"), tool("b"), tool("c"))
    async with server.client(enable_tools=["a", "b"], disable_tools=["b"]) as client:
        assert [one.name for one in await client.list_tools()] == ["mcp__rogue__a"]
        assert len(await client.list_raw_tools()) == 3
        with pytest.raises(ConfigurationError, match="no tool 'b'"):
            await client.get_tool("b")


@pytest.mark.parametrize("option", ["enable_tools", "disable_tools"])
async def test_an_unknown_name_is_refused(rogue: MakeRogue, option: Any) -> None:
    """A typo that would offer what was to be left out keeps the client from connecting."""
    client = rogue(tool("delete"), tool("read")).client(**{option: ["delte"]})
    with pytest.raises(ConfigurationError, match="did you mean 'delete'"):
        await client.connect()
    assert not client.is_connected


async def test_a_tool_is_found_by_either_name(rogue: MakeRogue) -> None:
    """`get_tool` takes the server's name and the model's, and offers the nearest."""
    async with rogue(tool("read file"), tool("b")).client() as client:
        found = await client.get_tool("read file")
        assert await client.get_tool(found.name) is found
        with pytest.raises(ConfigurationError, match="did you mean 'mcp__rogue__b'"):
            await client.get_tool("mcp__rogue__c")


async def test_a_tool_that_cannot_be_used_is_left_out(
    rogue: MakeRogue, caplog: pytest.LogCaptureFixture
) -> None:
    """A broken schema, or a name given twice, costs that tool only; the log says why."""
    server = rogue(
        tool("a"),
        tool("bad", inputSchema={"type": "object", "properties": {"x": {"type": "strin"}}}),
        tool("remote", inputSchema={**OBJECT, "$ref": "https://evil.example/schema"}),
        tool("a", description="Another."),
        tool("bare", inputSchema={"type": "object"}),
    )
    with caplog.at_level(logging.WARNING):
        async with server.client() as client:
            names = [one.name for one in await client.list_tools()]
    assert names == ["mcp__rogue__a", "mcp__rogue__bare"]
    assert len(caplog.messages) == 3


async def test_a_call_carries_arguments_of_any_name(rogue: MakeRogue) -> None:
    """Arguments reach the server as they are, whatever they are called."""
    arguments = {"self": 1, "name": 2, "tool": 3, "_agent_state": 4, "input_kwargs": {"deep": None}}
    async with rogue(tool("echo")).client() as client:
        found = await client.get_tool("echo")
        chunks = [chunk async for chunk in found.stream(arguments)]
    assert said_in(chunks[0]).startswith('echo {"_agent_state": 4,')


async def test_the_environment_is_not_passed_on(
    rogue: MakeRogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server's program gets a few harmless variables and those of its configuration."""
    monkeypatch.setenv("MY_API_KEY", "s3cret")
    server = rogue(tool("a"))
    config = server.config.model_copy(update={"env": {"GIVEN": "yes"}})
    async with MCPClient(name="rogue", is_stateful=True, mcp_config=config):
        found = environments(server)
    assert len(found) == 1
    assert b"GIVEN=yes" in found[0]
    assert not any(variable.startswith(b"MY_API_KEY") for variable in found[0])


def environments(server: Rogue) -> list[set[bytes]]:
    """Return the environment of each process of the server."""
    processes = descendants((server.config.args or [])[-1])
    return [set(Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")) for pid in processes]
