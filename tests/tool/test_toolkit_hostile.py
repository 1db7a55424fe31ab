"""Attacks on the guarded path: layers, middlewares, tools and callers that do not play fair."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest
from msgspec.structs import replace

from agentscope_like.exception import ConfigurationError, GrantError
from agentscope_like.message import ToolCallState, ToolResultState
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolBase, Toolkit, ToolMiddlewareBase
from tests.tool.kit import Probe, call_of, chunk_of, outcome, text_of

DENY = PermissionRule(tool_name="Probe", behavior=PermissionBehavior.DENY)


async def run(toolkit: Toolkit, grant: Any, state: AgentState) -> None:
    """Run a grant to its end."""
    async for _ in toolkit.run(grant, state):
        pass


# Layers


async def mutating_after(request: Any, go_on: Any) -> PermissionDecision:
    """Have harmless arguments decided, then change them in place."""
    decision: PermissionDecision = await go_on(request)
    request.arguments["text"] = "dangerous"
    return decision


async def mutating_what_it_passed(request: Any, go_on: Any) -> PermissionDecision:
    """Pass a copy on and change that in place."""
    passed = {"text": "hi"}
    decision: PermissionDecision = await go_on(request.with_arguments(passed))
    passed["text"] = "dangerous"
    return decision


async def another_tool(request: Any, go_on: Any) -> PermissionDecision:
    """Have another tool, another call and another state decided in place of these."""
    other = replace(request, tool=Probe("Harmless"), call=call_of("Harmless"), state=AgentState())
    decision: PermissionDecision = await go_on(other)
    return decision


async def answering_alone(request: Any, go_on: Any) -> PermissionDecision:
    """Change the arguments in place and answer without asking anyone."""
    request.arguments["text"] = "dangerous"
    return PermissionDecision(PermissionBehavior.ALLOW, "fine")


async def opinionless(request: Any, go_on: Any) -> PermissionDecision:
    """Have no opinion."""
    return PermissionDecision(PermissionBehavior.PASSTHROUGH, "")


@pytest.mark.parametrize(
    "layer",
    [mutating_after, mutating_what_it_passed, another_tool, answering_alone, opinionless],
)
async def test_what_runs_is_what_was_decided_whatever_a_layer_does(layer: Any) -> None:
    """The arguments of the grant are nobody else's: changing others in place changes nothing."""
    probe = Probe()
    await outcome(Toolkit([probe], decision_layers=[layer]), call_of(), AgentState())
    assert probe.runs == ["hi"]


async def test_arguments_that_a_layer_changes_in_place_are_validated() -> None:
    """In place or not, what does not fit the schema is an error."""

    async def layer(request: Any, go_on: Any) -> PermissionDecision:
        request.arguments["text"] = 5
        decision: PermissionDecision = await go_on(request)
        return decision

    probe = Probe()
    response = await outcome(Toolkit([probe], decision_layers=[layer]), call_of(), AgentState())
    assert "not of type" in text_of(response)
    assert probe.runs == []


async def breaking(request: Any, go_on: Any) -> PermissionDecision:
    """Fail."""
    raise RuntimeError("the policy server is down")


async def saying_nothing(request: Any, go_on: Any) -> Any:
    """Forget to return the decision."""
    await go_on(request)


