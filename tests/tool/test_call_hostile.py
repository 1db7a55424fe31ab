"""Calls and answers that are huge, deep, doubled or made up."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from agentscope_like.event import ConfirmResult
from agentscope_like.exception import ResumeError
from agentscope_like.message import ToolCallBlock, ToolCallState, ToolResultState
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionDecision,
    PermissionRule,
    RuleError,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit
from tests.tool.kit import Probe, call_of, outcome, text_of

# What a model sends


def _nested(depth: int, opening: str, closing: str) -> str:
    return '{"text":' + opening * depth + "1" + closing * depth + "}"


def _open() -> Probe:
    probe = Probe()
    probe.input_schema = {"type": "object", "properties": {"text": {}}}
    return probe


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
async def test_depth_is_bounded_far_from_any_recursion_limit(opening: str, closing: str) -> None:
    """A hundred levels run; more is told to the model, however much more."""
    for depth, state in ((99, ToolResultState.SUCCESS), (100, ToolResultState.ERROR)):
        call = call_of(arguments=_nested(depth, opening, closing))
        response = await outcome(Toolkit([_open()]), call, AgentState())
        assert response is not None
        assert response.state is state
    for depth in (500, 900, 980, 5_000, 100_000):
        call = call_of(arguments=_nested(depth, opening, closing))
        response = await outcome(Toolkit([_open()]), call, AgentState())
        assert "nested too deeply" in text_of(response)


@pytest.mark.parametrize(
    "call",
    [
        call_of("N" * 1_000_000),
        call_of(arguments=json.dumps({"k" * 1_000_000: 1})),
        call_of(arguments=json.dumps({f"k{n}": 1 for n in range(20_000)})),
        call_of(arguments="{" + ",".join([f'"{"k" * 500_000}": 1'] * 2) + "}"),
        call_of(arguments=json.dumps({"count": "9" * 1_000_000})),
    ],
    ids=["name", "key", "keys", "key twice", "value"],
)
async def test_a_large_mistake_gets_a_small_answer(call: ToolCallBlock) -> None:
    """The model is told what is wrong, not all that it wrote."""
    response = await outcome(Toolkit([Probe()]), call, AgentState())
    assert response is not None
    assert response.state is ToolResultState.ERROR
    assert len(text_of(response)) < 2_000


# Answers


class Thoughtful(Probe):
    """Asks, and takes its time to decide; what it says of danger can change."""

    danger = ""

    async def check_permissions(self, tool_input: Any, context: Any) -> PermissionDecision:
        await asyncio.sleep(0.01)
        return PermissionDecision(
            PermissionBehavior.ASK, self.danger or "Sure?", bypass_immune=bool(self.danger)
        )


async def _asked(toolkit: Toolkit, state: AgentState) -> tuple[ToolCallBlock, ConfirmResult]:
    call = call_of()
    await toolkit.decide(call, state)
    assert call.state is ToolCallState.ASKING
    return call, ConfirmResult(confirmed=True, tool_call=call.model_copy(deep=True))


async def test_two_answers_at_once_grant_once() -> None:
    """Whoever comes second finds that the call no longer asks."""
    probe, state = Thoughtful(), AgentState()
    toolkit = Toolkit([probe])
    call, yes = await _asked(toolkit, state)
    results = await asyncio.gather(
        toolkit.confirm(call, yes, state),
        toolkit.confirm(call, yes, state),
        return_exceptions=True,
    )
    assert [isinstance(result, ResumeError) for result in results] == [False, True]


async def test_an_answer_that_could_not_be_taken_can_be_given_again() -> None:
    """A policy that is in error, or a cancellation, leaves the call asking as it was asked."""
    probe, state = Thoughtful(), AgentState()
    toolkit = Toolkit([probe])
    call, yes = await _asked(toolkit, state)
    before = call.model_copy(deep=True)
    edited = yes.model_copy(
        update={"tool_call": call.model_copy(update={"input": '{"text": "other"}'})}
    )
    wrong = PermissionRule(tool_name="Prove", behavior=PermissionBehavior.DENY)
    state.permission_context.deny_rules["Prove"] = [wrong]
    with pytest.raises(RuleError):
        await toolkit.confirm(call, edited, state)
    assert call == before
    state.permission_context.deny_rules.clear()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(toolkit.confirm(call, edited, state), 0.001)
    assert call == before
    assert (await toolkit.confirm(call, yes, state)).grant is not None


async def test_a_yes_to_one_danger_is_none_to_another() -> None:
    """A safety check that says something else than what was shown is asked about again."""
    probe, state = Thoughtful(), AgentState()
    toolkit = Toolkit([probe])
    probe.danger = "It overwrites notes.txt."
    call, yes = await _asked(toolkit, state)
    probe.danger = "It overwrites .bashrc."
    assert (await toolkit.confirm(call, yes, state)).grant is None
    assert call.state is ToolCallState.ASKING
    assert "the current finding was not shown before" in str(call.decision)
    assert (await toolkit.confirm(call, yes, state)).grant is not None


async def test_what_an_answer_says_of_the_call_is_not_believed() -> None:
    """State, decision, digest and suggestions of the answer's call are the sender's inventions."""
    probe, state = Thoughtful(), AgentState()
    toolkit = Toolkit([probe])
    probe.danger = "It formats the disk."
    call, _ = await _asked(toolkit, state)
    tampered = call.model_copy(
        update={
            "state": ToolCallState.ALLOWED,
            "decision": PermissionDecision(PermissionBehavior.ALLOW, "fine"),
            "digest": "0-0",
            "suggested_rules": [PermissionRule(tool_name="Probe", behavior="allow")],  # type: ignore[arg-type]
            "input": '{"text": "other"}',
        }
    )
    decided = await toolkit.confirm(call, ConfirmResult(confirmed=True, tool_call=tampered), state)
    assert decided.grant is None
    assert call.state is ToolCallState.ASKING
    assert call.suggested_rules == []


async def test_a_call_that_says_it_is_allowed_is_decided_all_the_same() -> None:
    """The state of a call block grants nothing."""
    probe, state = Probe(opinion="ask"), AgentState()
    for claimed in ToolCallState:
        call = call_of().model_copy(update={"state": claimed, "digest": "0-0"})
        assert await outcome(Toolkit([probe]), call, state) is None
        assert call.state is ToolCallState.ASKING
    assert probe.runs == []


@pytest.mark.parametrize("was_external", [True, False])
async def test_a_yes_to_work_outside_is_none_to_work_here(was_external: bool) -> None:
    """A tool that changes sides after it asked is asked about again, also by a new process."""
    for new_process in (True, False):
        asked = Probe(opinion="ask", external=was_external)
        toolkit, state = Toolkit([asked]), AgentState()
        call, yes = await _asked(toolkit, state)
        if new_process:
            toolkit = Toolkit([Probe(opinion="ask", external=not was_external)])
        asked.is_external_tool = not was_external
        assert (await toolkit.confirm(call, yes, state)).grant is None
        assert call.state is ToolCallState.ASKING
        decided = await toolkit.confirm(call, yes, state)
        assert (decided.grant is not None) is was_external
        assert call.state.value == ("allowed" if was_external else "submitted")


async def test_a_question_that_lost_its_decision_is_asked_anew() -> None:
    """A yes without a decision that it could be a yes to grants nothing; a no is a no."""
    toolkit, state = Toolkit([Probe(opinion="ask")]), AgentState()
    call, yes = await _asked(toolkit, state)
    call.decision = None
    assert (await toolkit.confirm(call, yes, state)).grant is None
    assert call.decision is not None
    assert (await toolkit.confirm(call, yes, state)).grant is not None
    call, yes = await _asked(toolkit, state)
    call.decision = None
    no = yes.model_copy(update={"confirmed": False})
    assert (await toolkit.confirm(call, no, state)).refusal is not None
