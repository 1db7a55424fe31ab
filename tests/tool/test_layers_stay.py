"""Layers stay on the way that was taken: once, in time, and with what is theirs to change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from typing import Any

import pytest

from agentscope_like.exception import ConfigurationError, GrantError
from agentscope_like.message import ToolCallState, ToolResultState
from agentscope_like.middleware import RetryMiddleware
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionMode,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolBase, ToolGroup, Toolkit, ToolMiddlewareBase
from tests.tool.kit import Probe, call_of, chunk_of, outcome, text_of

ALLOWED = PermissionDecision(PermissionBehavior.ALLOW, "Fine.")
DENIED = PermissionDecision(PermissionBehavior.DENY, "The guard says no.")


class Layer(ToolMiddlewareBase):
    """A layer of a tool that is one function."""

    def __init__(self, work: Callable[..., AsyncGenerator[Any, None]]) -> None:
        self.work = work

    def on_tool_call(
        self, tool: Any, input_kwargs: dict[str, Any], next_handler: Any
    ) -> AsyncGenerator[Any, None]:
        return self.work(tool, input_kwargs, next_handler)


async def run(toolkit: Toolkit, grant: Any, state: AgentState) -> None:
    """Run a grant to its end."""
    async for _ in toolkit.run(grant, state):
        pass


# Decision layers


async def twice(request: Any, go_on: Any) -> PermissionDecision:
    """Ask about other arguments first."""
    await go_on(request.with_arguments({"text": "dangerous"}))
    decision: PermissionDecision = await go_on(request)
    return decision


async def twice_and_silent(request: Any, go_on: Any) -> PermissionDecision:
    """Hide what went wrong at the second time."""
    await go_on(request.with_arguments({"text": "dangerous"}))
    with suppress(ConfigurationError):
        await go_on(request)
    return ALLOWED


async def not_waiting(request: Any, go_on: Any) -> PermissionDecision:
    """Answer while those inside still think."""
    request.state.middle_context["task"] = None
    task = asyncio.create_task(_awaited(go_on(request)))
    TASKS.append(task)
    return ALLOWED


TASKS: list[asyncio.Task[Any]] = []


async def _awaited(decision: Any) -> Any:
    return await decision


@pytest.mark.parametrize("layer", [twice, twice_and_silent, not_waiting])
async def test_a_decision_layer_goes_on_once_and_waits(layer: Any) -> None:
    """A second way, or one that nobody waited for, is the developer's mistake: nothing runs."""

    async def denying(request: Any, go_on: Any) -> PermissionDecision:
        return DENIED if request.arguments["text"] == "dangerous" else await go_on(request)

    probe = Probe()
    with pytest.raises(ConfigurationError, match="Call `next` once"):
        await outcome(Toolkit([probe], decision_layers=[layer, denying]), call_of(), AgentState())
    assert probe.runs == []


async def test_a_decision_layer_that_keeps_next_decides_nothing_later() -> None:
    """When it has returned, its way is closed."""
    kept: list[Any] = []

    async def keeping(request: Any, go_on: Any) -> PermissionDecision:
        kept.extend((request, go_on))
        return DENIED

    await outcome(Toolkit([Probe()], decision_layers=[keeping]), call_of(), AgentState())
    request, go_on = kept
    with pytest.raises(ConfigurationError, match="after it had returned"):
        await go_on(request)


async def test_a_layer_that_answers_by_itself_does_not_pass_by_those_inside() -> None:
    """What it says may only be stricter: those inside are asked all the same."""

    async def answering(request: Any, go_on: Any) -> PermissionDecision:
        return ALLOWED

    async def failing(request: Any, go_on: Any) -> PermissionDecision:
        await go_on(request)
        raise RuntimeError("broken")

    async def guard(request: Any, go_on: Any) -> PermissionDecision:
        return DENIED if request.arguments["text"] == "hi" else await go_on(request)

    probe = Probe()
    for outer in (answering, failing):
        toolkit = Toolkit([probe], decision_layers=[outer, guard])
        assert "says no" in text_of(await outcome(toolkit, call_of(), AgentState()))
        assert probe.runs == []
    harmless = call_of(arguments='{"text": "ok"}')
    toolkit = Toolkit([probe], decision_layers=[answering, guard])
    assert text_of(await outcome(toolkit, harmless, AgentState())) == "Probe:ok"


async def test_a_layer_changes_the_arguments_and_nothing_else_of_the_call() -> None:
    """Layers inside judge the tool and the call that were made, whatever is passed on."""
    seen: list[tuple[str, str]] = []

    async def swapping(request: Any, go_on: Any) -> PermissionDecision:
        other = type(request)(call_of("Other"), Probe("Other"), {"text": "new"}, AgentState())
        decision: PermissionDecision = await go_on(other)
        return decision

    async def looking(request: Any, go_on: Any) -> PermissionDecision:
        seen.append((request.tool.name, request.call.name))
        decision: PermissionDecision = await go_on(request)
        return decision

    probe = Probe()
    await outcome(Toolkit([probe], decision_layers=[swapping, looking]), call_of(), AgentState())
    assert seen == [("Probe", "Probe")]
    assert probe.runs == ["new"]


