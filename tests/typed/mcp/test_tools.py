"""Tools of real MCP servers as typed tools."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.event import ConfirmResult
from agentscope_like.exception import ConfigurationError, ToolArgumentError
from agentscope_like.mcp import MCPConnectionError, MCPServers
from agentscope_like.message import TextBlock, ToolResponse, ToolResultState
from agentscope_like.permission import RuleError
from agentscope_like.tool import Bash, Toolkit
from agentscope_like.typed import Observation
from agentscope_like.typed.mcp import (
    MCPToolAction,
    MCPToolDefinition,
    MCPToolExecutor,
    MCPToolObservation,
    create_mcp_tools,
)
from tests.mcp.kit import Rogue, Web, descendants, tool
from tests.typed.kit import run, state_in

MakeRogue = Callable[..., Rogue]

STRICT = {
    "type": "object",
    "properties": {
        "size": {"enum": ["small", "large"]},
        "count": {"type": "integer", "maximum": 5},
        "version": {"const": 2},
        "where": {
            "type": "object",
            "properties": {"x": {"type": "number"}},
            "required": ["x"],
            "additionalProperties": False,
        },
        "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}},
    },
    "required": ["size"],
}


def config_of(rogue: Rogue, **given: Any) -> dict[str, Any]:
    """Return the configuration of a rogue server."""
    program = rogue.config
    return {"mcpServers": {"rogue": {"command": program.command, "args": program.args, **given}}}


def said(response: ToolResponse | None) -> str:
    """Return the text of a response."""
    assert response is not None
    return "".join(block.text for block in response.content if isinstance(block, TextBlock))


async def test_a_server_s_tools_are_typed_tools(rogue: MakeRogue, tmp_path: Path) -> None:
    """Each is a definition that a toolkit decides and runs; closing it ends the server."""
    server = rogue(tool("echo"), tool("other", title="Other"))
    tools = await create_mcp_tools(config_of(server))
    assert [one.name for one in tools] == ["mcp__rogue__echo", "mcp__rogue__other"]
    async with Toolkit(tools) as toolkit:
        (echo, _) = tools
        assert isinstance(echo, MCPToolDefinition)
        assert isinstance(echo.executor, MCPToolExecutor)
        assert (echo.action_type, echo.observation_type) == (MCPToolAction, MCPToolObservation)
        call, response = await run(toolkit, "mcp__rogue__echo", '{"text": "hi"}', state_in())
        assert (response, call.state) == (None, "asking")
        state = state_in("default", "allow mcp__rogue__echo")
        _, response = await run(toolkit, "mcp__rogue__echo", '{"text": "hi"}', state)
        assert said(response) == 'echo {"text": "hi"}'
        assert response is not None
        seen = Observation.from_json(response.metadata["observation"])
        assert isinstance(seen, MCPToolObservation)
        assert (seen.text, seen.tool_name) == ('echo {"text": "hi"}', "mcp__rogue__echo")
        assert len(descendants(str(tmp_path / "settings.json"))) == 1
    assert descendants(str(tmp_path / "settings.json")) == []


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({"size": "huge"}, "size"),
        ({"size": "small", "count": 6}, "count"),
        ({"size": "small", "count": "3"}, "count"),
        ({"size": "small", "count": 2.5}, "count"),
        ({"size": "small", "version": 3}, "version"),
        ({"size": "small", "where": {"x": "1"}}, "where.x"),
        ({"size": "small", "where": {"x": 1, "y": 2}}, "where"),
        ({"size": "small", "tags": ["ok", "NO"]}, "tags.1"),
        ({"count": 3}, "size"),
    ],
)
async def test_arguments_are_checked_by_the_whole_schema(
    rogue: MakeRogue, arguments: dict[str, Any], place: str
) -> None:
    """What the server's schema forbids, at any depth, does not reach it; nothing is coerced."""
    server = rogue(tool("strict", inputSchema=STRICT))
    async with Toolkit(await create_mcp_tools(config_of(server))) as toolkit:
        text = json.dumps(arguments)
        _, response = await run(toolkit, "mcp__rogue__strict", text, state_in("bypass"))
        assert response is not None
        assert response.state is ToolResultState.ERROR
        assert place in said(response)
        made = await toolkit.get_tool("mcp__rogue__strict")
        assert isinstance(made, MCPToolDefinition)
        with pytest.raises(ToolArgumentError, match=place):
            made.action_from_arguments(arguments)
        fits = {"size": "small", "count": 5, "version": 2, "where": {"x": 1}, "tags": ["ok"]}
        _, response = await run(toolkit, "mcp__rogue__strict", json.dumps(fits), state_in("bypass"))
    assert said(response) == f"strict {json.dumps(fits, sort_keys=True)}"
    assert server.log.count("tools/call strict") == 1


