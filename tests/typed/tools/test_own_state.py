"""ThinkTool, FinishTool and TaskTrackerTool touch nothing but the agent's own state."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from agentscope_like.agent import Agent
from agentscope_like.message import TextBlock, ToolCallBlock, UserMsg
from agentscope_like.state import AgentState
from agentscope_like.tool import TaskCreate, TaskUpdate, Toolkit
from agentscope_like.typed.tools import FinishTool, TaskTrackerTool, ThinkTool
from tests.agent.kit import DictatedModel, Turn
from tests.typed.kit import state_in
from tests.typed.tools.kit import call, decided

TOOLS = [
    (ThinkTool, {"thought": "x"}),
    (FinishTool, {"message": "x"}),
    (TaskTrackerTool, {"command": "view"}),
]


@pytest.mark.parametrize(("kind", "arguments"), TOOLS)
async def test_only_a_deny_rule_stops_them(kind: Any, arguments: dict[str, Any]) -> None:
    """They run in every mode, unless a rule denies the tool."""
    (tool,) = kind.create()
    for mode in ("default", "accept_edits", "explore", "bypass", "dont_ask"):
        assert (await decided(tool, state_in(mode), **arguments)).behavior == "allow"
    denied = await decided(tool, state_in("bypass", f"deny {tool.name}"), **arguments)
    assert denied.behavior == "deny"


@pytest.mark.parametrize(("kind", "arguments"), TOOLS)
async def test_an_extended_one_asks(kind: Any, arguments: dict[str, Any]) -> None:
    """A class of one's own, or another executor, does not take over that it always runs."""
    extended: Any = type("Extended", (kind,), {"description": "Does more."})
    (tool,) = extended.create()
    assert (await decided(tool, state_in(), **arguments)).behavior == "ask"

    class Other(type(kind.create()[0].executor)):  # type: ignore[misc]
        pass

    swapped = kind(executor=Other())
    assert (await decided(swapped, state_in(), **arguments)).behavior == "ask"


async def test_the_list_is_planned_and_viewed() -> None:
    """`plan` replaces the list, `view` shows it; a status that is none is refused."""
    (tool,), state = TaskTrackerTool.create(), state_in()
    assert "no tasks" in (await call(tool, state, command="view")).text
    tasks = [{"title": "Read", "status": "done"}, {"title": "Write", "notes": "the tests"}]
    planned = await call(tool, state, command="plan", task_list=tasks)
    assert planned.text == "[done] Read\n[todo] Write (the tests)"
    assert planned.facts["task_list"][1] == {
        "title": "Write",
        "notes": "the tests",
        "status": "todo",
    }
    assert not (
        await call(tool, state, command="plan", task_list=[{"title": "a", "status": "x"}])
    ).ok
    assert "two tasks" in (await call(tool, state, command="plan", task_list=tasks[:1] * 2)).text
    assert (await call(tool, state, command="view")).text == planned.text


async def test_the_list_is_the_one_that_the_other_tools_keep() -> None:
    """A task that keeps its title keeps its id and what waits for it; one that is done frees."""
    (tool,), state = TaskTrackerTool.create(), state_in()
    for subject in ("Read", "Write", "Drop"):
        await call(TaskCreate(), state, subject=subject, description="")
    await call(TaskUpdate(), state, task_id="2", add_blocked_by=["1"])
    await call(tool, state, command="plan", task_list=[{"title": "Write"}, {"title": "Read"}])
    first, second = state.tasks_context.tasks
    assert [(one.id, one.subject) for one in (first, second)] == [("2", "Write"), ("1", "Read")]
    assert first.blocked_by == ["1"]
    done = [{"title": "Write"}, {"title": "Read", "status": "done"}]
    await call(tool, state, command="plan", task_list=done)
    assert state.tasks_context.tasks[0].blocked_by == []


def agent_with(*turns: Turn) -> tuple[Agent, DictatedModel]:
    """Return an agent with the finish tool whose model says these turns."""
    model = DictatedModel(*turns)
    toolkit = Toolkit([*FinishTool.create(), *ThinkTool.create()])
    return Agent("ada", "You work.", model, toolkit, state=AgentState()), model


FINISH = ToolCallBlock(id="1", name="finish", input='{"message": "It is done."}')
THINK = ToolCallBlock(id="2", name="think", input='{"thought": "one more"}')


async def test_finish_ends_the_reply_with_its_message() -> None:
    """No further round; calls of the same turn have run; the next reply goes on as ever."""
    agent, model = agent_with([FINISH, THINK], [TextBlock(text="again")])
    message = await agent.reply(UserMsg("user", "Do it."))
    assert (message.get_text_content() or "").endswith("It is done.")
    assert message.finished_reason == "completed"
    assert len(model.seen) == 1
    again = await agent.reply(UserMsg("user", "And now?"))
    assert again.get_text_content() == "again"


async def test_finish_does_not_take_the_place_of_structured_output() -> None:
    """A reply that is to end with data goes on until it has them."""

    class Answer(BaseModel):
        number: int

    output = ToolCallBlock(id="3", name="generate_structured_output", input='{"number": 3}')
    agent, model = agent_with([FINISH], [output])
    message = await agent.reply(UserMsg("user", "Count."), structured_schema=Answer)
    assert message.structured_output == {"number": 3}
    assert len(model.seen) == 2
