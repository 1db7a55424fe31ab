"""What others got wrong about approvals, row by row.

The rows are those of "Approvals and middleware: what peers get wrong, and what to build": 1.3 lists
flaws of approvals, 1.4 says what an approval is. Those about layers are in `test_layer_rows`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from agentscope_like.agent import Agent
from agentscope_like.event import ConfirmResult, EventType, UserConfirmResultEvent
from agentscope_like.exception import ResumeError
from agentscope_like.message import (
    TextBlock,
    ToolCallState,
    ToolResultState,
    UserMsg,
)
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionDecision,
    PermissionMode,
    PermissionRule,
)
from tests.agent.kit import (
    agent_of,
    answer,
    calls_of,
    events_of,
    outline,
    reloaded,
    results_of,
    text_of,
)
from tests.tool.kit import Probe, call_of

DONE = [TextBlock(text="All done.")]
GO = UserMsg("user", "go")
Next = Callable[..., Any]


def rule(behavior: PermissionBehavior, content: str | None = None) -> PermissionRule:
    """Return a rule about the tool that asks."""
    return PermissionRule(tool_name="Ask", rule_content=content, behavior=behavior)


async def asking(*texts: str, tools: list[Probe] | None = None) -> tuple[Agent, Probe]:
    """Return an agent that waits for a yes to a call with each of these texts, and the tool."""
    probe = Probe("Ask", "ask")
    calls = [call_of("Ask", json.dumps({"text": text}), text) for text in texts]
    agent = agent_of([probe, *(tools or [])], calls, DONE)
    await events_of(agent, "go")
    return agent, probe


# 1.3: flaws of approvals


async def test_1_3_1_an_edited_approval_does_not_skip_the_policy() -> None:
    """A deny rule denies what a person wrote, and the tool stays the one that was asked about."""
    agent, probe = await asking("a")
    agent.state.permission_context.deny_rules["Ask"] = [rule(PermissionBehavior.DENY, "bad")]
    await events_of(agent, answer(agent, "a", arguments='{"text": "bad"}'))
    assert probe.runs == []
    assert results_of(agent)["a"].state is ToolResultState.DENIED
    agent, probe = await asking("a", tools=[Probe("Other")])
    other = calls_of(agent)["a"].model_copy(update={"name": "Other"})
    results = [ConfirmResult(confirmed=True, tool_call=other)]
    with pytest.raises(ResumeError, match="cannot change which tool"):
        await agent.reply(
            UserConfirmResultEvent(reply_id=agent.state.reply_id, confirm_results=results)
        )


async def test_1_3_1_an_edited_approval_that_nothing_forbids_runs() -> None:
    """The neighbour: what was edited within the policy runs without a second question."""
    agent, probe = await asking("a")
    await events_of(agent, answer(agent, "a", arguments='{"text": "good"}'))
    assert probe.runs == ["good"]


async def test_1_3_1_edited_arguments_are_validated_again() -> None:
    """Arguments that do not fit are the person's to mend: nothing runs, and the call still asks."""
    agent, probe = await asking("a")
    with pytest.raises(ResumeError, match=r"count: 0 is less than the minimum"):
        await events_of(agent, answer(agent, "a", arguments='{"count": 0}'))
    assert probe.runs == []
    assert calls_of(agent)["a"].state is ToolCallState.ASKING
    await events_of(agent, answer(agent, "a", arguments='{"text": "a", "count": 1}'))
    assert probe.runs == ["a"]


async def test_1_3_2_answers_are_matched_by_id_not_by_position() -> None:
    """The answers come in another order than the calls, and each reaches its own."""
    agent, probe = await asking("a", "b", "c")
    calls = calls_of(agent)
    results = [
        ConfirmResult(confirmed=call_id == "b", tool_call=calls[call_id])
        for call_id in ("c", "b", "a")
    ]
    await agent.reply(
        UserConfirmResultEvent(reply_id=agent.state.reply_id, confirm_results=results)
    )
    assert probe.runs == ["b"]
    assert [r.state.value for _, r in sorted(results_of(agent).items())] == [
        "denied",
        "success",
        "denied",
    ]


async def test_1_3_2_fewer_answers_than_questions_leave_the_others_waiting() -> None:
    """No call is left without a result once all is answered."""
    agent, _ = await asking("a", "b", "c")
    await events_of(agent, answer(agent, "b"))
    assert [c.id for c in agent.state.get_awaiting_tool_calls("robot")] == ["a", "c"]
    await events_of(agent, answer(agent, "c", "a"))
    assert set(results_of(agent)) == {"a", "b", "c"}