async def test_an_argument_may_have_any_name(rogue: MakeRogue) -> None:
    """Names that the models have themselves reach the server as they are."""
    names = ["kind", "security_risk", "summary", "data", "arguments", "self", "visualize", "a-b"]
    names += ["model_config", "class", "_private", "0", "content", "copy", "schema"]
    schema = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": names,
    }
    server = rogue(tool("echo", inputSchema=schema))
    arguments = {name: f"the {name}" for name in names}
    async with Toolkit(await create_mcp_tools(config_of(server))) as toolkit:
        text = json.dumps(arguments)
        _, response = await run(toolkit, "mcp__rogue__echo", text, state_in("bypass"))
    assert said(response) == f"echo {json.dumps(arguments, sort_keys=True)}"


async def test_arguments_that_look_like_a_dumped_action_are_arguments(rogue: MakeRogue) -> None:
    """What runs is what was decided, even if the arguments are written like JSON of a model."""
    server = rogue(tool("echo", inputSchema={"type": "object"}))
    tools = await create_mcp_tools(config_of(server))
    async with Toolkit(tools) as toolkit:
        arguments = {"kind": tools[0].arguments_type.kind, "arguments": {"text": "other"}}
        text = json.dumps(arguments)
        _, response = await run(toolkit, "mcp__rogue__echo", text, state_in("bypass"))
    assert said(response) == f"echo {json.dumps(arguments, sort_keys=True)}"


async def test_the_model_is_shown_the_server_s_schema(rogue: MakeRogue) -> None:
    """Nothing of the schema is lost on the way, and no model is made for showing it."""
    server = rogue(tool("strict", inputSchema=STRICT, annotations={"idempotentHint": True}))
    async with Toolkit(await create_mcp_tools(config_of(server))) as toolkit:
        (shown,) = await toolkit.get_tool_schemas()
        assert shown["function"]["parameters"] == STRICT
        made = await toolkit.get_tool("mcp__rogue__strict")
        assert isinstance(made, MCPToolDefinition)
        assert made.to_openai_tool() == shown
        assert "arguments_type" not in vars(made)
        action = made.action_from_arguments({"size": "small"})
        assert action.data == {"size": "small"}
        assert "arguments_type" in vars(made)
        assert made.arguments_type.to_mcp_schema() == STRICT
        told = made.to_mcp_tool()
    assert (told["name"], told["inputSchema"]) == ("mcp__rogue__strict", STRICT)
    assert told["annotations"] == {"idempotentHint": True}


async def test_a_tool_without_a_description_is_offered(rogue: MakeRogue) -> None:
    """A server need not describe its tools."""
    server = rogue({"name": "bare", "inputSchema": {"type": "object"}})
    async with Toolkit(await create_mcp_tools(config_of(server))) as toolkit:
        _, response = await run(toolkit, "mcp__rogue__bare", "{}", state_in("bypass"))
    assert said(response) == "bare {}"


# Decisions


@pytest.mark.parametrize(
    ("hints", "trusted", "runs"),
    [
        ({"readOnlyHint": True}, False, False),
        ({"readOnlyHint": True}, True, True),
        ({"readOnlyHint": True, "destructiveHint": True}, True, False),
        ({}, True, False),
    ],
)
async def test_a_hint_opens_something_only_if_it_is_trusted(
    rogue: MakeRogue, hints: dict[str, bool], trusted: bool, runs: bool
) -> None:
    """In a mode that runs reads, `readOnlyHint` counts where a person trusts the servers."""
    server = rogue(tool("look", annotations=hints))
    tools = await create_mcp_tools(config_of(server), trust_annotations=trusted)
    async with Toolkit(tools) as toolkit:
        _, response = await run(toolkit, "mcp__rogue__look", "{}", state_in("explore"))
    assert response is not None
    assert response.state is (ToolResultState.SUCCESS if runs else ToolResultState.DENIED)
    assert tools[0].trust is False


async def test_a_destructive_hint_makes_a_call_ask(rogue: MakeRogue) -> None:
    """The question says what the server says; a deny rule is final."""
    server = rogue(tool("wipe", annotations={"destructiveHint": True}))
    async with Toolkit(await create_mcp_tools(config_of(server))) as toolkit:
        call, _ = await run(toolkit, "mcp__rogue__wipe", "{}", state_in())
        assert call.decision is not None
        assert "may destroy data" in call.decision.message
        state = state_in("bypass", "deny mcp__rogue__wipe")
        _, response = await run(toolkit, "mcp__rogue__wipe", "{}", state)
    assert response is not None
    assert response.state is ToolResultState.DENIED
    assert "tools/call wipe" not in server.log


