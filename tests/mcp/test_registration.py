"""Seed 000, 1.6 and 5.2, "Wire In an MCP Server": servers that are registered with a manager."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import StdioServerParameters
from pydantic import ValidationError

from agentscope_like.exception import ConfigurationError
from agentscope_like.mcp import (
    HttpMCPConfig,
    MCPConnectionError,
    SseServerParameters,
    StdioMCPConfig,
    StreamableHttpServerParameters,
)
from agentscope_like.mcp.parameters import ServerParameters
from agentscope_like.message import ToolResultState
from agentscope_like.permission import PermissionContext, PermissionMode
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolManager, ToolProxy
from tests.agent.kit import text_of
from tests.mcp.kit import SERVERS, Rogue, Web, free_port
from tests.mcp.kit import tool as definition

MakeRogue = Callable[..., Rogue]


def anything() -> AgentState:
    """Return a state in which every call may run."""
    return AgentState(permission_context=PermissionContext(mode=PermissionMode.BYPASS))


async def shown(manager: ToolManager | ToolProxy) -> list[str]:
    """Return the names that a model is told of."""
    return [one["function"]["name"] for one in await manager.get_tool_schemas()]


def library_parameters(config: StdioMCPConfig, **given: Any) -> StdioServerParameters:
    """Return the configuration as the MCP library has it."""
    return StdioServerParameters(command=config.command, args=config.args or [], **given)


async def test_sage_t_28_a_program_is_registered_with_the_library_s_parameters(
    rogue: MakeRogue,
) -> None:
    """`mcp.StdioServerParameters` will do: the program's tools are offered, and run."""
    server = rogue(definition("echo"))
    async with ToolManager(modules=[]) as manager:
        manager.register_mcp_server(name="my_mcp", params=library_parameters(server.config))
        assert await shown(manager) == ["mcp__my_mcp__echo"]
        result = await manager.run_tool("mcp__my_mcp__echo", {"text": "hi"}, anything())
    assert text_of(result) == 'echo {"text": "hi"}'


async def test_sage_t_28_what_the_program_needs_reaches_it(tmp_path: Path) -> None:
    """Directory and variables of the parameters are those of the program."""
    program = "import os; open('seen', 'w').write(os.environ['WORD'])"
    params = StdioServerParameters(
        command=sys.executable, args=["-c", program], env={"WORD": "x1"}, cwd=tmp_path
    )
    async with ToolManager(modules=[]) as manager:
        client = manager.register_mcp_server("odd", params)
        with pytest.raises(MCPConnectionError):
            await client.connect()
    assert (tmp_path / "seen").read_text() == "x1"


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        pytest.param(SseServerParameters, "/events/sse", id="test_sage_t_29_sse"),
        pytest.param(StreamableHttpServerParameters, "/mcp", id="test_sage_t_30_streamable_http"),
    ],
)
async def test_sage_t_29_and_30_servers_over_http(
    web: Web, kind: type[HttpMCPConfig], path: str
) -> None:
    """Both kinds of parameters are an address; the tools behind it are offered, and run."""
    async with ToolManager(modules=[]) as manager:
        manager.register_mcp_server(name="notes", params=kind(url=web.url(path)))
        assert "mcp__notes__add" in await shown(manager)
        result = await manager.run_tool("mcp__notes__add", {"a": 1, "b": 2}, anything())
    assert text_of(result) == "3"


@pytest.mark.parametrize("path", ["/mcp", "/sse", "/messages", "/"])
def test_sage_t_29_and_30_the_class_says_how_messages_travel(path: str) -> None:
    """Whatever the path of the address is, the parameters' class counts."""
    url = f"http://localhost{path}"
    assert SseServerParameters(url=url).transport == "sse"
    assert StreamableHttpServerParameters(url=url).transport == "streamable_http"


async def test_sage_t_31_and_07_a_server_s_tools_are_like_any_other(rogue: MakeRogue) -> None:
    """Functions and tools of servers are in one list, of one form, and called by name alike."""

    def echo(text: str) -> str:
        """Say it again."""
        return f"here {text}"

    server = rogue(definition("echo"))
    async with ToolManager([echo], modules=[]) as manager:
        manager.register_mcp_server("far", server.config)
        schemas = {one["function"]["name"]: one for one in await manager.get_tool_schemas()}
        assert list(schemas) == ["echo", "mcp__far__echo"]
        for name, schema in schemas.items():
            spec = manager.get_tool_spec(name)
            assert spec is not None
            assert spec.to_openai() == schema
            assert schema["function"]["parameters"]["properties"]["text"] == {"type": "string"}
        answers = [
            text_of(await manager.run_tool(name, {"text": "hi"}, anything())) for name in schemas
        ]
        assert answers == ["here hi", 'echo {"text": "hi"}']
        proxy = ToolProxy([manager], ["mcp__far__echo"])
        assert await shown(proxy) == ["mcp__far__echo"]


