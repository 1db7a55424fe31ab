"""Traps that were found in the original of seed 004, each shown closed.

What a person did not approve does not run: not by a new message, a restart, a label, a claim, a
sub-agent or a call past the toolkit. Each has a neighbour that runs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.agent import Agent
from agentscope_like.exception import GrantError, ResumeError
from agentscope_like.message import TextBlock, ToolCallBlock, ToolResultState, UserMsg
from agentscope_like.permission import PermissionBehavior
from agentscope_like.tool import FunctionTool, Toolkit
from agentscope_like.typed import (
    Action,
    Observation,
    ToolAnnotations,
    ToolConversation,
    ToolDefinition,
    ToolExecutor,
)
from tests.agent.kit import agent_of, answer, calls_of, events_of, outline, reloaded, results_of
from tests.typed.kit import Touch, TouchExecutor, TouchTool, state_in, touch_tool

DONE = [TextBlock(text="done")]


def asked(call_id: str = "c1", name: str = "touch", **arguments: Any) -> ToolCallBlock:
    """Return a call of the model."""
    return ToolCallBlock(id=call_id, name=name, input=json.dumps(arguments))


# What waits


async def test_a_new_message_approves_nothing() -> None:
    """While a call waits, a message is refused, and the call does not run; a yes runs it."""
    tool, executor = touch_tool()
    agent = agent_of([tool], [asked()], DONE)
    assert outline(await events_of(agent, "go"))[-1] == "REQUIRE_USER_CONFIRM c1"
    with pytest.raises(ResumeError):
        await agent.reply(UserMsg("user", "NO. Do not run that. Stop."))
    assert executor.actions == []
    await agent.reply(answer(agent, "c1"))
    assert len(executor.actions) == 1


async def test_a_restart_approves_nothing() -> None:
    """A waiting call that was saved and read again asks again; it does not run unasked."""
    tool, executor = touch_tool()
    before = agent_of([tool], [asked()], DONE)
    await events_of(before, "go")
    after = reloaded(before, [tool], DONE)
    assert outline(await events_of(after))[-1] == "REQUIRE_USER_CONFIRM c1"
    assert executor.actions == []
    await after.reply(answer(after, "c1", confirmed=False))
    assert executor.actions == []
    assert results_of(after)["c1"].state is ToolResultState.DENIED


async def test_a_batch_is_answered_call_by_call() -> None:
    """Of three calls only the risky one asks; each is answered by itself, also with an edit."""
    tool, executor = touch_tool(trust=True, asks_for_risk=True, is_concurrency_safe=True)
    risks = zip(("a", "b", "c"), ("LOW", "HIGH", "LOW"), strict=True)
    batch = [asked(name, hosts=[], security_risk=risk) for name, risk in risks]
    agent = agent_of([tool], batch, DONE)
    lines = outline(await events_of(agent, "go"))
    assert [line for line in lines if line.startswith("REQUIRE")] == ["REQUIRE_USER_CONFIRM b"]
    assert len(executor.actions) == 2
    await agent.reply(answer(agent, "b", arguments='{"commands": ["ls"]}'))
    assert executor.actions[2:] == [Touch(commands=("ls",))]


async def test_of_two_waiting_calls_one_answer_runs_one() -> None:
    """An answer to one call leaves the other one waiting."""
    tool, executor = touch_tool(is_concurrency_safe=True)
    agent = agent_of([tool], [asked("a", lists=["."]), asked("b", lists=["/"])], DONE)
    await events_of(agent, "go")
    await events_of(agent, answer(agent, "b"))
    assert executor.actions == [Touch(lists=("/",))]
    assert calls_of(agent)["a"].state == "asking"


# What the model says of a call


@pytest.mark.parametrize("label", ["LOW", "UNKNOWN", "low", None])
async def test_a_label_never_makes_a_call_ask_less(label: str | None, tmp_path: Path) -> None:
    """`rm -rf /`, labelled as harmless, asks as it does without a label."""
    tool, executor = touch_tool(trust=True, asks_for_risk=True, cwd=tmp_path)
    arguments = {} if label is None else {"security_risk": label}
    for mode in ("default", "accept_edits"):
        call = asked(commands=["rm -rf /"], **arguments)
        decided = await Toolkit([tool]).decide(call, state_in(mode, "allow touch"))
        assert decided.decision is not None
        assert decided.decision.behavior is PermissionBehavior.ASK
        assert decided.decision.bypass_immune
    assert executor.actions == []


HIGH = ["HIGH", "high", "CRITICAL", 3, ["LOW"], {"level": "LOW"}]
LOW = ["LOW", "MEDIUM", "UNKNOWN", "unknown ", "", None]


@pytest.mark.parametrize("label", [*HIGH, *LOW])
@pytest.mark.parametrize(("mode", "rule"), [("default", "allow touch"), ("bypass", "ask Bash")])
async def test_a_high_label_asks_where_the_call_would_run(
    label: object, mode: str, rule: str
) -> None:
    """HIGH, or what is no label, asks in spite of rules and mode; any other changes nothing."""
    tool, executor = touch_tool(trust=True, asks_for_risk=True)
    call = asked(lists=["."], security_risk=label)
    decided = await Toolkit([tool]).decide(call, state_in(mode, rule))
    assert decided.arguments == {"lists": ["."]}
    plain = await Toolkit([tool]).decide(asked(lists=["."]), state_in(mode, rule))
    assert plain.behavior is PermissionBehavior.ALLOW
    expected = PermissionBehavior.ASK if label in HIGH else PermissionBehavior.ALLOW
    assert decided.behavior is expected
    if label in HIGH:
        assert "high risk" in decided.message
    else:
        assert decided.call.digest == plain.call.digest  # the label is no argument
    assert executor.actions == []


async def test_a_high_label_is_denied_where_nobody_can_be_asked() -> None:
    """In DONT_ASK, what would ask is denied."""
    tool, _ = touch_tool(trust=True, asks_for_risk=True)
    call = asked(lists=["."], security_risk="HIGH")
    decided = await Toolkit([tool]).decide(call, state_in("dont_ask"))
    assert decided.behavior is PermissionBehavior.DENY
    decided = await Toolkit([tool]).decide(asked(lists=["."]), state_in("dont_ask"))
    assert decided.behavior is PermissionBehavior.ALLOW


async def test_a_yes_to_a_call_of_high_risk_is_enough() -> None:
    """The person sees the arguments without the label, and one answer runs the call."""
    tool, executor = touch_tool(trust=True, asks_for_risk=True)
    agent = agent_of(
        [tool], [asked(lists=["."], security_risk="HIGH")], DONE, state=state_in("bypass")
    )
    events = await events_of(agent, "go")
    (shown,) = [call for event in events for call in getattr(event, "tool_calls", ())]
    assert json.loads(shown.input) == {"lists": ["."]}
    assert executor.actions == []
    await agent.reply(answer(agent, "c1"))
    assert executor.actions == [Touch(lists=(".",))]


async def test_the_label_is_no_argument_of_a_tool_that_has_one_of_its_name() -> None:
    """A tool that needs `security_risk` gets its own, and the label has another name."""

    class Rate(Action):
        security_risk: str

    class Rater(ToolExecutor[Rate, Observation]):
        inline = True

        def __call__(
            self, action: Rate, conversation: ToolConversation | None = None
        ) -> Observation:
            return Observation.from_text(f"rated {action.security_risk}")

    tool = ToolDefinition[Rate, Observation](
        name="rate",
        description="Rates.",
        action_type=Rate,
        executor=Rater(),
        asks_for_risk=True,
    )
    agent = agent_of(
        [tool],
        [asked("a", "rate", security_risk="HIGH", security_risk_="LOW")],
        [asked("b", "rate", security_risk="LOW", security_risk_="HIGH")],
        state=state_in("bypass"),
    )
    lines = outline(await events_of(agent, "go"))
    assert "TOOL_RESULT_END a success" in lines
    assert lines[-1] == "REQUIRE_USER_CONFIRM b"


async def test_any_tool_may_ask_for_the_label() -> None:
    """A function tool that asks for the label never gets it, and HIGH makes its call ask."""

    def greet(name: str) -> str:
        return f"hello {name}"

    tool = FunctionTool(greet)
    tool.asks_for_risk = True
    toolkit, state = Toolkit([tool]), state_in("bypass")
    shown = [one["function"] for one in await toolkit.get_tool_schemas()]
    (told,) = [one["parameters"] for one in shown if one["name"] == "greet"]
    assert list(told["properties"]) == ["security_risk", "name"]
    decided = await toolkit.decide(asked(name="greet"), state)
    assert decided.refusal is not None  # a name is missing
    for label, behavior in [("LOW", PermissionBehavior.ALLOW), ("HIGH", PermissionBehavior.ASK)]:
        call = ToolCallBlock(
            id="c", name="greet", input=json.dumps({"security_risk": label, "name": "you"})
        )
        assert (await toolkit.decide(call, state)).behavior is behavior


# What a tool says of itself


class BlindTool(ToolDefinition[Touch, Observation]):
    """Says nothing of what it does."""

    description = "Does something."


def claiming(*, trust: bool, **hints: Any) -> tuple[BlindTool, TouchExecutor]:
    """Return a tool with claims about itself."""
    executor: Any = TouchExecutor()
    claims = ToolAnnotations(**hints)
    tool = BlindTool(executor=executor, annotations=claims, trust=trust, asks_for_risk=True)
    return tool, executor


async def test_a_claim_to_read_only_runs_nothing_that_nobody_trusts() -> None:
    """A tool that says `readOnlyHint`, and a model that says LOW, do not make a call run."""
    tool, executor = claiming(trust=False, readOnlyHint=True, destructiveHint=False)
    for mode in ("default", "accept_edits", "explore", "dont_ask"):
        call = asked(name="blind", security_risk="LOW")
        decided = await Toolkit([tool]).decide(call, state_in(mode))
        assert decided.behavior is not PermissionBehavior.ALLOW
    assert executor.actions == []


async def test_a_claim_to_read_only_does_not_silence_a_high_label() -> None:
    """A trusted claim runs a call in EXPLORE, and one that the model calls risky asks."""
    tool, _ = claiming(trust=True, readOnlyHint=True)
    toolkit, state = Toolkit([tool]), state_in("explore")
    said = await toolkit.decide(asked(name="blind", security_risk="LOW"), state)
    assert said.behavior is PermissionBehavior.ALLOW
    said = await toolkit.decide(asked(name="blind", security_risk="HIGH"), state)
    assert said.behavior is PermissionBehavior.ASK


@pytest.mark.parametrize("mode", ["default", "accept_edits", "explore", "dont_ask", "bypass"])
@pytest.mark.parametrize("trust", [False, True])
async def test_what_only_reads_never_asks_more_than_what_changes(mode: str, trust: bool) -> None:
    """With one label and one trust, a tool that claims to read only is not asked about more."""
    strictness = {
        PermissionBehavior.ALLOW: 0,
        PermissionBehavior.ASK: 1,
        PermissionBehavior.DENY: 2,
    }
    reading, _ = claiming(trust=trust, readOnlyHint=True, destructiveHint=False)
    changing, _ = claiming(trust=trust)
    found = []
    for tool in (reading, changing):
        call = asked(name="blind", security_risk="LOW")
        found.append((await Toolkit([tool]).decide(call, state_in(mode))).behavior)
    assert strictness[found[0]] <= strictness[found[1]]


# Other ways to an executor


async def test_no_call_goes_past_the_toolkit() -> None:
    """Neither the tool nor a spent grant runs an executor; the decided call does, once."""
    tool, executor = touch_tool(trust=True)
    toolkit, state = Toolkit([tool]), state_in()
    for arguments in ({}, {"lists": ["."]}, {"_agent_state": state}):
        with pytest.raises(GrantError):
            await tool(**arguments)
    with pytest.raises(GrantError):
        await tool.call(_agent_state=state, _prepared_call=None)
    other, _ = touch_tool(trust=True)
    strange = await other.prepare_call({}, state.permission_context, state)
    with pytest.raises(GrantError):
        await tool.call(_agent_state=state, _prepared_call=strange)
    assert executor.actions == []
    decided = await toolkit.decide(asked(), state)
    assert decided.grant is not None
    assert [item async for item in toolkit.run(decided.grant, state)]
    with pytest.raises(GrantError, match="spent"):
        toolkit.run(decided.grant, state)
    assert len(executor.actions) == 1


class Hand(Action):
    """A task for another agent."""

    task: str


class Handing(ToolExecutor[Hand, Observation]):
    """Has another agent reply, and answers nothing for the person."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    async def __call__(  # type: ignore[override]
        self, action: Hand, conversation: ToolConversation | None = None
    ) -> Observation:
        message = await self.agent.reply(UserMsg("user", action.task))
        return Observation.from_text(message.get_text_content() or "")