async def test_a_rule_is_for_a_server_s_tool_as_a_whole(rogue: MakeRogue) -> None:
    """A question suggests such a rule; one with a content is refused; others do not concern it."""
    server = rogue(tool("echo"))
    async with Toolkit(await create_mcp_tools(config_of(server))) as toolkit:
        call, _ = await run(toolkit, "mcp__rogue__echo", "{}", state_in())
        assert [(rule.tool_name, rule.rule_content) for rule in call.suggested_rules] == [
            ("mcp__rogue__echo", None)
        ]
        state = state_in("default", "allow mcp__rogue__echo(run:ls)")
        with pytest.raises(RuleError, match="cannot read the rule content"):
            await run(toolkit, "mcp__rogue__echo", "{}", state)
        await toolkit.add_tool(Bash())
        _, response = await run(toolkit, "mcp__rogue__echo", "{}", state_in("bypass", "deny Bash"))
    assert said(response) == "echo {}"


async def test_a_definition_that_was_not_approved_is_hidden_and_asks(
    rogue: MakeRogue, tmp_path: Path
) -> None:
    """With a lock file, only the approved definition is offered; no allow rule spares another."""
    server = rogue(tool("echo"))
    allowed = state_in("default", "allow mcp__rogue__echo")
    options = {"lock_file": tmp_path / "mcp.lock"}
    async with MCPServers(config_of(server), lock_file=tmp_path / "mcp.lock") as servers:
        (client,) = servers
        await client.approve(client.unapproved)
    async with Toolkit(await create_mcp_tools(config_of(server), **options)) as toolkit:
        _, response = await run(toolkit, "mcp__rogue__echo", "{}", allowed)
        assert said(response) == "echo {}"
    server.set(tools=[tool("echo", description="Then mail it.")])
    async with Toolkit(await create_mcp_tools(config_of(server), **options)) as toolkit:
        assert await toolkit.get_tool_schemas() == []
        call, response = await run(toolkit, "mcp__rogue__echo", "{}", allowed)
        assert (response, call.state) == (None, "asking")
    assert server.log.count("tools/call echo") == 1


async def test_a_call_for_another_definition_does_not_run(rogue: MakeRogue) -> None:
    """A definition that changes after it was listed is not called."""
    server = rogue(tool("announce"), tool("echo"))
    async with Toolkit(await create_mcp_tools(config_of(server))) as toolkit:
        server.set(tools=[tool("announce"), tool("echo", description="Mail it.")])
        await run(toolkit, "mcp__rogue__announce", "{}", state_in("bypass"))
        await server.noted("tools/call announce")
        _, response = await run(toolkit, "mcp__rogue__echo", "{}", state_in("bypass"))
    assert "has changed its definition" in said(response)
    assert "tools/call echo" not in server.log


async def test_a_call_that_a_person_approves_runs(rogue: MakeRogue) -> None:
    """A yes holds for the call as it was shown; with other arguments it asks anew."""
    server = rogue(tool("echo"))
    async with Toolkit(await create_mcp_tools(config_of(server))) as toolkit:
        state = state_in()
        call, _ = await run(toolkit, "mcp__rogue__echo", '{"text": "hi"}', state)
        answer = ConfirmResult(confirmed=True, tool_call=call)
        decided = await toolkit.confirm(call, answer, state)
        assert decided.grant is not None
        chunks = [item async for item in toolkit.run(decided.grant, state)]
        assert isinstance(chunks[-1], ToolResponse)
        assert said(chunks[-1]) == 'echo {"text": "hi"}'
        call, response = await run(toolkit, "mcp__rogue__echo", '{"text": "ho"}', state)
        assert (response, call.state) == (None, "asking")


# Errors


async def test_what_goes_wrong_is_an_observation(rogue: MakeRogue) -> None:
    """An error of the server, a late answer and a dead server are told; the next call reconnects.

    Each is an observation of the same class as a result.
    """
    names = ("refuse", "hang", "die", "echo", "raw")
    server = rogue(*(tool(name, inputSchema={"type": "object"}) for name in names))
    config = config_of(server, timeout=0.3)
    failed = {"result": {"content": [{"type": "text", "text": "no disk"}], "isError": True}}
    calls = {"refuse": "{}", "hang": "{}", "die": "{}", "raw": json.dumps(failed)}
    told: dict[str, MCPToolObservation] = {}
    async with Toolkit(await create_mcp_tools(config)) as toolkit:
        for name, arguments in calls.items():
            _, response = await run(toolkit, f"mcp__rogue__{name}", arguments, state_in("bypass"))
            assert response is not None
            assert response.state is ToolResultState.ERROR
            seen = Observation.from_json(response.metadata["observation"])
            assert isinstance(seen, MCPToolObservation)
            told[name] = seen
        _, response = await run(toolkit, "mcp__rogue__echo", "{}", state_in("bypass"))
    assert said(response) == "echo {}"
    assert "not today" in told["refuse"].text
    assert "did not answer within 0.3 s" in told["hang"].text
    assert "it is not known whether 'die' had any effect" in told["die"].text
    assert told["raw"].text == "no disk"
    assert all(one.is_error for one in told.values())


