"""An agent whose configuration names its MCP servers."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentscope_like import bridge
from agentscope_like.agent import Agent
from agentscope_like.exception import ConfigurationError
from agentscope_like.mcp import MCPServers
from agentscope_like.mcp.bundled import bundled_server
from agentscope_like.message import TextBlock, ToolResponse, ToolResultBlock, UserMsg
from agentscope_like.permission import PermissionContext, PermissionDecision
from agentscope_like.tool import CallRequest, Toolkit
from agentscope_like.typed import observation_of
from agentscope_like.typed.mcp import MCPToolDefinition, create_mcp_tools
from tests.agent.kit import DictatedModel
from tests.mcp.kit import Rogue, descendants, tool
from tests.mcp.test_configured import SEED
from tests.tool.kit import call_of
from tests.typed.kit import state_in, touch_tool
from tests.typed.mcp.test_tools import config_of

MakeRogue = Callable[..., Rogue]


@pytest.fixture(autouse=True)
def no_server_is_left(tmp_path: Path) -> Iterator[None]:
    """Fail a test that leaves the process of a server behind."""
    yield
    assert descendants(str(tmp_path / "settings.json")) == []


def agent_of(
    config: Any, *calls: tuple[str, str], toolkit: Toolkit | None = None, **options: Any
) -> Agent:
    """Return an agent whose model makes these calls, one in each turn, and then is done."""
    turns = [[call_of(name, text, f"c{n}")] for n, (name, text) in enumerate(calls)]
    model = DictatedModel(*turns, [TextBlock(text="done")])
    state = state_in("bypass")
    return Agent("robot", "Help.", model, toolkit, state=state, mcp_config=config, **options)


def results_of(agent: Agent) -> list[tuple[str, str]]:
    """Return the state and the text of each result in the agent's context."""
    blocks = (block for message in agent.state.context for block in message.content)
    return [
        (block.state.value, "".join(getattr(part, "text", "") for part in block.output))
        for block in blocks
        if isinstance(block, ToolResultBlock)
    ]


def test_the_seed_s_agent_is_made() -> None:
    """The configuration of seed 004 is taken as it is; no server is started for that."""
    agent = agent_of(SEED)
    assert agent.mcp_servers is not None
    assert [client.name for client in agent.mcp_servers] == ["fetch", "filesystem"]
    assert not any(client.is_connected for client in agent.mcp_servers)


async def test_an_agent_uses_the_tools_of_its_servers() -> None:
    """A server that comes along: its tools are seen by the model, run, and end with the agent."""
    program = bundled_server("time")
    config = {"mcpServers": {"time": {"command": program.command, "args": program.args}}}
    call = '{"time": "2026-03-29T02:30", "to_timezone": "Asia/Tokyo"}'
    agent = agent_of(config, ("mcp__time__convert_time", call))
    async with agent:
        answer = await agent.reply(UserMsg("user", "go"))
        found = await agent.toolkit.get_tool("mcp__time__convert_time")
        assert isinstance(found, MCPToolDefinition)
    assert answer.get_text_content() == "done"
    assert results_of(agent) == [("success", "2026-03-29T11:30:00+09:00 (Sunday)")]
    assert isinstance(agent.model, DictatedModel)
    assert "mcp__time__convert_time" in agent.model.shown_tools[0]
    assert agent.mcp_servers is not None
    assert not any(client.is_connected for client in agent.mcp_servers)


async def test_servers_are_connected_to_at_the_start(rogue: MakeRogue) -> None:
    """`async with` connects; without it the first reply does. The tools are listed once."""
    server = rogue(tool("echo"))
    async with agent_of(config_of(server)):
        assert server.log.count("tools/list") == 1
    later = agent_of(config_of(server), ("mcp__rogue__echo", "{}"), ("mcp__rogue__echo", "{}"))
    try:
        assert server.log.count("started") == 1
        await later.reply(UserMsg("user", "go"))
    finally:
        await later.close()
    assert results_of(later) == [("success", "echo {}")] * 2
    assert server.log.count("tools/list") == 2


async def test_the_given_toolkit_is_not_changed(rogue: MakeRogue) -> None:
    """Its tools, also later ones, and its layers hold for the agent; others see no server."""
    seen: list[str] = []

    async def watch(request: CallRequest, go_on: Any) -> PermissionDecision:
        seen.append(request.tool.name)
        decision: PermissionDecision = await go_on(request)
        return decision

    toolkit = Toolkit(decision_layers=[watch])
    config = config_of(rogue(tool("echo")))
    agent = agent_of(config, ("touch", "{}"), ("mcp__rogue__echo", "{}"), toolkit=toolkit)
    await toolkit.add_tool(touch_tool()[0])
    async with agent:
        await agent.reply(UserMsg("user", "go"))
        assert [schema["function"]["name"] for schema in await toolkit.get_tool_schemas()] == [
            "touch"
        ]
    assert results_of(agent) == [("success", "run 1"), ("success", "echo {}")]
    assert seen == ["touch", "mcp__rogue__echo"]


async def test_an_own_tool_is_not_replaced_by_a_server_s(rogue: MakeRogue) -> None:
    """Of two tools of one name the toolkit's own runs."""
    own, executor = touch_tool(name="mcp__rogue__echo")
    config = config_of(rogue(tool("echo", inputSchema={"type": "object"})))
    agent = agent_of(config, ("mcp__rogue__echo", "{}"), toolkit=Toolkit([own]))
    async with agent:
        await agent.reply(UserMsg("user", "go"))
    assert results_of(agent) == [("success", "run 1")]
    assert len(executor.actions) == 1


