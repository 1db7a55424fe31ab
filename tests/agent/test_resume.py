"""A reply that waits ends in the same way, however and wherever its answers come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from agentscope_like.agent import Agent, AgentInput
from agentscope_like.event import (
    ConfirmResult,
    ExternalExecutionResultEvent,
    UserConfirmResultEvent,
)
from agentscope_like.exception import ResumeError
from agentscope_like.message import (
    TextBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from agentscope_like.model.openai.formatter import format_messages
from tests.agent.kit import Block, agent_of, model_of, reloaded, results_of, text_of
from tests.agent.test_middlewares import Tracing
from tests.tool.kit import Probe, call_of

DONE = [TextBlock(id="done", text="All done.")]
KINDS = ("Ok", "Ask", "Ext", "Seq", "AskSeq", "Deny", "Nope")


class Plan(Struct, frozen=True):
    """What a model calls in two rounds, and what each question is answered."""

    kinds: tuple[str, ...]
    verdicts: tuple[str, ...]
    first: int

    def turns(self) -> list[Sequence[Block]]:
        """Return the model's turns; the text of each call is its id, so that runs are counted."""
        calls = [call_of(kind, f'{{"text": "c{n}"}}', f"c{n}") for n, kind in enumerate(self.kinds)]
        return [*filter(None, (calls[: self.first], calls[self.first :])), DONE]

    def verdict(self, call: ToolCallBlock) -> str:
        """Return what is answered about a call."""
        return self.verdicts[int(call.id[1:])]

    def runs(self) -> Counter[str]:
        """Return what must have run in the end."""
        ran: Counter[str] = Counter()
        for n, (kind, verdict) in enumerate(zip(self.kinds, self.verdicts, strict=True)):
            if kind in ("Ok", "Seq"):
                ran[f"c{n}"] += 1
            elif kind in ("Ask", "AskSeq") and verdict != "no":
                ran[f"c{n}" if verdict == "yes" else f"c{n} edited"] += 1
        return ran


plans = st.tuples(
    st.lists(
        st.tuples(st.sampled_from(KINDS), st.sampled_from(["yes", "no", "edit"])),
        min_size=1,
        max_size=7,
    ),
    st.integers(0, 7),
).map(lambda drawn: Plan(tuple(k for k, _ in drawn[0]), tuple(v for _, v in drawn[0]), drawn[1]))


def tools() -> list[Probe]:
    """Return a tool of each kind."""
    return [
        Probe("Ok"),
        Probe("Ask", "ask"),
        Probe("Ext", external=True),
        Probe("Seq", concurrent=False),
        Probe("AskSeq", "ask", concurrent=False),
        Probe("Deny", "deny"),
    ]


def answer_to(agent: Agent, plan: Plan, calls: Sequence[ToolCallBlock]) -> AgentInput:
    """Return one event that answers these calls, all of which wait for the same."""
    reply_id = agent.state.reply_id
    if calls[0].state is ToolCallState.SUBMITTED:
        return ExternalExecutionResultEvent(
            reply_id=reply_id,
            execution_results=[
                ToolResultBlock(
                    id=call.id, name=call.name, output="outside", state=ToolResultState.SUCCESS
                )
                for call in calls
            ],
        )
    results = []
    for call in calls:
        verdict, tool_call = plan.verdict(call), call.model_copy(deep=True)
        if verdict == "edit":
            tool_call.input = f'{{"text": "{call.id} edited"}}'
        results.append(
            ConfirmResult(confirmed=verdict != "no", tool_call=tool_call, message="Rather not.")
        )
    return UserConfirmResultEvent(reply_id=reply_id, confirm_results=results)


def waiting(agent: Agent) -> dict[ToolCallState, list[ToolCallBlock]]:
    """Return the calls that wait, by what they wait for."""
    found: dict[ToolCallState, list[ToolCallBlock]] = {}
    for call in agent.state.get_awaiting_tool_calls("robot"):
        found.setdefault(call.state, []).append(call)
    return found


async def final(agent: Agent, kit: list[Probe]) -> tuple[Any, Any, Counter[str]]:
    """Return what the model was told at last, what the state holds of it, and what ran."""
    told = format_messages(model_of(agent).seen[-1])
    results = {i: (text_of(r), r.state) for i, r in sorted(results_of(agent).items())}
    return told, results, Counter(text for tool in kit for text in tool.runs)


async def in_order(plan: Plan, layers: list[Tracing]) -> tuple[Any, Any, Counter[str]]:
    """Answer all that waits, in the order of the calls, in one process."""
    kit = tools()
    agent = agent_of(kit, *plan.turns(), middlewares=layers)
    await agent.reply(UserMsg("user", "go"))
    while groups := waiting(agent):
        for calls in groups.values():
            await agent.reply(answer_to(agent, plan, calls))
    return await final(agent, kit)


@settings(max_examples=80, deadline=None)
@given(plans, st.data())
async def test_however_the_answers_come_the_reply_ends_the_same(
    plan: Plan, data: st.DataObject
) -> None:
    """The model is told the same in the end, and each call ran once, or not at all, as it should.

    Answers come in any order, some at once, each to this process or another, between resumes
    without any and answers that were given before.
    """
    kit = tools()
    layers = [Tracing("a", [])] if data.draw(st.booleans(), label="hooks") else []
    agent = agent_of(kit, *plan.turns(), middlewares=layers)
    await agent.reply(UserMsg("user", "go"))
    given_before: list[AgentInput] = []
    while groups := waiting(agent):
        if data.draw(st.booleans(), label="restart"):
            agent = reloaded(agent, kit, *model_of(agent).turns)
            groups = waiting(agent)
        match data.draw(st.sampled_from(["answer", "answer", "none", "again"]), label="step"):
            case "none":
                await agent.reply()
            case "again" if given_before:
                before = agent.state.model_dump_json()
                with suppress(ResumeError):
                    await agent.reply(data.draw(st.sampled_from(given_before), label="which"))
                    pytest.fail("an answer was taken twice")
                assert agent.state.model_dump_json() == before
            case _:
                group = data.draw(st.sampled_from(list(groups.values())), label="kind")
                some = data.draw(
                    st.lists(st.sampled_from(group), unique_by=lambda c: c.id, min_size=1),
                    label="answered",
                )
                given_before.append(answer_to(agent, plan, some))
                await agent.reply(given_before[-1])
        assert max(Counter(text for tool in kit for text in tool.runs).values(), default=0) <= 1
    reached = await final(agent, kit)
    assert reached == await in_order(plan, layers)
    assert reached[2] == plan.runs()