async def test_what_a_sub_agent_asks_is_approved_by_nobody() -> None:
    """An agent that runs inside a tool waits for its own answer; the outer yes is none."""
    tool, executor = touch_tool()
    inner = agent_of([tool], [asked("inner")], DONE)
    hand = ToolDefinition[Hand, Observation](
        name="hand", description="Hands on.", action_type=Hand, executor=Handing(inner)
    )
    outer = agent_of([hand], [asked("outer", "hand", task="touch it")], DONE)
    await events_of(outer, "go")
    await outer.reply(answer(outer, "outer"))
    assert executor.actions == []
    assert calls_of(inner)["inner"].state == "asking"
    await inner.reply(answer(inner, "inner"))
    assert len(executor.actions) == 1


async def test_a_denial_reaches_a_sub_agent() -> None:
    """A deny rule of the session that a sub-agent shares holds for its typed tools."""
    tool, executor = touch_tool(trust=True)
    state = state_in("bypass", "deny Bash(rm:*)")
    shared = state.permission_context
    inner = agent_of([tool], [asked("x", commands=["rm a"]), asked("y", commands=["ls"])], DONE)
    inner.state.permission_context = shared
    hand = ToolDefinition[Hand, Observation](
        name="hand", description="Hands on.", action_type=Hand, executor=Handing(inner)
    )
    outer = agent_of([hand], [asked("outer", "hand", task="clean up")], DONE, state=state)
    await outer.reply(UserMsg("user", "go"))
    assert executor.actions == [Touch(commands=("ls",))]


def test_no_class_trusts_itself() -> None:
    """Trust is given to the tool by who adds it: a class that has it is refused."""
    from agentscope_like.exception import ConfigurationError

    for name in ("trust", "is_read_only", "touches_only_agent_state"):
        with pytest.raises(ConfigurationError, match=name):
            type("SlyTool", (TouchTool,), {"__module__": __name__, name: True})
        mixin = type("Mixin", (), {"__module__": __name__, name: True})
        with pytest.raises(ConfigurationError, match=name):
            type("SlyTool", (mixin, TouchTool), {"__module__": __name__})
    tool, _ = touch_tool()
    with pytest.raises(AttributeError):
        tool.trust = True  # type: ignore[misc]
