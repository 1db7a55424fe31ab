"""Seed 000, 3: what an agent is told of in a reply, and how it has itself told of more."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Collection, Sequence
from typing import Any

import pytest
from pydantic import BaseModel

from agentscope_like.agent import Agent, ToolSelector, ToolSuggestion
from agentscope_like.event import AgentEvent
from agentscope_like.exception import ConfigurationError, ModelError
from agentscope_like.message import Msg, TextBlock, ToolCallBlock, ToolResultState, UserMsg
from agentscope_like.middleware import MiddlewareBase
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolBase, Toolkit, ToolManager, ToolProxy
from tests.agent.kit import (
    DictatedModel,
    Turn,
    answer,
    events_of,
    model_of,
    outline,
    results_of,
    text_of,
)
from tests.tool.kit import Probe, call_of

NAMES = ["alpha", "beta", "gamma"]
EXPAND = "tool_expand_tools"
DONE = [TextBlock(text="Done.")]


def expanding(*names: str, call_id: str = "e1") -> ToolCallBlock:
    """Return a call that wants to be shown these tools."""
    return call_of(EXPAND, json.dumps({"tool_names": names}), call_id)


class Chooser:
    """Chooses the same tools each time, and remembers what it was asked about."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.asked: list[tuple[list[str | None], list[str]]] = []

    async def __call__(
        self, messages: list[Msg], schemas: list[dict[str, Any]]
    ) -> Collection[str] | None:
        names = [schema["function"]["name"] for schema in schemas]
        self.asked.append(([message.get_text_content() for message in messages], names))
        await asyncio.sleep(0)
        return self.names


def agent_with(
    select: ToolSelector,
    *turns: Turn,
    toolkit: Toolkit | None = None,
    more: Sequence[MiddlewareBase] = (),
    state: AgentState | None = None,
) -> Agent:
    """Return an agent whose tools a function chooses from."""
    own = Toolkit([Probe(name) for name in NAMES])
    layers = [ToolSuggestion(select), *more]
    model = DictatedModel(*turns)
    return Agent("robot", "Be helpful.", model, toolkit or own, layers, state=state)


async def test_sage_t_36_a_step_before_the_model_narrows_what_it_is_told_of() -> None:
    """The choice is made once for a reply, by its messages and tools, and holds for its rounds."""
    choose = Chooser("beta")
    agent = agent_with(choose, [call_of("beta")], DONE)
    await agent.reply(UserMsg("user", "Use beta."))
    assert choose.asked == [(["Use beta."], NAMES)]
    assert model_of(agent).shown_tools == [["beta", EXPAND]] * 2
    assert text_of(results_of(agent)["c1"]) == "beta:hi"


async def test_sage_t_36_it_holds_for_one_reply_only() -> None:
    """The next reply has its own choice; what was expanded in the last one is forgotten."""
    choose = Chooser("beta")
    agent = agent_with(choose, [expanding("gamma")], DONE, DONE)
    await agent.reply(UserMsg("user", "one"))
    await agent.reply(UserMsg("user", "two"))
    assert model_of(agent).shown_tools == [
        ["beta", EXPAND],
        ["beta", "gamma", EXPAND],
        ["beta", EXPAND],
    ]
    assert len(choose.asked) == 2


async def test_sage_t_36_none_leaves_all_tools() -> None:
    """A step that has no opinion narrows nothing."""

    async def choose(messages: list[Msg], schemas: list[dict[str, Any]]) -> None:
        return None

    agent = agent_with(choose, DONE)
    await agent.reply(UserMsg("user", "go"))
    assert model_of(agent).shown_tools == [NAMES]