async def test_a_check_that_changes_what_it_is_shown_changes_nothing_that_runs() -> None:
    """`decision_basis` gets a copy, as checks do."""

    class Meddling(Probe):
        def decision_basis(self, tool_input: dict[str, Any]) -> str | None:
            tool_input["text"] = "other"
            return None

    probe = Meddling()
    await outcome(Toolkit([probe]), call_of(), AgentState())
    assert probe.runs == ["hi"]


# Layers of a tool


async def again(tool: Any, kwargs: dict[str, Any], go_on: Any) -> AsyncGenerator[Any, None]:
    """Run the tool once more after it ended well."""
    for _ in range(2):
        async for chunk in go_on(**kwargs):
            yield chunk


async def side_by_side(tool: Any, kwargs: dict[str, Any], go_on: Any) -> AsyncGenerator[Any, None]:
    """Run the tool twice at once."""
    async with aclosing(go_on(**kwargs)) as first, aclosing(go_on(**kwargs)) as second:
        yield (await asyncio.gather(anext(first), anext(second)))[0]


async def swallowing(tool: Any, kwargs: dict[str, Any], go_on: Any) -> AsyncGenerator[Any, None]:
    """Keep the first output back, and run the tool once more."""
    kept = [chunk async for chunk in go_on(**kwargs)]
    async for chunk in go_on(**kwargs):
        yield chunk
    del kept


@pytest.mark.parametrize("work", [again, side_by_side, swallowing])
@pytest.mark.parametrize("idempotent", [False, True])
async def test_one_yes_runs_once(work: Any, idempotent: bool) -> None:
    """A tool layer does not run again what gave output, or still runs, whatever the tool is."""
    probe = Probe(middlewares=[Layer(work)])
    probe.is_idempotent = idempotent
    response = await outcome(Toolkit([probe]), call_of(), AgentState())
    assert probe.runs == ["hi"]
    assert "was not run again" in text_of(response)


def failing_once(probe_of: Callable[[], Probe]) -> Callable[[str], AsyncGenerator[Any, None]]:
    """Return the work of a tool that fails the first time."""

    async def work(text: str) -> AsyncGenerator[Any, None]:
        if len(probe_of().runs) == 1:
            raise OSError("busy")
        yield chunk_of("fine")

    return work


async def retrying(tool: Any, kwargs: dict[str, Any], go_on: Any) -> AsyncGenerator[Any, None]:
    """Run the tool once more where it failed."""
    with suppress(OSError):
        async for chunk in go_on(**kwargs):
            yield chunk
        return
    async for chunk in go_on(**kwargs):
        yield chunk


@pytest.mark.parametrize("trait", [None, "is_idempotent", "is_read_only", "may_repeat"])
async def test_a_failed_attempt_is_repeated_where_that_does_no_harm(trait: str | None) -> None:
    """The tool is read-only or idempotent, or its owner said so on the layer."""
    layer = Layer(retrying)
    probe = Probe(middlewares=[layer])
    probe.work = failing_once(lambda: probe)
    if trait is not None:
        setattr(layer if trait == "may_repeat" else probe, trait, True)
    response = await outcome(Toolkit([probe]), call_of(), AgentState())
    if trait is None:
        assert probe.runs == ["hi"]
        assert "set `is_idempotent`" in text_of(response)
    else:
        assert probe.runs == ["hi", "hi"]
        assert text_of(response) == "fine"


@pytest.mark.parametrize("buffered", [False, True])
async def test_the_ready_made_retry_keeps_working(buffered: bool) -> None:
    """It repeats what its owner lets it repeat, with what it held back of a failed attempt."""

    async def work(text: str) -> AsyncGenerator[Any, None]:
        if buffered:
            yield chunk_of("half")
        if len(probe.runs) == 1:
            raise OSError("busy")
        yield chunk_of("fine")

    retry = RetryMiddleware(delay=0, even_if_not_idempotent=True, buffered=buffered)
    probe = Probe(middlewares=[retry], work=work)
    response = await outcome(Toolkit([probe]), call_of(), AgentState())
    assert probe.runs == ["hi", "hi"]
    assert text_of(response) == ("halffine" if buffered else "fine")


class Injected(Probe):
    """Wants the state and the policy."""

    is_state_injected = True
    is_policy_injected = True

    async def call(
        self, text: str = "", count: int = 1, **injected: Any
    ) -> AsyncGenerator[Any, None]:
        self.runs.append(text)
        self.got = injected
        yield chunk_of("done")


