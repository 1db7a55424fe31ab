"""An agent that chooses its tool groups and reads its skills."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentscope_like.agent import Agent
from agentscope_like.message import Msg, TextBlock, ToolResultState, UserMsg
from agentscope_like.model import Answer
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolGroup, Toolkit
from tests.agent.kit import Block, DictatedModel, results_of, text_of
from tests.skill.kit import write_skill
from tests.tool.kit import Probe, call_of
from tests.tool.test_sources import Server

DONE = [TextBlock(text="Done.")]


class WatchedModel(DictatedModel):
    """Keeps which tools it was told of."""

    def __init__(self, *turns: Sequence[Block]) -> None:
        super().__init__(*turns)
        self.tools: list[list[str]] = []

    async def _call_api(
        self,
        model_name: str,
        messages: list[Msg],
        tools: list[dict[str, Any]] | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> Answer:
        self.tools.append([tool["function"]["name"] for tool in tools or ()])
        return await super()._call_api(model_name, messages, *args, **kwargs)


def toolkit() -> Toolkit:
    """Return a toolkit with one group."""
    group = ToolGroup("database", "Tools for the database.", "Be careful.", [Probe("Query")])
    return Toolkit([Probe()], tool_groups=[group])


async def test_an_agent_activates_a_group_and_uses_it() -> None:
    """The round after `reset_tools` knows the group's tools, and so does a later process."""
    model = WatchedModel(
        [call_of("Query", call_id="c1")],
        [call_of("reset_tools", '{"database": true}', "c2")],
        [call_of("Query", call_id="c3")],
        DONE,
    )
    agent = Agent("robot", "Be helpful.", model, toolkit())
    await agent.reply(UserMsg("user", "go"))
    before, after = ["Probe", "reset_tools"], ["Probe", "reset_tools", "Query"]
    assert model.tools == [before, before, after, after]
    results = results_of(agent)
    assert results["c1"].state is ToolResultState.ERROR
    assert 'reset_tools with {"database": true}' in text_of(results["c1"])
    assert "Be careful." in text_of(results["c2"])
    assert text_of(results["c3"]) == "Query:hi"
    state = AgentState.model_validate_json(agent.state.model_dump_json())
    later = WatchedModel(DONE)
    await Agent("robot", "Be helpful.", later, toolkit(), state=state).reply(UserMsg("user", "on"))
    assert later.tools == [after]


async def test_an_agent_reads_a_skill(tmp_path: Path) -> None:
    """The system prompt lists the skills, as they are in each round; the viewer shows one."""
    write_skill(tmp_path / "pdf", "pdf", "Fill in forms.", "Use the form tool.")
    model = WatchedModel([call_of("Skill", '{"skill": "pdf"}', "c1")], DONE)
    agent = Agent("robot", "Be helpful.", model, Toolkit(skills_or_loaders=[tmp_path]))
    await agent.reply(UserMsg("user", "go"))
    assert model.tools == [["Skill"], ["Skill"]]
    prompt = model.seen[0][0].get_text_content() or ""
    assert prompt.startswith("Be helpful.\n\n<agent-skills>\n")
    assert "- pdf: Fill in forms.\n" in prompt
    assert "Use the form tool." in text_of(results_of(agent)["c1"])


async def test_an_agent_refreshes_its_sources_once_for_each_reply() -> None:
    """However many rounds a reply takes; what is new is there from the first of them."""
    server = Server()
    model = WatchedModel([call_of("mcp__files__read")], DONE, DONE)
    agent = Agent("robot", "Be helpful.", model, Toolkit(mcps=[server]))
    await agent.reply(UserMsg("user", "go"))
    assert (server.refreshed, server.listed) == (1, 1)
    server.next = [server.tool("write")]
    await agent.reply(UserMsg("user", "on"))
    assert (server.refreshed, server.listed) == (2, 2)
    assert model.tools[-1] == ["mcp__files__write"]