async def test_1_3_3_an_answer_that_does_not_fit_keeps_the_others_from_running() -> None:
    """All answers of an event are checked before any is acted on."""
    agent, probe = await asking("a", "b")
    good = ConfirmResult(confirmed=True, tool_call=calls_of(agent)["a"])
    unknown = ConfirmResult(confirmed=True, tool_call=call_of("Ask", call_id="nope"))
    event = UserConfirmResultEvent(reply_id=agent.state.reply_id, confirm_results=[good, unknown])
    with pytest.raises(ResumeError, match="no call 'nope'"):
        await agent.reply(event)
    assert probe.runs == []
    await events_of(agent, answer(agent, "a", "b"))
    assert sorted(probe.runs) == ["a", "b"]


async def test_1_3_3_no_answer_runs_a_call_twice() -> None:
    """The same answer again, to this process or to one with the state of now, is refused."""
    agent, probe = await asking("a", "b")
    yes = answer(agent, "a")
    await events_of(agent, yes)
    for _ in range(2):
        with pytest.raises(ResumeError):
            await agent.reply(yes)
        agent = reloaded(agent, [probe], DONE)
    assert probe.runs == ["a"]


async def test_1_3_4_the_verdict_is_stored_when_it_is_asked() -> None:
    """A policy that has become lax since does not run what the person rejects."""
    agent, probe = await asking("a")
    shown = calls_of(agent)["a"].decision
    agent.state.permission_context.mode = PermissionMode.BYPASS
    agent = reloaded(agent, [probe], DONE)
    assert calls_of(agent)["a"].decision == shown
    await events_of(agent, answer(agent, "a", confirmed=False))
    assert probe.runs == []
    assert results_of(agent)["a"].state is ToolResultState.DENIED


async def test_1_3_4_a_tool_that_would_no_longer_ask_still_waits_for_its_answer() -> None:
    """Whether a question was asked is never derived anew."""
    agent, probe = await asking("a")
    probe.opinion = PermissionBehavior.ALLOW
    agent = reloaded(agent, [probe], DONE)
    assert outline(await events_of(agent)) == ["REQUIRE_USER_CONFIRM a"]
    assert probe.runs == []


async def test_1_3_5_going_on_without_an_answer_approves_nothing() -> None:
    """A supervisor that restarts the run gets the question again, as often as it likes."""
    agent, probe = await asking("a")
    for _ in range(3):
        agent = reloaded(agent, [probe], DONE)
        assert outline(await events_of(agent)) == ["REQUIRE_USER_CONFIRM a"]
    with pytest.raises(ResumeError):
        await events_of(agent, "go on")
    assert probe.runs == []


async def test_1_3_6_an_approval_is_bound_to_what_was_shown() -> None:
    """Where the tool, or its place, is another one, a yes is asked for anew, and that is said."""

    def another_place(agent: Agent, probe: Probe) -> None:
        probe.basis = "/elsewhere"

    def another_description(agent: Agent, probe: Probe) -> None:
        probe.description = "Deletes everything."

    for change in (another_place, another_description):
        agent, probe = await asking("a")
        yes = answer(agent, "a")
        agent = reloaded(agent, [probe], DONE)
        change(agent, probe)
        agent.toolkit = type(agent.toolkit)([probe])
        assert outline(await events_of(agent, yes)) == ["REQUIRE_USER_CONFIRM a"]
        assert probe.runs == []
        asked = calls_of(agent)["a"].decision
        assert asked is not None
        assert "has changed since it was asked" in (asked.decision_reason or "")


async def test_1_3_6_what_runs_is_what_the_answer_shows() -> None:
    """A stored call that was tampered with does not take the place of the one that was shown."""
    agent, probe = await asking("a")
    yes = answer(agent, "a")
    calls_of(agent)["a"].input = '{"text": "b"}'
    agent = reloaded(agent, [probe], DONE)
    await events_of(agent, yes)
    assert probe.runs == ["a"]
    agent, probe = await asking("a")
    calls_of(agent)["a"].input = '{"text": "dangerous"}'
    await events_of(reloaded(agent, [probe], DONE), answer(agent, "a"))
    assert probe.runs == []