@pytest.mark.parametrize("layer", [breaking, saying_nothing])
@pytest.mark.parametrize(
    ("mode", "state"), [("default", "asking"), ("bypass", "asking"), ("dont_ask", "finished")]
)
async def test_a_layer_that_fails_is_a_safety_question(
    layer: Any, mode: str, state: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing runs on the word of a broken layer; where nobody can be asked it is denied.

    What it raised is logged, with where.
    """
    probe, call = Probe(), call_of()
    policy = AgentState(permission_context=PermissionContext(mode=PermissionMode(mode)))
    await outcome(Toolkit([probe], decision_layers=[layer]), call, policy)
    assert probe.runs == []
    assert call.state.value == state
    assert call.decision is not None
    assert "layer" in call.decision.message
    logged = [record.exc_info[1] for record in caplog.records if record.exc_info]
    assert [str(error) for error in logged] == (
        ["the policy server is down"] if layer is breaking else []
    )


async def test_a_layer_cannot_have_somebody_asked_where_nobody_is() -> None:
    """In dont_ask mode a layer's ASK is a DENY; elsewhere it parks the call."""

    async def asking(request: Any, go_on: Any) -> PermissionDecision:
        return PermissionDecision(PermissionBehavior.ASK, "Sure?")

    for mode, expected in (("dont_ask", ToolResultState.DENIED), ("default", None)):
        policy = AgentState(permission_context=PermissionContext(mode=PermissionMode(mode)))
        response = await outcome(Toolkit([Probe()], decision_layers=[asking]), call_of(), policy)
        assert (response.state if response else None) is expected


# Checks and tools


async def test_a_check_that_changes_the_arguments_it_was_shown_is_asked_about() -> None:
    """What was validated is what was decided: a check cannot swap it on the way."""

    class Swapping(Probe):
        async def check_permissions(self, tool_input: Any, context: Any) -> PermissionDecision:
            tool_input["text"] = "evil"
            return PermissionDecision(PermissionBehavior.ALLOW, "fine")

    probe, call = Swapping(), call_of()
    await outcome(Toolkit([probe]), call, AgentState())
    assert probe.runs == []
    assert call.state is ToolCallState.ASKING


async def test_a_policy_that_changes_while_a_call_is_decided_voids_the_grant() -> None:
    """The grant is bound to the policy that the decision began with."""
    state = AgentState()

    class Slow(Probe):
        async def check_permissions(self, tool_input: Any, context: Any) -> PermissionDecision:
            state.permission_context.deny_rules["Probe"] = [DENY]
            return await super().check_permissions(tool_input, context)

    probe, toolkit = Slow(), Toolkit([])
    await toolkit.add_tool(probe)
    grant = (await toolkit.decide(call_of(), state)).grant
    with pytest.raises(GrantError, match="permission context"):
        await run(toolkit, grant, state)
    assert probe.runs == []


CHANGES_BEFORE_THE_FIRST_STEP: list[Callable[[AgentState, Probe, Any], Any]] = [
    lambda state, probe, grant: grant.arguments.update(text="dangerous"),
    lambda state, probe, grant: state.permission_context.deny_rules.update(Probe=[DENY]),
    lambda state, probe, grant: setattr(state, "permission_context", PermissionContext()),
    lambda state, probe, grant: setattr(probe, "is_external_tool", True),
    lambda state, probe, grant: setattr(probe, "basis", "elsewhere"),
    lambda state, probe, grant: setattr(probe, "name", "Other"),
]


@pytest.mark.parametrize("change", CHANGES_BEFORE_THE_FIRST_STEP)
async def test_a_run_that_has_not_begun_holds_only_as_long_as_its_grant(change: Any) -> None:
    """What changes between `run` and its first step voids the grant, which is spent."""
    probe, state = Probe(), AgentState()
    toolkit = Toolkit([probe])
    grant = (await toolkit.decide(call_of(), state)).grant
    assert grant is not None
    stream = toolkit.run(grant, state)
    change(state, probe, grant)
    with pytest.raises(GrantError):
        await anext(stream)
    with pytest.raises(GrantError, match="spent"):
        toolkit.run(grant, state)
    assert probe.runs == []


async def test_changing_the_grants_arguments_while_it_runs_changes_nothing() -> None:
    """Neither the tool nor what its middlewares are measured by follows the caller's copy."""

    class Late(ToolMiddlewareBase):
        async def on_tool_call(
            self, tool: ToolBase, input_kwargs: dict[str, Any], next_handler: Any
        ) -> AsyncGenerator[Any, None]:
            grant.arguments["text"] = "dangerous"
            async for chunk in next_handler(text="dangerous"):
                yield chunk

    probe, state = Probe(middlewares=[Late()]), AgentState()
    toolkit = Toolkit([probe])
    grant: Any = (await toolkit.decide(call_of(), state)).grant
    await run(toolkit, grant, state)
    assert probe.runs == []


@pytest.mark.parametrize(("passed", "runs"), [("secret", []), ("fine", ["fine"])])
async def test_a_middleware_cannot_pass_by_a_decision_layer(passed: str, runs: list[str]) -> None:
    """Arguments changed after the decision meet every layer that the decision met."""

    class Passing(ToolMiddlewareBase):
        async def on_tool_call(
            self, tool: ToolBase, input_kwargs: dict[str, Any], next_handler: Any
        ) -> AsyncGenerator[Any, None]:
            async for chunk in next_handler(text=passed):
                yield chunk

    async def guarding(request: Any, go_on: Any) -> PermissionDecision:
        if request.arguments["text"] == "secret":
            return PermissionDecision(PermissionBehavior.DENY, "Not that one.")
        decision: PermissionDecision = await go_on(request)
        return decision

    for layers, extra in (([guarding], []), ([], [guarding])):
        probe, state = Probe(middlewares=[Passing()]), AgentState()
        toolkit = Toolkit([probe], decision_layers=layers)
        decided = await toolkit.decide(call_of(), state, layers=extra)
        await run(toolkit, decided.grant, state)
        assert probe.runs == runs


async def test_a_tool_that_changed_its_name_is_refused() -> None:
    """Its rules would be missed; two tools that swap names swap no rules."""
    first, second, state = Probe(), Probe("Other"), AgentState()
    toolkit = Toolkit([first, second])
    state.permission_context.deny_rules["Probe"] = [DENY]
    first.name, second.name = "Other", "Probe"
    for name in ("Probe", "Other"):
        with pytest.raises(ConfigurationError, match="renamed"):
            await toolkit.decide(call_of(name), state)


@pytest.mark.parametrize("missing", ["is_concurrency_safe", "is_read_only", "description"])
def test_a_tool_that_declares_too_little_is_refused_when_it_is_added(missing: str) -> None:
    """The mistake shows at once, and not when the model first calls the tool."""
    probe = Probe()
    setattr(probe, missing, None)
    with pytest.raises(ConfigurationError, match=missing):
        Toolkit([probe])


@pytest.mark.parametrize("name", ["nope", "self"])
async def test_arguments_that_the_function_does_not_take_are_an_error(name: str) -> None:
    """A schema that promises more than `call` takes breaks the call, not the session."""
    probe = Probe()
    probe.input_schema = {"type": "object", "properties": {name: {"type": "string"}}}
    call = call_of(arguments=json.dumps({name: "x"}))
    response = await outcome(Toolkit([probe]), call, AgentState())
    assert response is not None
    assert response.state is ToolResultState.ERROR
    assert "TypeError" in text_of(response)


def _raising(error: BaseException) -> Any:
    async def work(_: str) -> AsyncGenerator[Any, None]:
        yield chunk_of("first ")
        raise error

    return work


async def test_a_cancellation_that_nobody_asked_for_interrupts_the_call_alone() -> None:
    """A tool that raises CancelledError of its own does not cancel whoever called it."""
    probe = Probe(work=_raising(asyncio.CancelledError()))
    response = await outcome(Toolkit([probe]), call_of(), AgentState())
    assert response is not None
    assert response.state is ToolResultState.INTERRUPTED
    assert text_of(response).startswith("first ")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), GeneratorExit()])