@pytest.mark.parametrize(
    ("name", "forged"),
    [
        ("_permission_context", PermissionContext(mode=PermissionMode.BYPASS)),
        ("_agent_state", AgentState()),
    ],
)
async def test_injected_arguments_are_not_a_layers_to_change(name: str, forged: Any) -> None:
    """Another policy or state is refused; one that was left out is the true one."""

    async def forging(tool: Any, kwargs: dict[str, Any], go_on: Any) -> AsyncGenerator[Any, None]:
        async for chunk in go_on(**{**kwargs, name: forged}):
            yield chunk

    async def leaving_out(
        tool: Any, kwargs: dict[str, Any], go_on: Any
    ) -> AsyncGenerator[Any, None]:
        async for chunk in go_on(**{key: kwargs[key] for key in kwargs if key != name}):
            yield chunk

    probe, state = Injected(middlewares=[Layer(forging)]), AgentState()
    response = await outcome(Toolkit([probe]), call_of(), state)
    assert probe.runs == []
    assert f"replaced `{name}`" in text_of(response)
    probe = Injected(middlewares=[Layer(leaving_out)])
    await outcome(Toolkit([probe]), call_of(), state)
    assert probe.got == {"_agent_state": state, "_permission_context": state.permission_context}


async def test_what_a_layer_changes_in_place_voids_the_grant() -> None:
    """A layer that loosens the policy, or changes the tool, before it goes on runs nothing."""

    async def loosening(tool: Any, kwargs: dict[str, Any], go_on: Any) -> AsyncGenerator[Any, None]:
        kwargs["_permission_context"].mode = "bypass"
        async for chunk in go_on(**kwargs):
            yield chunk

    async def renaming(tool: Any, kwargs: dict[str, Any], go_on: Any) -> AsyncGenerator[Any, None]:
        tool.description = "Something else."
        async for chunk in go_on(**kwargs):
            yield chunk

    for work in (loosening, renaming):
        probe = Injected(middlewares=[Layer(work)])
        with pytest.raises(GrantError, match="changed since"):
            await outcome(Toolkit([probe]), call_of(), AgentState())
        assert probe.runs == []


async def test_what_a_layer_leaves_running_is_stopped_with_it() -> None:
    """A layer that runs the tool in a task, and ends, leaves no tool that works on."""
    begun, done = asyncio.Event(), list[str]()

    async def work(text: str) -> AsyncGenerator[Any, None]:
        begun.set()
        await asyncio.sleep(0.05)
        done.append(text)
        yield chunk_of("late")

    async def leaving(tool: Any, kwargs: dict[str, Any], go_on: Any) -> AsyncGenerator[Any, None]:
        async def drain() -> None:
            async for _ in go_on(**kwargs):
                pass

        TASKS.append(asyncio.create_task(drain()))
        await begun.wait()
        yield chunk_of("soon")

    probe = Probe(middlewares=[Layer(leaving)], work=work)
    response = await outcome(Toolkit([probe]), call_of(), AgentState())
    await asyncio.sleep(0.1)
    assert done == []
    assert response is not None
    assert response.state is ToolResultState.INTERRUPTED
    assert "in another task" in text_of(response)


# What changes after the decision


def renamed(tool: ToolBase) -> None:
    """Give the tool another name."""
    tool.name = "Other"


def described(tool: ToolBase) -> None:
    """Give the tool another description."""
    tool.description = "Sends mail."


def widened(tool: ToolBase) -> None:
    """Change the schema in place."""
    tool.input_schema = {**tool.input_schema}
    tool.input_schema["properties"] = {**tool.input_schema["properties"], "to": {}}


@pytest.mark.parametrize("change", [renamed, described, widened])
async def test_a_definition_changed_in_place_voids_the_grant(change: Any) -> None:
    """Neither a decision nor a person's yes holds for a tool that says something else by now."""
    probe, state = Probe(), AgentState()
    toolkit = Toolkit([probe])
    decided = await toolkit.decide(call_of(), state)
    change(probe)
    with pytest.raises(GrantError, match="decide"):
        await run(toolkit, decided.grant, state)
    assert probe.runs == []


async def test_a_yes_does_not_hold_for_a_description_changed_in_place() -> None:
    """The person is asked again, and is told why."""
    from agentscope_like.event import ConfirmResult

    probe, state = Probe(opinion="ask"), AgentState()
    toolkit, call = Toolkit([probe]), call_of()
    await toolkit.decide(call, state)
    described(probe)
    decided = await toolkit.confirm(call, ConfirmResult(confirmed=True, tool_call=call), state)
    assert decided.grant is None
    assert call.state is ToolCallState.ASKING
    assert decided.decision is not None
    assert "has changed" in (decided.decision.decision_reason or "")


async def test_a_group_that_is_switched_off_voids_the_grant() -> None:
    """What the model could not call any more does not run; while it is active it does."""
    probe, state = Probe(), AgentState()
    toolkit = Toolkit(tool_groups=[ToolGroup("extra", "More.", tools=[probe])])
    state.tool_context.activated_groups = ["extra"]
    decided = await toolkit.decide(call_of(), state)
    state.tool_context.activated_groups = []
    with pytest.raises(GrantError, match="group 'extra'"):
        await run(toolkit, decided.grant, state)
    assert probe.runs == []
    state.tool_context.activated_groups = ["extra"]
    await outcome(toolkit, call_of(), state)
    assert probe.runs == ["hi"]