async def test_sage_t_37_the_choice_cannot_lead_past_the_view(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A tool that the view leaves out is neither shown nor run, whatever is suggested."""
    manager = ToolManager([Probe(name) for name in NAMES], modules=[])
    proxy = ToolProxy([manager], ["alpha", "beta"])
    with caplog.at_level(logging.WARNING):
        agent = agent_with(
            Chooser("gamma", "alpha"), [expanding("gamma"), call_of("gamma")], DONE, toolkit=proxy
        )
        await agent.reply(UserMsg("user", "go"))
    assert model_of(agent).shown_tools == [["alpha", EXPAND]] * 2
    told = json.loads(text_of(results_of(agent)["e1"]))
    assert told["invalid_tools"] == ["gamma"]
    assert told["available_expandable_tools"] == ["beta"]
    assert results_of(agent)["c1"].state is ToolResultState.ERROR
    assert "'gamma' does not exist" in caplog.text


async def test_sage_t_39_a_call_outside_the_request_is_refused_alone() -> None:
    """Of three calls the one that was not shown is refused; the others run, before and after it."""
    calls = [call_of(name, call_id=name) for name in NAMES]
    agent = agent_with(Chooser("alpha", "gamma"), calls, DONE)
    await agent.reply(UserMsg("user", "go"))
    results = results_of(agent)
    assert text_of(results["alpha"]) == "alpha:hi"
    assert text_of(results["gamma"]) == "gamma:hi"
    assert results["beta"].state is ToolResultState.ERROR
    assert 'Call tool_expand_tools with {"tool_names": ["beta"]} first' in text_of(results["beta"])


async def test_sage_t_39_a_call_that_follows_its_expansion_is_taken() -> None:
    """Calls are decided in their order: one before the expansion is refused, one after it runs."""
    calls = [call_of("beta", call_id="c1"), expanding("beta"), call_of("beta", call_id="c2")]
    agent = agent_with(Chooser("alpha"), calls, DONE)
    await agent.reply(UserMsg("user", "go"))
    states = {name: result.state.value for name, result in results_of(agent).items()}
    assert states == {"c1": "error", "e1": "success", "c2": "success"}


async def test_sage_t_46_the_next_round_shows_what_was_expanded() -> None:
    """Refused, expanded, called: the model gets to its tool, and the schemas follow."""
    agent = agent_with(
        Chooser("alpha"),
        [call_of("beta", call_id="c1")],
        [expanding("beta", "nothing")],
        [call_of("beta", call_id="c2")],
        DONE,
    )
    await agent.reply(UserMsg("user", "go"))
    assert model_of(agent).shown_tools == [
        ["alpha", EXPAND],
        ["alpha", EXPAND],
        ["alpha", "beta", EXPAND],
        ["alpha", "beta", EXPAND],
    ]
    assert text_of(results_of(agent)["c2"]) == "beta:hi"


async def test_what_was_expanded_outlives_a_wait() -> None:
    """A reply that parks, and goes on in another process, knows what was shown; nobody chooses."""
    choose = Chooser("alpha")
    tools = [Probe("alpha"), Probe("beta", "ask")]
    agent = agent_with(choose, [expanding("beta")], [call_of("beta")], toolkit=Toolkit(tools))
    assert outline(await events_of(agent, "go"))[-1] == "REQUIRE_USER_CONFIRM c1"
    again = agent_with(
        choose,
        DONE,
        toolkit=Toolkit(tools),
        state=AgentState.model_validate_json(agent.state.model_dump_json()),
    )
    events: list[AgentEvent] = await events_of(again, answer(again, "c1"))
    assert "TOOL_RESULT_END c1 success" in outline(events)
    assert model_of(again).shown_tools == [["alpha", "beta"]]
    assert len(choose.asked) == 1


class City(BaseModel):
    """What an answer has to fit."""

    name: str


class Bringing(MiddlewareBase):
    """Brings a tool of its own."""

    async def list_tools(self) -> list[ToolBase]:
        return [Probe("brought")]


async def test_what_a_reply_needs_is_shown_whatever_was_chosen() -> None:
    """The tool of a structured answer, and those of middlewares, are not narrowed away."""
    finish = call_of("generate_structured_output", '{"name": "Ulm"}', "f1")
    agent = agent_with(Chooser(), [call_of("brought"), finish], more=[Bringing()])
    reply = await agent.reply(UserMsg("user", "go"), structured_schema=City)
    assert reply.structured_output == {"name": "Ulm"}
    assert model_of(agent).shown_tools == [["brought", "generate_structured_output", EXPAND]]
    assert text_of(results_of(agent)["c1"]) == "brought:hi"


async def test_a_step_that_fails_ends_the_reply_as_a_model_does() -> None:
    """A model that chooses and cannot be reached is a failure of the reply, told in order."""

    async def choose(messages: list[Msg], schemas: list[dict[str, Any]]) -> list[str]:
        raise ModelError("the chooser is away")

    agent = agent_with(choose)
    reply = await agent.reply(UserMsg("user", "go"))
    assert reply.error is not None
    assert "the chooser is away" in reply.error.message
    assert model_of(agent).shown_tools == []


async def test_a_name_is_no_choice_of_tools() -> None:
    """It would be taken for its letters, and for all names that are part of it."""

    async def choose(messages: list[Msg], schemas: list[dict[str, Any]]) -> str:
        return "alpha and beta"

    agent = agent_with(choose)
    with pytest.raises(ConfigurationError, match=r"return \['alpha and beta'\]"):
        await agent.reply(UserMsg("user", "go"))
    assert model_of(agent).shown_tools == []


async def test_two_agents_of_one_toolkit_choose_for_themselves() -> None:
    """The choice is the session's, not the toolkit's."""
    toolkit = Toolkit([Probe(name) for name in NAMES])
    agents = [agent_with(Chooser(name), DONE, toolkit=toolkit) for name in NAMES[:2]]
    await asyncio.gather(*(agent.reply(UserMsg("user", "go")) for agent in agents))
    assert [model_of(agent).shown_tools for agent in agents] == [
        [["alpha", EXPAND]],
        [["beta", EXPAND]],
    ]