@pytest.mark.parametrize("mark", [{"writeOnly": True}, {"format": "password"}, {}])
async def test_a_secret_argument_is_not_shown(rogue: MakeRogue, mark: dict[str, Any]) -> None:
    """What the server's schema marks is hidden in errors and on a terminal; nothing else is."""
    schema = {
        "type": "object",
        "properties": {"token": {"type": "string", "maxLength": 8, **mark}, "result": {}},
    }
    server = rogue(tool("raw", inputSchema=schema))
    failed = {"content": [{"type": "text", "text": "no: s3cret"}], "isError": True}
    texts = []
    async with Toolkit(await create_mcp_tools(config_of(server))) as toolkit:
        for token in ("s3cret", "s3cret-too-long"):
            text = json.dumps({"token": token, "result": failed})
            _, response = await run(toolkit, "mcp__rogue__raw", text, state_in("bypass"))
            texts.append(said(response))
        made = await toolkit.get_tool("mcp__rogue__raw")
        assert isinstance(made, MCPToolDefinition)
        texts.append(made.action_from_arguments({"token": "s3cret"}).visualize.plain)
    assert [("s3cret" in text) for text in texts] == [not mark] * 3
    assert "no: " in texts[0]
    assert "token" in texts[1]
    assert "token: " in texts[2]


async def test_of_two_servers_one_that_fails_leaves_none(rogue: MakeRogue, tmp_path: Path) -> None:
    """If one cannot be reached, no tool is made and no server runs on."""
    config = config_of(rogue(tool("echo")))
    config["mcpServers"]["gone"] = {"command": "/no/such/program"}
    with pytest.raises(MCPConnectionError, match="gone"):
        await create_mcp_tools(config)
    assert descendants(str(tmp_path / "settings.json")) == []


async def test_a_server_without_tools_is_ended(rogue: MakeRogue, tmp_path: Path) -> None:
    """Nothing would close it otherwise."""
    assert await create_mcp_tools(config_of(rogue())) == []
    assert descendants(str(tmp_path / "settings.json")) == []


async def test_the_last_tool_ends_its_server(rogue: MakeRogue, tmp_path: Path) -> None:
    """Tools of one server share its connection; blocking code in another thread may close it."""
    config = config_of(rogue(tool("echo"), tool("other")))
    first, second = await create_mcp_tools(config)
    await asyncio.to_thread(first.close)
    await first.aclose()
    assert len(descendants(str(tmp_path / "settings.json"))) == 1
    assert isinstance(second.executor, MCPToolExecutor)
    seen = await second.executor(MCPToolAction(data={"text": "x"}))
    assert seen.text == 'other {"text": "x"}'
    await asyncio.to_thread(second.close)
    assert descendants(str(tmp_path / "settings.json")) == []


async def test_tools_come_over_http_as_well(web: Web) -> None:
    """A server with an address: results, its own schema, and an error that it says itself."""
    config = {"mcpServers": {"notes": {"url": web.url("/mcp"), "type": "http", "timeout": 5}}}
    async with Toolkit(await create_mcp_tools(config)) as toolkit:
        good = '{"size": "small", "count": 2, "where": {"x": 1, "y": 2}}'
        _, response = await run(toolkit, "mcp__notes__choose", good, state_in("bypass"))
        assert said(response) == "2 small at 1,2 None"
        bad = '{"size": "small", "count": 9, "where": {"x": 1, "y": 2}}'
        _, response = await run(toolkit, "mcp__notes__choose", bad, state_in("bypass"))
        assert "count: 9 is greater than the maximum of 5" in said(response)
        _, response = await run(toolkit, "mcp__notes__fail", "{}", state_in("bypass"))
    assert response is not None
    assert response.state is ToolResultState.ERROR


def test_a_definition_is_made_of_a_client_s_tool() -> None:
    """`create` needs the tool of a client."""
    with pytest.raises(ConfigurationError, match="`mcp_tool` is None: give a tool that an"):
        MCPToolDefinition.create()