async def test_a_server_that_cannot_be_reached_stops_no_reply(rogue: MakeRogue) -> None:
    """The other tools work, the model is told of the server, and the next reply tries again."""
    server = rogue(tool("echo"))
    server.set(refuse=True)
    calls = (("mcp__rogue__echo", "{}"), ("touch", "{}"))
    agent = agent_of(config_of(server), *calls, toolkit=Toolkit([touch_tool()[0]]))
    async with agent:
        await agent.reply(UserMsg("user", "go"))
        first = results_of(agent)
        assert [state for state, _ in first] == ["error", "success"]
        assert "The server 'rogue' offers no tools for now" in first[0][1]
        server.set(refuse=False)
        assert isinstance(agent.model, DictatedModel)
        agent.model.turns = [[call_of("mcp__rogue__echo", "{}", "c9")], [TextBlock(text="done")]]
        await agent.reply(UserMsg("user", "again"))
    assert results_of(agent)[-1] == ("success", "echo {}")


async def test_a_rule_for_a_server_that_is_away_is_no_error(rogue: MakeRogue) -> None:
    """A rule names a tool that the server may list later; it holds then."""
    server = rogue(tool("echo"))
    server.set(refuse=True)
    agent = agent_of(config_of(server), ("mcp__rogue__echo", "{}"))
    agent.state.permission_context = PermissionContext.from_rules(deny=["mcp__rogue__echo"])
    async with agent:
        server.set(refuse=False)
        await agent.reply(UserMsg("user", "go"))
    ((state, said),) = results_of(agent)
    assert (state, "Denied" in said) == ("denied", True)


async def test_variables_reach_a_server_only_if_they_are_named(
    rogue: MakeRogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent takes the list of names; without it the configuration is refused."""
    monkeypatch.setenv("TESTS_WORD", "hello")
    code = "import os, sys; print(os.environ.get('WORD'), file=open(sys.argv[1], 'w'))"
    server = rogue()
    told = Path(server.config.args[-1]).with_name("told") if server.config.args else Path()
    one = {"command": sys.executable, "args": ["-c", code, str(told)]}
    config = {"mcpServers": {"one": {**one, "env": {"WORD": "${TESTS_WORD}"}}}}
    with pytest.raises(ConfigurationError, match="TESTS_WORD, which it was not given"):
        agent_of(config)
    async with agent_of(config, mcp_variables=["TESTS_WORD"]):
        assert told.read_text() == "hello\n"


async def test_servers_may_be_given_as_such(rogue: MakeRogue, tmp_path: Path) -> None:
    """`MCPServers` says more than the configuration: here that definitions are approved."""
    servers = MCPServers(config_of(rogue(tool("echo"))), lock_file=tmp_path / "mcp.lock")
    agent = agent_of(servers)
    assert agent.mcp_servers is servers
    async with agent:
        (client,) = servers
        assert [change.tool for change in client.unapproved] == ["echo"]
        assert await agent.toolkit.get_tool_schemas() == []
        await client.approve(client.unapproved)
        assert len(await agent.toolkit.get_tool_schemas()) == 1


@pytest.mark.parametrize(
    ("config", "variables", "told"),
    [
        ({"mcpServers": {"one": {"comand": "x"}}}, (), "did you mean 'command'"),
        ({"mcpServers": {"a": {"command": "x"}, "a__b": {"command": "x"}}}, (), "told apart"),
        (None, ("HOME",), "`mcp_variables` are for `mcp_config`"),
        (MCPServers({"mcpServers": {}}), ("HOME",), r"MCPServers\(config, variables=\['HOME'\]\)"),
    ],
)
def test_a_configuration_that_cannot_work_is_refused(
    config: Any, variables: tuple[str, ...], told: str
) -> None:
    """The agent is not made."""
    with pytest.raises(ConfigurationError, match=told):
        agent_of(config, mcp_variables=variables)


def test_a_server_has_another_name_than_a_source_of_the_toolkit() -> None:
    """Tools of two sources must be told apart by their names."""
    toolkit = Toolkit(mcps=list(MCPServers({"mcpServers": {"one": {"command": "x"}}})))
    with pytest.raises(ConfigurationError, match="two tool sources whose tools are named"):
        agent_of({"mcpServers": {"one": {"command": "y"}}}, toolkit=toolkit)


def test_blocking_code_uses_the_servers_of_an_agent(rogue: MakeRogue) -> None:
    """`run` connects and calls on the background loop; an event loop may go on with it."""
    server = rogue(tool("echo", inputSchema={"type": "object"}))
    agent = agent_of(config_of(server), *[("mcp__rogue__echo", "{}")] * 2)
    assert isinstance(agent.model, DictatedModel)
    agent.model.turns.insert(1, [TextBlock(text="once")])
    assert agent.run(UserMsg("user", "go")).get_text_content() == "once"
    answer = asyncio.run(agent.reply(UserMsg("user", "again")))
    assert answer.get_text_content() == "done"
    assert results_of(agent) == [("success", "echo {}")] * 2
    assert server.log.count("started") == 1
    bridge.run(agent.close())


def test_blocking_code_makes_and_calls_tools_of_servers(rogue: MakeRogue) -> None:
    """The tools of a configuration are made, called and closed without an event loop."""
    server = rogue(tool("echo", inputSchema={"type": "object"}))
    toolkit = Toolkit(bridge.run(create_mcp_tools(config_of(server))))
    call = call_of("mcp__rogue__echo", '{"text": "hi"}', "c1")
    response = toolkit.call(call, state_in("bypass"))
    assert isinstance(response, ToolResponse)
    assert observation_of(response).text == 'echo {"text": "hi"}'
    bridge.run(toolkit.close())