async def test_what_ends_the_program_is_passed_on(error: BaseException) -> None:
    """Nothing but a failure becomes a result; the tool is closed, and the grant is spent."""
    toolkit, state = Toolkit([Probe(work=_raising(error))]), AgentState()
    grant: Any = (await toolkit.decide(call_of(), state)).grant
    stream = toolkit.run(grant, state)
    await anext(stream)
    with pytest.raises(type(error)):
        await stream.asend(None)
    with pytest.raises(GrantError):
        toolkit.run(grant, state)


async def test_a_tool_that_fails_to_close_keeps_its_result() -> None:
    """A stream that raises when it is closed early is logged; the consumer goes on."""

    async def messy(_: str) -> AsyncGenerator[Any, None]:
        try:
            while True:
                yield chunk_of("tick")
        finally:
            raise OSError("could not clean up")

    toolkit, state = Toolkit([Probe(work=messy)]), AgentState()
    grant: Any = (await toolkit.decide(call_of(), state)).grant
    stream = toolkit.run(grant, state)
    await anext(stream)
    await stream.aclose()


async def test_a_middleware_that_keeps_the_next_layer_runs_nothing_later() -> None:
    """When its run is over, what it kept runs nothing."""
    kept: list[Any] = []

    class Keeping(ToolMiddlewareBase):
        async def on_tool_call(
            self, tool: ToolBase, input_kwargs: dict[str, Any], next_handler: Any
        ) -> AsyncGenerator[Any, None]:
            kept.append(next_handler)
            async for chunk in next_handler(**input_kwargs):
                yield chunk

    probe = Probe(middlewares=[Keeping()])
    await outcome(Toolkit([probe]), call_of(), AgentState())
    with pytest.raises(GrantError, match="is over"):
        await anext(kept[0](text="hi"))
    assert probe.runs == ["hi"]


async def test_a_middleware_cannot_change_what_the_tool_was_given() -> None:
    """A list that it passed on is not the list that the tool has."""

    class Meddling(ToolMiddlewareBase):
        async def on_tool_call(
            self, tool: ToolBase, input_kwargs: dict[str, Any], next_handler: Any
        ) -> AsyncGenerator[Any, None]:
            async for chunk in next_handler(**input_kwargs):
                input_kwargs["text"].append("more")
                yield chunk

    class Lasting(Probe):
        async def call(self, text: Any = "", count: int = 1) -> AsyncGenerator[Any, None]:
            yield chunk_of("begun ")
            self.runs += text

    probe = Lasting(middlewares=[Meddling()])
    probe.input_schema = {"type": "object", "properties": {"text": {"type": "array"}}}
    await outcome(Toolkit([probe]), call_of(arguments='{"text": ["a"]}'), AgentState())
    assert probe.runs == ["a"]


async def test_what_a_model_is_told_of_the_tools_is_a_copy() -> None:
    """A model that fits the schemas to its server opens no tool to other arguments."""
    probe = Probe()
    toolkit = Toolkit([probe])
    for schema in await toolkit.get_tool_schemas():
        schema["function"]["parameters"]["properties"]["evil"] = {}
    assert "evil" not in probe.input_schema["properties"]
    again = (await toolkit.get_tool_schemas())[0]["function"]["parameters"]
    assert again == probe.input_schema
