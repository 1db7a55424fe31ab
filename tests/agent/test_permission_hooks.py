"""Layers around a decision: they can only tighten it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from agentscope_like.exception import ConfigurationError
from agentscope_like.message import (
    TextBlock,
    ToolCallState,
    ToolResultState,
    UserMsg,
)
from agentscope_like.permission import PermissionBehavior, PermissionDecision, PermissionMode
from tests.agent.kit import (
    agent_of,
    answer,
    calls_of,
    events_of,
    reloaded,
    results_of,
    text_of,
)
from tests.agent.layers import Around
from tests.tool.kit import Probe, call_of

DONE = [TextBlock(text="All done.")]
GO = UserMsg("user", "go")
Next = Callable[..., Any]


async def deny(agent: Any, inputs: dict[str, Any], go_on: Next) -> PermissionDecision:
    """Deny every call."""
    return PermissionDecision(PermissionBehavior.DENY, "Not today.")


async def allow(agent: Any, inputs: dict[str, Any], go_on: Next) -> PermissionDecision:
    """Allow every call without asking further."""
    return PermissionDecision(PermissionBehavior.ALLOW, "Sure.")


async def fail(agent: Any, inputs: dict[str, Any], go_on: Next) -> PermissionDecision:
    """Fail."""
    raise KeyError("oops")


async def say_nothing(agent: Any, inputs: dict[str, Any], go_on: Next) -> Any:
    """Return what is no decision."""
    return None


async def ask(agent: Any, inputs: dict[str, Any], go_on: Next) -> PermissionDecision:
    """Ask about every call."""
    return PermissionDecision(PermissionBehavior.ASK, "Are you sure?")


@pytest.mark.parametrize(
    ("hook", "tool", "state"),
    [
        (deny, Probe(), ToolCallState.FINISHED),
        (ask, Probe(), ToolCallState.ASKING),
        (allow, Probe(), ToolCallState.FINISHED),
        (allow, Probe(opinion="ask"), ToolCallState.ASKING),
        (allow, Probe(opinion="deny"), ToolCallState.FINISHED),
        (fail, Probe(), ToolCallState.ASKING),
        (say_nothing, Probe(), ToolCallState.ASKING),
    ],
)
async def test_a_permission_hook_can_only_tighten(
    hook: Any, tool: Probe, state: ToolCallState
) -> None:
    """ALLOW may become ASK or DENY, never the reverse; a hook that fails is asked about."""
    tool.runs.clear()
    agent = agent_of([tool], [call_of()], DONE, middlewares=[Around(on_check_permission=hook)])
    await events_of(agent, "go")
    assert calls_of(agent)["c1"].state is state
    ran = hook is allow and tool.opinion is PermissionBehavior.ALLOW
    assert tool.runs == (["hi"] if ran else [])


async def test_an_outer_permission_hook_cannot_loosen_an_inner_one() -> None:
    """What an inner layer denied stays denied, whatever the outer one makes of it."""

    async def ignore(agent: Any, inputs: dict[str, Any], go_on: Next) -> PermissionDecision:
        await go_on()
        return PermissionDecision(PermissionBehavior.ALLOW, "Never mind.")

    probe = Probe()
    layers = [Around(on_check_permission=ignore), Around(on_check_permission=deny)]
    agent = agent_of([probe], [call_of()], DONE, middlewares=layers)
    await agent.reply(GO)
    assert probe.runs == []
    assert "Not today." in text_of(results_of(agent)["c1"])


async def test_a_permission_hook_may_change_the_arguments_before_the_decision() -> None:
    """What was decided upon is what runs, and what the person is shown."""

    async def calm(agent: Any, inputs: dict[str, Any], go_on: Next) -> PermissionDecision:
        return cast("PermissionDecision", await go_on(tool_input={"text": "calm"}))

    probe = Probe(opinion="ask")
    agent = agent_of([probe], [call_of()], DONE, middlewares=[Around(on_check_permission=calm)])
    await events_of(agent, "go")
    decision = calls_of(agent)["c1"].decision
    assert decision is not None
    assert decision.updated_input == {"text": "calm"}
    agent = reloaded(agent, [probe], DONE)
    await events_of(agent, answer(agent, "c1"))
    assert probe.runs == ["calm"]


async def test_a_permission_hook_cannot_change_which_call_it_is_about() -> None:
    """Another call, or another tool, in the place of the one to decide is the developer's error."""
    probe = Probe()

    async def swap(agent: Any, inputs: dict[str, Any], go_on: Next) -> PermissionDecision:
        return cast("PermissionDecision", await go_on(tool=Probe("Other")))

    async def rewrite(agent: Any, inputs: dict[str, Any], go_on: Next) -> PermissionDecision:
        inputs["tool_call"].input = '{"text": "else"}'
        return cast("PermissionDecision", await go_on())

    for hook in (swap, rewrite):
        agent = agent_of([probe], [call_of()], middlewares=[Around(on_check_permission=hook)])
        with pytest.raises(ConfigurationError, match="change `tool_input` instead"):
            await agent.reply(GO)
    assert probe.runs == []


async def test_what_a_permission_hook_does_to_what_it_is_shown_changes_nothing() -> None:
    """The call and the arguments that it gets are copies."""

    async def scribble(agent: Any, inputs: dict[str, Any], go_on: Next) -> PermissionDecision:
        decision = await go_on()
        inputs["tool_input"]["text"] = "other"
        inputs["tool_call"].name = "Other"
        return cast("PermissionDecision", decision)

    probe = Probe()
    agent = agent_of([probe], [call_of()], DONE, middlewares=[Around(on_check_permission=scribble)])
    await agent.reply(GO)
    assert probe.runs == ["hi"]


async def test_nobody_is_asked_in_the_mode_without_anybody() -> None:
    """A hook that asks, in that mode, denies."""
    probe = Probe()
    agent = agent_of([probe], [call_of()], DONE, middlewares=[Around(on_check_permission=ask)])
    agent.state.permission_context.mode = PermissionMode.DONT_ASK
    await agent.reply(GO)
    assert results_of(agent)["c1"].state is ToolResultState.DENIED


async def test_who_acts_outside_is_told_of_what_was_decided() -> None:
    """An external call, and a question, say what a hook made of the arguments, not what it was."""

    async def calm(agent: Any, inputs: dict[str, Any], go_on: Next) -> PermissionDecision:
        return cast("PermissionDecision", await go_on(tool_input={"text": "calm"}))

    for external in (False, True):
        probe = Probe(opinion="allow" if external else "ask", external=external)
        agent = agent_of([probe], [call_of()], DONE, middlewares=[Around(on_check_permission=calm)])
        (event,) = [e for e in await events_of(agent, "go") if hasattr(e, "tool_calls")]
        assert [call.input for call in event.tool_calls] == ['{"text": "calm"}']
