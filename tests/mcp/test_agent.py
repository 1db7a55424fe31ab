"""An agent whose tools come from servers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agentscope_like.agent import Agent
from agentscope_like.message import TextBlock, ToolResultBlock, UserMsg
from agentscope_like.permission import PermissionContext, PermissionMode
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit
from tests.agent.kit import DictatedModel
from tests.mcp.kit import Rogue, Web, tool
from tests.tool.kit import call_of

MakeRogue = Callable[..., Rogue]


def agent_with(toolkit: Toolkit, *names: str) -> Agent:
    """Return an agent whose model calls these tools, one in each turn."""
    turns = [[call_of(name, "{}", f"c{number}")] for number, name in enumerate(names)]
    context = PermissionContext(mode=PermissionMode.BYPASS)
    state = AgentState(permission_context=context)
    model = DictatedModel(*turns, [TextBlock(text="done")])
    return Agent("robot", "Be helpful.", model, toolkit, state=state)


def results_of(agent: Agent) -> list[str]:
    """Return the state of each result in the agent's context."""
    blocks = (block for message in agent.state.context for block in message.content)
    return [block.state.value for block in blocks if isinstance(block, ToolResultBlock)]


async def test_a_reply_asks_a_server_for_its_tools_at_most_once(rogue: MakeRogue) -> None:
    """Replies of several calls list the tools of a server at rest once, when it is connected."""
    server = rogue(tool("echo"))
    async with server.client() as client:
        agent = agent_with(Toolkit(mcps=[client]), *["mcp__rogue__echo"] * 3)
        await agent.reply(UserMsg("user", "go"))
    assert results_of(agent) == ["success"] * 3
    assert server.log.count("tools/list") == 1


@pytest.mark.parametrize("path", ["/mcp", "/old/mcp"])
async def test_a_reply_asks_a_stateless_server_once(web: Web, path: str) -> None:
    """A stateless server is asked for its tools once in each reply."""
    client = web.client(path, stateful=False)
    agent = agent_with(Toolkit(mcps=[client]), *["mcp__notes__locate"] * 3)
    await agent.reply(UserMsg("user", "go"))
    assert results_of(agent) == ["success"] * 3
    assert web.listings() == 1


async def test_a_reply_goes_on_without_a_dead_server(rogue: MakeRogue) -> None:
    """A model whose server dies is told so, call by call, and comes to its answer."""
    server = rogue(tool("die"), tool("echo"))
    async with server.client() as client:
        server.set(refuse=True)
        names = ["mcp__rogue__die", "mcp__rogue__echo", "mcp__rogue__echo"]
        agent = agent_with(Toolkit(mcps=[client]), *names)
        answer = await agent.reply(UserMsg("user", "go"))
    assert results_of(agent) == ["error"] * 3
    assert answer.get_text_content() == "done"