async def test_1_3_6_an_answer_cannot_bring_its_own_decision() -> None:
    """What the event claims about the call, but for its arguments, is not believed."""
    agent, probe = await asking("dangerous")
    claimed = calls_of(agent)["dangerous"].model_copy(
        update={
            "decision": PermissionDecision(PermissionBehavior.ALLOW, "fine"),
            "digest": "x-y",
            "state": ToolCallState.ALLOWED,
            "input": '{"text": "dangerous", "count": 2}',
        }
    )
    results = [ConfirmResult(confirmed=True, tool_call=claimed)]
    await agent.reply(
        UserConfirmResultEvent(reply_id=agent.state.reply_id, confirm_results=results)
    )
    assert probe.runs == []
    assert calls_of(agent)["dangerous"].state is ToolCallState.ASKING


async def test_1_3_6_an_answer_to_another_reply_or_session_is_refused() -> None:
    """The reply that asked is named by its id, which no other has."""
    agent, probe = await asking("a")
    yes = answer(agent, "a")
    other, _ = await asking("a")
    with pytest.raises(ResumeError, match="the agent is in"):
        await other.reply(yes)
    assert probe.runs == []


async def test_1_3_7_a_rejection_carries_a_message_and_rejects_one_call() -> None:
    """The model is told what the person said; the other call runs."""
    agent, probe = await asking("a", "b")
    await events_of(agent, answer(agent, "a", confirmed=False, message="Use the tests."))
    await events_of(agent, answer(agent, "b"))
    assert "Use the tests." in text_of(results_of(agent)["a"])
    assert probe.runs == ["b"]


async def test_1_3_8_what_is_remembered_clears_the_siblings_that_it_covers() -> None:
    """Calls that already wait run at once where the new rule allows them; no others do."""
    agent, probe = await asking("a", "b", "c")
    await events_of(agent, answer(agent, "a", rules=[rule(PermissionBehavior.ALLOW, "b")]))
    assert sorted(probe.runs) == ["a", "b"]
    assert calls_of(agent)["c"].state is ToolCallState.ASKING


async def test_1_3_8_what_is_remembered_never_clears_a_safety_question() -> None:
    """A rule for the whole tool leaves the dangerous sibling waiting for its own answer."""
    agent, probe = await asking("a", "dangerous")
    await events_of(agent, answer(agent, "a", rules=[rule(PermissionBehavior.ALLOW)]))
    assert probe.runs == ["a"]
    assert calls_of(agent)["dangerous"].state is ToolCallState.ASKING
    await events_of(agent, answer(agent, "dangerous"))
    assert probe.runs == ["a", "dangerous"]


async def test_1_3_8_a_remembered_deny_refuses_the_siblings_that_it_covers() -> None:
    """A rejection may remember as well: what it forbids is not asked about any more."""
    agent, probe = await asking("a", "b")
    no = answer(agent, "a", confirmed=False, rules=[rule(PermissionBehavior.DENY, "b")])
    await events_of(agent, no)
    assert probe.runs == []
    assert results_of(agent)["b"].state is ToolResultState.DENIED


# 1.4: what an approval is


async def test_1_4_a_question_says_what_why_and_what_would_spare_it() -> None:
    """It has the call, the arguments, the reason, and rules that were tried; each is stored."""
    agent, probe = await asking("a", "dangerous")
    agent = reloaded(agent, [probe], DONE)
    events = [e for e in await events_of(agent) if e.type is EventType.REQUIRE_USER_CONFIRM]
    asked = {call.id: call for event in events for call in event.tool_calls}
    assert (asked["a"].name, asked["a"].input) == ("Ask", '{"text": "a"}')
    decision = asked["a"].decision
    assert decision is not None
    assert decision.message == "Ask wants to run."
    assert [str(one) for one in asked["a"].suggested_rules] == ["allow Ask"]
    assert asked["dangerous"].suggested_rules == []  # no rule could spare a safety question


async def test_1_4_the_model_is_told_that_a_person_edited_its_call() -> None:
    """The arguments that ran are in the history, and the result says whose they are."""
    agent, _ = await asking("a")
    await events_of(agent, answer(agent, "a", arguments='{"text": "better"}'))
    assert calls_of(agent)["a"].input == '{"text": "better"}'
    assert text_of(results_of(agent)["a"]).startswith("(The user edited the arguments")