async def test_sage_t_31_a_server_cannot_take_the_place_of_a_tool(rogue: MakeRogue) -> None:
    """A server that offers a name that is taken, even with the whole prefix, replaces nothing."""

    def mcp__far__echo(text: str) -> str:
        """Say it again."""
        return f"here {text}"

    async with ToolManager([mcp__far__echo], modules=[]) as manager:
        manager.register_mcp_server("far", rogue(definition("echo")).config)
        await manager.refresh()
        result = await manager.run_tool("mcp__far__echo", {"text": "hi"}, anything())
    assert text_of(result) == "here hi"


async def test_sage_t_32_a_connection_is_made_on_use_and_ended_with_the_manager(
    rogue: MakeRogue,
) -> None:
    """Registering starts nothing; the first look does, once; leaving the manager ends it."""
    server = rogue(definition("echo"))
    async with ToolManager(modules=[]) as manager:
        client = manager.register_mcp_server("far", server.config)
        assert server.log == []
        assert manager.list_all_tools_name() == []
        for _ in range(3):
            await manager.refresh()
        assert client.is_connected
        assert manager.list_all_tools_name() == ["mcp__far__echo"]
        assert server.log.count("started") == 1
    assert not client.is_connected


async def test_sage_t_32_a_server_that_is_away_is_left_out_and_tried_again(
    rogue: MakeRogue, caplog: pytest.LogCaptureFixture
) -> None:
    """Other tools work on; the log says why, once; the next reply sees the server come back."""

    def near() -> str:
        """Say something."""
        return "near"

    server = rogue(definition("echo"), refuse=True)
    async with ToolManager([near], modules=[]) as manager:
        manager.register_mcp_server("far", server.config)
        with caplog.at_level(logging.WARNING):
            for _ in range(2):
                await manager.refresh()
        assert await shown(manager) == ["near"]
        assert text_of(await manager.run_tool("near", {}, anything())) == "near"
        assert [record.message.count("cannot be reached") for record in caplog.records] == [1]
        server.set(refuse=False)
        await manager.refresh()
        assert await shown(manager) == ["near", "mcp__far__echo"]


async def test_sage_t_32_a_call_after_the_end_is_an_answer(rogue: MakeRogue) -> None:
    """A manager that was closed leaves no program, and its servers' tools do not run."""
    server = rogue(definition("echo"))
    manager = ToolManager(modules=[])
    manager.register_mcp_server("far", server.config)
    await manager.refresh()
    await manager.close()
    await manager.close()
    result = await manager.run_tool("mcp__far__echo", {}, anything())
    assert result.state is ToolResultState.ERROR
    assert "far" in text_of(result)
    assert server.log.count("started") == 1


async def test_sage_t_34_all_kinds_of_parameters_are_taken(rogue: MakeRogue) -> None:
    """By keywords as by position, Sage's classes, this package's and the library's."""
    manager = ToolManager(modules=[])
    url = f"http://127.0.0.1:{free_port()}/mcp"
    config = rogue(definition("echo")).config
    given: list[ServerParameters] = [
        config,
        library_parameters(config),
        HttpMCPConfig(url=url),
        SseServerParameters(url=url),
        StreamableHttpServerParameters(url=url, headers={"Authorization": "Bearer x"}),
    ]
    for number, params in enumerate(given):
        client = manager.register_mcp_server(name=f"server{number}", params=params)
        assert (client.name, client.is_connected) == (f"server{number}", False)
    await manager.close()


def test_sage_t_34_what_cannot_work_is_refused_at_once(rogue: MakeRogue) -> None:
    """Nothing is skipped in silence: neither a dictionary, nor a name that is taken or no name."""
    manager = ToolManager(modules=[])
    config = rogue(definition("echo")).config
    manager.register_mcp_server("far", config)
    with pytest.raises(ConfigurationError, match="cannot be told apart"):
        manager.register_mcp_server("far", config)
    with pytest.raises(ConfigurationError, match="does not say where an MCP server is"):
        manager.register_mcp_server("dict", {"command": "x", "disabled": True})  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="speaks UTF-8, not 'latin-1'"):
        manager.register_mcp_server("old", library_parameters(config, encoding="latin-1"))
    with pytest.raises(ValidationError, match="becomes a part of tool names"):
        manager.register_mcp_server("not a name", config)


def test_sage_t_35_the_parameters_are_importable_beside_the_tools() -> None:
    """The classes stand where the manager does, and where the servers do."""
    from agentscope_like import mcp, tool

    assert tool.SseServerParameters is mcp.SseServerParameters
    assert tool.StreamableHttpServerParameters is mcp.StreamableHttpServerParameters


def test_a_secret_in_the_parameters_is_not_shown() -> None:
    """What a server is sent with every request, or gets as a variable, is in no text of them."""
    params = StreamableHttpServerParameters(
        url="http://localhost/mcp", headers={"Authorization": "Bearer hunter2"}
    )
    program = StdioMCPConfig(command=str(SERVERS), env={"KEY": "hunter2"})
    assert "hunter2" not in f"{params!r} {program!r}"
