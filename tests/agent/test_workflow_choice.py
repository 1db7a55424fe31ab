"""Seed 000, 3: a step chooses the workflow that an agent follows in a reply."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import pytest

from agentscope_like.agent import Agent, Workflow, WorkflowChoice
from agentscope_like.event import ConfirmResult, ReplyEndEvent, UserConfirmResultEvent
from agentscope_like.exception import ConfigurationError, ModelError
from agentscope_like.message import Msg, TextBlock, ToolCallState, UserMsg
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit
from tests.agent.kit import DictatedModel, Turn, calls_of, events_of, model_of
from tests.tool.kit import Probe, call_of

DONE = [TextBlock(text="Done.")]
REVIEW = Workflow("review", "To look at a change.", "1. Read the diff.\n2. Say what is wrong.")
REPAIR = Workflow("repair", "To mend a bug.", "1. Write a failing test.")


class Selector:
    """Selects one workflow after the other, and remembers what it was asked about."""

    def __init__(self, *names: str | None) -> None:
        self.names = list(names)
        self.asked: list[tuple[list[str | None], list[str]]] = []

    async def __call__(self, messages: list[Msg], workflows: Sequence[Workflow]) -> str | None:
        told = [message.get_text_content() for message in messages]
        self.asked.append((told, [one.name for one in workflows]))
        return self.names.pop(0)


def agent_with(select: Selector, *turns: Turn, state: AgentState | None = None) -> Agent:
    """Return an agent whose workflow a function selects."""
    layer = WorkflowChoice([REVIEW, REPAIR], select)
    toolkit = Toolkit([Probe("Probe"), Probe("Asks", "ask")])
    return Agent("robot", "Be helpful.", DictatedModel(*turns), toolkit, [layer], state=state)


def prompts(agent: Agent) -> list[str]:
    """Return the system prompts that the model has seen."""
    return [seen[0].get_text_content() or "" for seen in model_of(agent).seen]


async def test_sage_t_38_a_step_chooses_the_workflow_of_a_reply() -> None:
    """It is selected once by the messages, holds for all rounds, and is chosen anew afterwards."""
    select = Selector("repair", "review", None)
    agent = agent_with(select, [call_of("Probe")], DONE, DONE, DONE)
    await agent.reply(UserMsg("user", "It crashes."))
    assert select.asked == [(["It crashes."], ["review", "repair"])]
    await agent.reply(UserMsg("user", "Look at this."))
    await agent.reply(UserMsg("user", "Thanks."))
    first, second, third, fourth = prompts(agent)
    assert (
        first
        == second
        == third.replace("review", "repair").replace(REVIEW.instructions, REPAIR.instructions)
    )
    assert "# Workflow: repair\n\n1. Write a failing test." in first
    assert "Workflow" not in fourth


async def test_a_reply_that_waits_keeps_its_workflow() -> None:
    """Over a restart too, nobody is asked to select again."""
    agent = agent_with(Selector("repair"), [call_of("Asks")])
    await events_of(agent, "Mend it.")
    (call,) = calls_of(agent).values()
    assert call.state is ToolCallState.ASKING
    state = AgentState.model_validate_json(agent.state.model_dump_json())
    resumed = agent_with(Selector(), DONE, state=state)
    answer = UserConfirmResultEvent(
        reply_id=state.reply_id,
        confirm_results=[ConfirmResult(confirmed=True, tool_call=calls_of(resumed)["c1"])],
    )
    await events_of(resumed, answer)
    assert "# Workflow: repair" in prompts(resumed)[0]


async def test_a_workflow_that_there_is_not_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """The reply goes on without one."""
    agent = agent_with(Selector("reviw"), DONE)
    with caplog.at_level(logging.WARNING):
        await agent.reply(UserMsg("user", "go"))
    assert "'reviw' does not exist" in caplog.text
    assert "Workflow" not in prompts(agent)[0]


async def test_a_selector_that_fails_fails_as_the_model() -> None:
    """A model that selects and cannot be reached ends the reply with its error."""

    class Failing(Selector):
        async def __call__(self, messages: list[Msg], workflows: Sequence[Workflow]) -> str | None:
            raise ModelError("the selecting model is away")

    agent = agent_with(Failing(), DONE)
    events = await events_of(agent, "go")
    end = next(event for event in events if isinstance(event, ReplyEndEvent))
    assert "the selecting model is away" in str(end)
    assert model_of(agent).seen == []


def test_two_workflows_of_one_name_are_refused() -> None:
    """Which of them is meant could not be said."""
    with pytest.raises(ConfigurationError, match="one name"):
        WorkflowChoice([REVIEW, REVIEW], Selector())
