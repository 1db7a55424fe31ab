"""Results of work that was done outside, and the tool's own check of them."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_like.agent import Agent, ContextConfig
from agentscope_like.event import ExternalExecutionResultEvent
from agentscope_like.exception import ResumeError
from agentscope_like.message import (
    TextBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from agentscope_like.permission import PermissionMode
from agentscope_like.tool import Toolkit
from tests.agent.kit import (
    DictatedModel,
    agent_of,
    calls_of,
    events_of,
    executed,
    outline,
    results_of,
    text_of,
)
from tests.tool.kit import Probe, call_of

DONE = [TextBlock(text="All done.")]
GO = UserMsg("user", "go")


def result(call_id: str = "c1", **fields: Any) -> ToolResultBlock:
    """Return the result of a call that was done outside."""
    given = {"output": "done", "state": ToolResultState.SUCCESS} | fields
    return ToolResultBlock(id=call_id, name="Ext", **given)


def sent(agent: Agent, *results: ToolResultBlock) -> ExternalExecutionResultEvent:
    """Return the event that brings these results."""
    return ExternalExecutionResultEvent(
        reply_id=agent.state.reply_id, execution_results=list(results)
    )


class Metered(Probe):
    """An external tool whose results carry a price."""

    metadata_schema = {  # noqa: RUF012
        "type": "object",
        "properties": {"price": {"type": "integer", "minimum": 0}},
        "required": ["price"],
    }


async def test_metadata_have_to_fit_the_schema_of_the_tool() -> None:
    """A result of success that does not carry what the tool promised is refused."""
    agent = agent_of([Metered("Ext", external=True)], [call_of("Ext")], DONE)
    await agent.reply(GO)
    for wrong, said in (
        ({}, 'metadata: "price" is a required'),
        ({"price": -1}, "metadata.price: -1 is less"),
        ({"price": "much"}, 'metadata.price: "much" is not of type'),
    ):
        with pytest.raises(ResumeError, match=said):
            await agent.reply(sent(agent, result(metadata=wrong)))
    assert calls_of(agent)["c1"].state is ToolCallState.SUBMITTED
    await agent.reply(sent(agent, result(metadata={"price": 3})))
    assert results_of(agent)["c1"].metadata == {"price": 3}


async def test_a_failure_outside_need_not_fit() -> None:
    """The schema is one of results of success."""
    agent = agent_of([Metered("Ext", external=True)], [call_of("Ext")], DONE)
    await agent.reply(GO)
    await agent.reply(sent(agent, result(state=ToolResultState.ERROR, output="broken")))
    assert results_of(agent)["c1"].state is ToolResultState.ERROR


class Picky(Probe):
    """Takes only results that repeat the call's text."""

    async def check_external_result(
        self, result: ToolResultBlock, *, tool_input: dict[str, Any] | None = None
    ) -> None:
        if tool_input is None or tool_input["text"] not in str(result.output):
            raise ValueError("it does not say what was asked")


class PickyAlone(Probe):
    """Looks at the result alone."""

    async def check_external_result(self, result: ToolResultBlock) -> None:  # type: ignore[override]
        result.output = "changed"
        if result.metadata.get("bad"):
            raise KeyError("bad")


async def test_a_tool_may_check_results_by_itself() -> None:
    """Its check sees the arguments; whatever it raises refuses all results of the event."""
    tools = [Picky("Ext", external=True), Probe("Other", external=True)]
    calls = [call_of("Ext", call_id="c1"), call_of("Ext", '{"text": "you"}', "c2")]
    agent = agent_of(tools, calls, DONE)
    await agent.reply(GO)
    with pytest.raises(ResumeError, match=r"c2.*does not say what was asked"):
        await agent.reply(sent(agent, result(output="hi"), result("c2", output="hi")))
    assert set(results_of(agent)) == {"c1", "c2"}
    assert {r.state for r in results_of(agent).values()} == {ToolResultState.RUNNING}
    await agent.reply(sent(agent, result(output="hi"), result("c2", output="you too")))
    assert agent.state.context[-1].get_text_content() == "All done."


async def test_a_check_may_do_without_the_arguments_and_changes_nothing() -> None:
    """It may take the result alone; the result is a copy; any exception refuses it."""
    agent = agent_of([PickyAlone("Ext", external=True)], [call_of("Ext")], DONE)
    await agent.reply(GO)
    with pytest.raises(ResumeError):
        await agent.reply(sent(agent, result(metadata={"bad": True})))
    await agent.reply(sent(agent, result(output="as sent")))
    assert text_of(results_of(agent)["c1"]) == "as sent"


async def test_a_long_result_from_outside_is_cut() -> None:
    """Its limit is the context's; the notice says where the whole is kept."""
    agent = Agent(
        "robot",
        "",
        DictatedModel([call_of("Ext")], DONE),
        Toolkit([Probe("Ext", external=True)]),
        context_config=ContextConfig(tool_result_limit=100),
    )
    await agent.reply(GO)
    await agent.reply(executed(agent, "c1", "word " * 4_000))
    assert len(text_of(results_of(agent)["c1"])) < 1_000
    assert "for the limit of 100 tokens" in text_of(results_of(agent)["c1"])


async def test_an_external_tool_of_a_system_is_submitted_where_nobody_can_be_asked() -> None:
    """dont_ask is about people: what a system does is submitted; what would be asked is denied."""
    tools = [Probe("Ext", external=True), Probe("AskExt", "ask", external=True)]
    agent = agent_of(tools, [call_of("Ext", call_id="c1"), call_of("AskExt", call_id="c2")], DONE)
    agent.state.permission_context.mode = PermissionMode.DONT_ASK
    lines = outline(await events_of(agent, "go"))
    assert "REQUIRE_EXTERNAL_EXECUTION c1" in lines
    assert "TOOL_RESULT_END c2 denied" in lines
