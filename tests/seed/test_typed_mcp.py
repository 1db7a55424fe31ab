"""The document "Tool System" (seed 004): MCP servers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from agentscope_like import bridge
from agentscope_like.agent import Agent
from agentscope_like.exception import ToolArgumentError
from agentscope_like.mcp import MCPServers
from agentscope_like.message import TextBlock, ToolResultState, UserMsg
from agentscope_like.tool import Toolkit
from agentscope_like.typed.mcp import (
    MCPToolAction,
    MCPToolDefinition,
    MCPToolExecutor,
    MCPToolObservation,
    create_mcp_tools,
)
from tests.agent.kit import DictatedModel
from tests.mcp.kit import descendants
from tests.seed.kit import BYPASS, OFFICE, call, call_of, permitting, state_of

DOCUMENT: dict[str, Any] = {
    "mcpServers": {
        "fetch": {"command": "uvx", "args": ["mcp-server-fetch"]},
        "filesystem": {
            "command": "npx",
            "args": ["-y", "@modelcontextprotocol/server-filesystem", "/path"],
        },
    }
}
ORDER = "mcp__office__place_order"


@pytest.fixture
def config(work: Path) -> dict[str, Any]:
    """Configure the office server, a program that reads and writes the working directory."""
    (work / "a.txt").write_text("a file\n")
    program = {"command": sys.executable, "args": [str(OFFICE), "--root", str(work)]}
    return {"mcpServers": {"office": program}}


async def tools_of(config: dict[str, Any]) -> dict[str, MCPToolDefinition]:
    """Return the tools of the configured servers by name."""
    return {tool.name: tool for tool in await create_mcp_tools(config)}


async def test_004_36_servers_are_spoken_to_by_a_client(config: dict[str, Any]) -> None:
    """One client for each server; connecting and closing are its business."""
    servers = MCPServers(config)
    await servers.connect()
    assert [client.is_connected for client in servers] == [True]
    await servers.close()
    assert [client.is_connected for client in servers] == [False]


async def test_004_37_a_server_s_tool_is_a_definition(config: dict[str, Any]) -> None:
    """Its action is a generic wrapper; its executor calls the server."""
    tools = await tools_of(config)
    async with Toolkit(list(tools.values())):
        order = tools[ORDER]
        assert isinstance(order.executor, MCPToolExecutor)
        assert order.action_type is MCPToolAction
        action = order.action_from_arguments({"item": "tea"})
        assert action.data == {"item": "tea"}


async def test_004_38_a_result_is_an_observation_of_content_blocks(config: dict[str, Any]) -> None:
    """What the server answers is its content."""
    state = state_of(permitting(mode=BYPASS))
    async with Toolkit(list((await tools_of(config)).values())) as toolkit:
        response = await call(toolkit, "mcp__office__read_file", state, path="a.txt")
    assert response is not None
    seen = MCPToolObservation.from_json(response.metadata["observation"])
    assert [block.type for block in seen.content] == ["text"]
    assert seen.text == "a file\n"


async def test_004_39_models_are_made_of_schemas_when_they_are_needed(
    config: dict[str, Any],
) -> None:
    """Not before the arguments of a call are validated."""
    tools = await tools_of(config)
    async with Toolkit(list(tools.values())):
        order = tools[ORDER]
        assert "arguments_type" not in vars(order)
        with pytest.raises(ToolArgumentError):
            order.action_from_arguments({"item": 3})
        assert issubclass(order.arguments_type, BaseModel)


async def test_004_40_a_server_s_definition_is_mapped(config: dict[str, Any]) -> None:
    """Name, description, schema and hints."""
    tools = await tools_of(config)
    async with Toolkit(list(tools.values())):
        order, read = tools[ORDER], tools["mcp__office__read_file"]
        told = order.to_openai_tool()["function"]
        assert (told["name"], told["description"]) == (ORDER, "Order something.")
        assert told["parameters"]["properties"] == {"item": {"type": "string"}}
        hints = [one.annotations and one.annotations.readOnlyHint for one in (order, read)]
        assert hints == [False, True]


def test_004_41_the_document_s_configuration_makes_an_agent() -> None:
    """`Agent(mcp_config=...)` takes it as it is; no program is started for that."""
    agent = Agent("ada", "", DictatedModel(), mcp_config=DOCUMENT)
    assert agent.mcp_servers is not None
    assert [client.name for client in agent.mcp_servers] == ["fetch", "filesystem"]


async def test_004_42_an_agent_finds_the_tools_of_its_servers(config: dict[str, Any]) -> None:
    """They are listed as it starts, told to the model, and run; no registry has a part in it."""
    model = DictatedModel([call_of(ORDER, item="tea")], [TextBlock(text="ordered")])
    state = state_of(permitting(mode=BYPASS))
    async with Agent("ada", "", model, state=state, mcp_config=config) as agent:
        message = await agent.reply(UserMsg("user", "Order tea."))
    assert message.get_text_content() == "ordered"
    assert ORDER in model.shown_tools[0]


async def test_004_43_an_error_of_a_server_is_an_observation(config: dict[str, Any]) -> None:
    """The model reads it, and the loop goes on."""
    state = state_of(permitting(mode=BYPASS))
    async with Toolkit(list((await tools_of(config)).values())) as toolkit:
        response = await call(toolkit, "mcp__office__read_file", state, path="missing.txt")
    assert response is not None
    assert response.state is ToolResultState.ERROR
    assert response.metadata["observation"]["is_error"] is True


async def test_004_44_a_connection_is_used_for_all_calls(config: dict[str, Any]) -> None:
    """One process of the server answers them."""
    state = state_of(permitting(mode=BYPASS))
    tools = await tools_of(config)
    async with Toolkit(list(tools.values())) as toolkit:
        for item in ("tea", "cake"):
            response = await call(toolkit, ORDER, state, item=item)
            assert response is not None
            assert response.state is ToolResultState.SUCCESS
        assert len(descendants(str(OFFICE))) == 1


def test_004_45_tools_of_servers_are_called_by_blocking_code(config: dict[str, Any]) -> None:
    """From discovery to the result, without an event loop of one's own."""

    async def ordered() -> str:
        state = state_of(permitting(mode=BYPASS))
        async with Toolkit(list((await tools_of(config)).values())) as toolkit:
            response = await call(toolkit, ORDER, state, item="tea")
        assert response is not None
        return json.dumps(response.metadata["observation"]["is_error"])

    with bridge.shared_loop():
        assert bridge.run(ordered(), timeout=60) == "false"
