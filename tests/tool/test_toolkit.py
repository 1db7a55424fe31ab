"""The guarded path: nothing that a model called runs but by a grant."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import gc
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from agentscope_like.event import ConfirmResult
from agentscope_like.exception import ConfigurationError, GrantError, ResumeError
from agentscope_like.message import ToolCallState, ToolResultState
from agentscope_like.middleware import LoggingMiddleware, MiddlewareBase
from agentscope_like.model import OpenAIChatModel
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionMode,
    PermissionRule,
    RuleError,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import (
    FunctionTool,
    Grant,
    Read,
    ToolBase,
    Toolkit,
    ToolMiddlewareBase,
    ToolResponse,
)
from tests.tool.kit import Probe, call_of, chunk_of, outcome, text_of


def allow(name: str = "Probe", content: str | None = None) -> PermissionRule:
    """Return an allow rule."""
    return PermissionRule(tool_name=name, rule_content=content, behavior=PermissionBehavior.ALLOW)


@pytest.mark.parametrize(
    ("opinion", "state", "result"),
    [
        ("allow", ToolCallState.FINISHED, ToolResultState.SUCCESS),
        ("deny", ToolCallState.FINISHED, ToolResultState.DENIED),
        ("passthrough", ToolCallState.ASKING, None),
    ],
)
async def test_a_call_runs_only_where_it_is_allowed(
    opinion: str, state: ToolCallState, result: ToolResultState | None
) -> None:
    """ALLOW runs, DENY is told to the model, ASK waits and yields nothing."""
    probe, call = Probe(opinion=opinion), call_of()
    response = await outcome(Toolkit([probe]), call, AgentState())
    assert call.state is state
    assert (response.state if response else None) is result
    assert probe.runs == (["hi"] if opinion == "allow" else [])


async def test_an_allowed_external_call_is_submitted() -> None:
    """A tool that others execute never runs here."""
    probe, call = Probe(external=True), call_of()
    assert await outcome(Toolkit([probe]), call, AgentState()) is None
    assert call.state is ToolCallState.SUBMITTED
    assert probe.runs == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("{", "not valid JSON"),
        ("[1]", "a JSON array, not an object"),
        ('"x"', "a JSON string, not an object"),
        ("null", "a JSON null, not an object"),
        ('{"text": "a", "text": "b"}', "'text' is given twice"),
        ('{"count": NaN}', "NaN is not JSON"),
        ('{"text": "\\ud800"}', "half of a surrogate pair"),
        ('{"text": 5}', 'text: 5 is not of type "string"'),
        ('{"count": 0}', "count: 0 is less than the minimum of 1"),
        ('{"txt": "a"}', "did you mean 'text'?"),
        ("[" * 100_000, "nested too deeply"),
        ('{"text": "' + "x" * 10_000_001 + '"}', "Split the work"),
    ],
    ids=lambda value: value[:24],
)
async def test_arguments_that_do_not_fit_are_told_to_the_model(arguments: str, told: str) -> None:
    """The model gets an error that names the place and the mend; the tool does not run."""
    probe = Probe()
    response = await outcome(Toolkit([probe]), call_of(arguments=arguments), AgentState())
    assert response is not None
    assert response.state is ToolResultState.ERROR
    assert told in text_of(response)
    assert probe.runs == []


@pytest.mark.parametrize("arguments", ["", "  ", "{}", '{"text": "' + "é" * 1_000_000 + '"}'])
async def test_arguments_that_fit_run(arguments: str) -> None:
    """No arguments at all, and a megabyte of them, are fine."""
    response = await outcome(Toolkit([Probe()]), call_of(arguments=arguments), AgentState())
    assert response is not None
    assert response.state is ToolResultState.SUCCESS


async def test_an_unknown_tool_is_told_with_the_nearest_name() -> None:
    """The model learns what there is."""
    response = await outcome(Toolkit([Probe()]), call_of("probe"), AgentState())
    assert "did you mean 'Probe'?" in text_of(response)
    assert "Tools: Probe." in text_of(response)


async def raises(_: str) -> AsyncGenerator[Any, None]:
    """Fail after a first chunk."""
    yield chunk_of("first ")
    raise OSError("disk on fire")


async def silent(_: str) -> AsyncGenerator[Any, None]:
    """Yield nothing."""
    return
    yield


async def wrong(_: str) -> AsyncGenerator[Any, None]:
    """Yield something that is no chunk."""
    yield "text"


@pytest.mark.parametrize(
    ("work", "state", "told"),
    [
        (raises, ToolResultState.ERROR, "first Probe failed: OSError: disk on fire"),
        (silent, ToolResultState.SUCCESS, "without any output"),
        (wrong, ToolResultState.ERROR, "yielded a str instead of a ToolChunk"),
    ],
)
async def test_whatever_a_tool_does_there_is_one_response(
    work: Any, state: ToolResultState, told: str
) -> None:
    """A tool that raises, yields nothing or yields nonsense gives the model an answer."""
    response = await outcome(Toolkit([Probe(work=work)]), call_of(), AgentState())
    assert response is not None
    assert response.state is state
    assert told in text_of(response)


async def test_a_developers_mistake_is_raised() -> None:
    """A developer-oriented error is not told to the model."""

    async def misconfigured(_: str) -> AsyncGenerator[Any, None]:
        raise ConfigurationError("no such directory")
        yield

    with pytest.raises(ConfigurationError):
        await outcome(Toolkit([Probe(work=misconfigured)]), call_of(), AgentState())


async def test_a_grant_is_spent_by_its_run() -> None:
    """The second run of one grant is refused, and nothing runs twice."""
    probe, state = Probe(), AgentState()
    toolkit = Toolkit([probe])
    grant = (await toolkit.decide(call_of(), state)).grant
    assert grant is not None
    assert [type(item) async for item in toolkit.run(grant, state)][-1] is ToolResponse
    with pytest.raises(GrantError, match="spent"):
        [item async for item in toolkit.run(grant, state)]
    assert probe.runs == ["hi"]


async def test_a_forged_grant_is_refused() -> None:
    """A grant that was copied, made up, or issued by another kit does not run."""
    probe, state = Probe(), AgentState()
    toolkit, other = Toolkit([probe]), Toolkit([probe])
    grant = (await toolkit.decide(call_of(), state)).grant
    assert grant is not None
    forged = [
        replace(grant),
        replace(grant, arguments={"text": "other"}),
        Grant("c9", probe, {}, "0-0", state.permission_context.policy_key),
    ]
    for candidate in forged:
        with pytest.raises(GrantError):
            [item async for item in toolkit.run(candidate, state)]
    with pytest.raises(GrantError):
        [item async for item in other.run(grant, state)]
    with pytest.raises(AttributeError):
        grant.arguments = {}  # type: ignore[misc]
    assert probe.runs == []


async def test_a_grant_does_not_outlive_what_it_rests_on() -> None:
    """A change of policy, of basis, of the arguments or of the tool voids it."""
    state = AgentState()

    def change_policy(toolkit: Toolkit, probe: Probe, grant: Grant) -> None:
        state.permission_context.mode = PermissionMode.EXPLORE

    def change_basis(toolkit: Toolkit, probe: Probe, grant: Grant) -> None:
        probe.basis = "elsewhere"

    def change_arguments(toolkit: Toolkit, probe: Probe, grant: Grant) -> None:
        grant.arguments["text"] = "other"

    def replace_tool(toolkit: Toolkit, probe: Probe, grant: Grant) -> None:
        toolkit.clear()

    for change in (change_policy, change_basis, change_arguments, replace_tool):
        state.permission_context.mode = PermissionMode.DEFAULT
        probe = Probe()
        toolkit = Toolkit([probe])
        grant = (await toolkit.decide(call_of(), state)).grant
        assert grant is not None
        change(toolkit, probe, grant)
        with pytest.raises(GrantError, match="decide"):
            [item async for item in toolkit.run(grant, state)]
        assert probe.runs == []


async def test_deciding_runs_nothing_and_leaks_nothing() -> None:
    """Grants that nobody uses are forgotten with their holder."""
    probe, state = Probe(), AgentState()
    toolkit = Toolkit([probe])
    for _ in range(10):
        await toolkit.decide(call_of(), state)
    gc.collect()
    assert probe.runs == []
    assert len(toolkit._issued) == 0


class Rewriting(ToolMiddlewareBase):
    """Passes other arguments on."""

    def __init__(self, text: str) -> None:
        self.text = text

    async def on_tool_call(
        self, tool: ToolBase, input_kwargs: dict[str, Any], next_handler: Any
    ) -> AsyncGenerator[Any, None]:
        async for chunk in next_handler(**{**input_kwargs, "text": self.text}):
            yield chunk


async def test_a_middleware_cannot_run_what_would_not_be_allowed() -> None:
    """Arguments changed after the decision are decided again, behind every middleware."""
    harmless, harmful = (
        Probe(middlewares=[Rewriting("fine")]),
        Probe(middlewares=[Rewriting("dangerous")]),
    )
    fine = await outcome(Toolkit([harmless]), call_of(), AgentState())
    refused = await outcome(Toolkit([harmful]), call_of(), AgentState())
    assert harmless.runs == ["fine"]
    assert fine is not None
    assert fine.state is ToolResultState.SUCCESS
    assert harmful.runs == []
    assert "changed the arguments to ones that may not run" in text_of(refused)


async def test_a_tool_cannot_change_the_arguments_that_were_decided() -> None:
    """The tool gets a copy: the grant's arguments stay as they were."""

    class Greedy(Probe):
        async def call(self, *args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
            kwargs["items"].append("more")
            yield chunk_of("done")

    Greedy.input_schema = {"type": "object", "properties": {"items": {"type": "array"}}}
    state, toolkit = AgentState(), Toolkit([Greedy()])
    grant = (await toolkit.decide(call_of(arguments='{"items": []}'), state)).grant
    assert grant is not None
    [item async for item in toolkit.run(grant, state)]
    assert grant.arguments == {"items": []}


async def test_a_layer_may_tighten_a_decision_and_never_loosen_it() -> None:
    """A layer's DENY stands against the engine's ALLOW; its ALLOW does not against ASK."""

    async def deny(request: Any, go_on: Any) -> PermissionDecision:
        await go_on(request)
        return PermissionDecision(PermissionBehavior.DENY, "Not on Fridays.")

    async def wave_through(request: Any, go_on: Any) -> PermissionDecision:
        return PermissionDecision(PermissionBehavior.ALLOW, "Sure.")

    denied = await outcome(Toolkit([Probe()], decision_layers=[deny]), call_of(), AgentState())
    assert text_of(denied) == "Denied: Not on Fridays."
    probe, call = Probe(opinion="ask"), call_of()
    await outcome(Toolkit([probe], decision_layers=[wave_through]), call, AgentState())
    assert call.state is ToolCallState.ASKING
    assert probe.runs == []


async def test_a_layer_may_change_the_arguments_before_the_decision() -> None:
    """What a layer passes on is validated, decided and run; what does not fit is an error."""

    def passing(arguments: dict[str, Any]) -> Any:
        async def layer(request: Any, go_on: Any) -> PermissionDecision:
            decision: PermissionDecision = await go_on(request.with_arguments(arguments))
            return decision

        return layer

    probe = Probe()
    await outcome(
        Toolkit([probe], decision_layers=[passing({"text": "new"})]), call_of(), AgentState()
    )
    assert probe.runs == ["new"]
    call = call_of()
    await outcome(
        Toolkit([probe], decision_layers=[passing({"text": "dangerous"})]), call, AgentState()
    )
    assert call.state is ToolCallState.ASKING
    bad = await outcome(
        Toolkit([probe], decision_layers=[passing({"text": 1})]), call_of(), AgentState()
    )
    assert 'not of type "string"' in text_of(bad)
    assert probe.runs == ["new"]


async def asked(toolkit: Toolkit, state: AgentState, arguments: str = '{"text": "hi"}') -> Any:
    """Return a call that asks."""
    call = call_of(arguments=arguments)
    decided = await toolkit.decide(call, state)
    assert call.state is ToolCallState.ASKING
    assert decided.grant is None
    return call


def yes(call: Any, arguments: str | None = None) -> ConfirmResult:
    """Return a yes, perhaps with edited arguments."""
    changed = {"input": arguments} if arguments is not None else {}
    return ConfirmResult(confirmed=True, tool_call=call.model_copy(update=changed))


async def test_a_yes_grants_what_was_asked() -> None:
    """The confirmed call runs, once."""
    probe, state = Probe(opinion="ask"), AgentState()
    toolkit = Toolkit([probe])
    call = await asked(toolkit, state)
    decided = await toolkit.confirm(call, yes(call), state)
    assert decided.grant is not None
    [item async for item in toolkit.run(decided.grant, state)]
    assert probe.runs == ["hi"]
    with pytest.raises(ResumeError, match="does not wait"):
        await toolkit.confirm(call, yes(call), state)


async def test_a_no_is_told_with_its_message() -> None:
    """The model learns that the user said no, and what they said."""
    toolkit, state = Toolkit([Probe(opinion="ask")]), AgentState()
    call = await asked(toolkit, state)
    no = ConfirmResult(confirmed=False, tool_call=call, message="Use the other branch.")
    decided = await toolkit.confirm(call, no, state)
    assert "rejected" in text_of(decided.refusal)
    assert "Use the other branch." in text_of(decided.refusal)


async def test_a_yes_never_overrules_a_denial() -> None:
    """A deny rule that came after the question, or that edited arguments meet, stands."""
    state = AgentState()
    toolkit = Toolkit([Probe(opinion="ask")])
    call = await asked(toolkit, state)
    deny = PermissionRule(
        tool_name="Probe", rule_content="secret", behavior=PermissionBehavior.DENY
    )
    state.permission_context.deny_rules["Probe"] = [deny]
    decided = await toolkit.confirm(call, yes(call, '{"text": "secret"}'), state)
    assert decided.refusal is not None
    assert decided.refusal.state is ToolResultState.DENIED


@pytest.mark.parametrize(
    ("edited", "waits"),
    [('{"text": "harmless"}', False), ('{"text": "dangerous"}', True), ('{"text":"hi"}', False)],
)
async def test_edited_arguments_are_decided_anew(edited: str, waits: bool) -> None:
    """An edit that meets a safety check which was not shown is asked again; others run."""
    probe, state = Probe(opinion="ask"), AgentState()
    toolkit = Toolkit([probe])
    call = await asked(toolkit, state)
    decided = await toolkit.confirm(call, yes(call, edited), state)
    assert (decided.grant is None) is waits
    assert (call.state is ToolCallState.ASKING) is waits
    if waits:
        assert "the effect of the edit was not shown before" in str(call.decision)
        again = await toolkit.confirm(call, yes(call), state)
        assert again.grant is not None


async def test_edited_arguments_that_do_not_fit_are_an_error() -> None:
    """An edit is validated like the model's own arguments."""
    toolkit, state = Toolkit([Probe(opinion="ask")]), AgentState()
    call = await asked(toolkit, state)
    decided = await toolkit.confirm(call, yes(call, '{"text": 5}'), state)
    assert 'not of type "string"' in text_of(decided.refusal)


async def test_a_yes_to_something_that_changed_meanwhile_is_asked_again() -> None:
    """What the decision rested on has changed: the person is asked about how it is now."""
    probe, state = Probe(opinion="ask"), AgentState()
    toolkit = Toolkit([probe])
    call = await asked(toolkit, state)
    probe.basis = "/elsewhere"
    decided = await toolkit.confirm(call, yes(call), state)
    assert decided.grant is None
    assert call.state is ToolCallState.ASKING
    assert call.decision is decided.decision
    assert "has changed since it was asked" in str(call.decision)
    assert (await toolkit.confirm(call, yes(call), state)).grant is not None


async def test_an_answer_cannot_change_the_tool() -> None:
    """An answer that names another tool or another call is refused."""
    toolkit, state = Toolkit([Probe(opinion="ask"), Probe("Other")]), AgentState()
    call = await asked(toolkit, state)
    for changed in ({"name": "Other"}, {"id": "c2"}):
        answer = ConfirmResult(confirmed=True, tool_call=call.model_copy(update=changed))
        with pytest.raises(ResumeError):
            await toolkit.confirm(call, answer, state)
    assert call.state is ToolCallState.ASKING


class Idle(ToolBase):
    """A tool whose author forgot `call`."""

    name, description = "Idle", "Does nothing."
    input_schema = Probe.input_schema
    is_concurrency_safe = is_read_only = True

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        return PermissionDecision(PermissionBehavior.ALLOW, "It does nothing.")


@pytest.mark.parametrize(
    ("build", "told"),
    [
        (lambda: Toolkit([Probe(), Probe()]), "two tools named 'Probe'"),
        (lambda: Toolkit([Probe("with space")]), "is not valid for a model"),
        (lambda: Toolkit(cast("Any", [print])), "wrap a function with FunctionTool"),
        (lambda: Toolkit(cast("Any", Probe())), "give a list"),
        (lambda: Toolkit([Idle()]), "does not implement `call`"),
        (lambda: Probe(middlewares=LoggingMiddleware()), r"give a list, such as `\[Logging"),
        (lambda: Probe(middlewares=[LoggingMiddleware]), "give an instance"),
        (lambda: Probe(middlewares=[MiddlewareBase()]), "one of an agent is given to the agent"),
        (lambda: Read(max_line_characters=-1), "cut after 1 or more"),
        (lambda: OpenAIChatModel("m", base_url="localhost"), "give a whole URL"),
    ],
)
def test_a_kit_that_could_not_work_is_refused(build: Any, told: str) -> None:
    """A mistake of the developer raises, with the mend in the message."""
    with pytest.raises(ConfigurationError, match=told):
        build()


async def test_a_rule_for_a_tool_that_is_not_there_is_refused() -> None:
    """A rule that would do nothing raises at the next decision, however it came in."""
    state, toolkit = AgentState(), Toolkit([Probe()])
    state.permission_context.deny_rules["Prove"] = [
        PermissionRule(tool_name="Prove", behavior=PermissionBehavior.DENY)
    ]
    with pytest.raises(RuleError, match=r"did you mean 'Probe'.*remove it from the permission"):
        await toolkit.decide(call_of(), state)
    state.permission_context.deny_rules.clear()
    assert (await toolkit.decide(call_of(), state)).grant is not None


class Simple(Probe):
    """A tool whose rules have no content."""

    match_rule = ToolBase.match_rule


@pytest.mark.parametrize("behavior", list(PermissionBehavior)[:3])
async def test_a_rule_content_that_the_tool_cannot_read_is_refused(
    behavior: PermissionBehavior,
) -> None:
    """A content that would never match raises; a rule for the whole tool is fine."""
    state, toolkit = AgentState(), Toolkit([Simple()])
    table = state.permission_context.table(behavior)
    table.add(PermissionRule(tool_name="Probe", rule_content="x", behavior=behavior))
    with pytest.raises(RuleError, match="cannot read the rule content 'x'"):
        await toolkit.decide(call_of(), state)
    table["Probe"] = [PermissionRule(tool_name="Probe", behavior=behavior)]
    decided = await toolkit.decide(call_of(), state)
    assert decided.decision is not None
    assert decided.decision.behavior is behavior


async def test_cancelling_a_run_closes_the_tool() -> None:
    """The tool's own clean-up runs, and the cancellation is passed on."""
    closed = asyncio.Event()

    async def endless(_: str) -> AsyncGenerator[Any, None]:
        try:
            while True:
                yield chunk_of("tick")
                await asyncio.sleep(0.01)
        finally:
            closed.set()

    task = asyncio.create_task(outcome(Toolkit([Probe(work=endless)]), call_of(), AgentState()))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed.is_set()


async def test_a_tool_that_swallows_its_cancellation_is_stopped() -> None:
    """A chunk that is yielded after cancellation ends the run all the same."""

    async def stubborn(_: str) -> AsyncGenerator[Any, None]:
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
            yield chunk_of("still here")

    task = asyncio.create_task(outcome(Toolkit([Probe(work=stubborn)]), call_of(), AgentState()))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(asyncio.shield(task), 5)


async def test_tools_can_be_added_and_removed() -> None:
    """The schemas follow, and an unknown name is a developer's mistake."""
    toolkit = Toolkit([Probe()])
    await toolkit.add_tool([Probe("A"), Probe("B")])
    await toolkit.remove_tool("Probe")
    names = [schema["function"]["name"] for schema in await toolkit.get_tool_schemas()]
    assert names == ["A", "B"]
    assert await toolkit.get_tool("Probe") is None
    with pytest.raises(ConfigurationError, match="no tool named 'C'"):
        await toolkit.remove_tool("C")


async def test_a_schema_that_was_given_out_may_be_changed() -> None:
    """Whoever changes what a model was to be told changes neither the tool nor the next answer."""
    toolkit = Toolkit([FunctionTool(_tagged)])
    (first,) = await toolkit.get_tool_schemas()
    before = copy.deepcopy(first)
    first["function"]["parameters"]["properties"]["tags"]["items"]["type"] = "broken"
    first["function"]["parameters"]["required"].append("broken")
    assert await toolkit.get_tool_schemas() == [before]


def _tagged(tags: list[str]) -> None:
    del tags


async def many_lines(_: str) -> AsyncGenerator[Any, None]:
    """Yield 200,000 characters in pieces."""
    for number in range(2_000):
        yield chunk_of(f"{number:099}\n")


async def test_a_long_result_is_cut_and_kept() -> None:
    """Beyond 12,000 tokens the middle is cut, which is said, and the whole is on disk."""
    toolkit = Toolkit([Probe(work=many_lines)])  # its private directory goes with it
    response = await outcome(toolkit, call_of(), AgentState())
    assert response is not None
    assert 40_000 < len(text_of(response)) < 50_000
    assert text_of(response).startswith("0" * 99)
    assert text_of(response).endswith("1999\n")
    kept = Path(response.metadata["full_output"])
    assert str(kept) in text_of(response)
    assert len(await asyncio.to_thread(kept.read_text)) == 200_000
    assert kept.parent.stat().st_mode & 0o777 == 0o700


async def test_the_limit_of_a_result_can_be_set() -> None:
    """A counter and a limit of one's own hold; None cuts nothing."""

    class Words:
        def count(self, text: str) -> int:
            return len(text.split())

    few = Toolkit([Probe(work=many_lines)], result_limit=10, token_counter=Words())
    cut = await outcome(few, call_of(), AgentState())
    assert 8 <= sum(line.isdigit() for line in text_of(cut).splitlines()) <= 10
    whole = Toolkit([Probe(work=many_lines)], result_limit=None)
    assert len(text_of(await outcome(whole, call_of(), AgentState()))) == 200_000
