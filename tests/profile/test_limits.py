"""What a profile hides is refused, and what a run may spend is never exceeded."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentscope_like.event import ConfirmResult
from agentscope_like.message import ToolCallState, ToolResponse, ToolResultState
from agentscope_like.permission import PermissionMode
from agentscope_like.profile import Account, Profile, add_deny_rules, limited_toolkit
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit, ToolProxy
from tests.tool.kit import Probe, call_of, outcome, text_of

SEARCH, READ = "chat.search", "skill.read"


def _profile(*allow: str, **tools: Any) -> Profile:
    return Profile.model_validate({"id": "writer", "tools": {"allow": allow, **tools}})


def _limited(profile: Profile, *tools: Probe) -> tuple[Toolkit, Account]:
    account = Account.of(profile.tools)
    return limited_toolkit(Toolkit(tools), profile, account), account


def _code(response: ToolResponse | None) -> object:
    return None if response is None else response.metadata.get("error_code")


async def test_tt_06_a_call_to_a_hidden_tool_is_refused_when_it_arrives() -> None:
    """By either name, it is a recoverable error, and does not run; a tool that is shown does."""
    hidden, shown = Probe(SEARCH), Probe(READ)
    toolkit, account = _limited(_profile(READ), hidden, shown)
    for name in ("chat_search", SEARCH):
        response = await outcome(toolkit, call_of(name), AgentState())
        assert response is not None
        assert response.state is ToolResultState.ERROR
        assert _code(response) == "agent.tool_policy_denied"
    assert not hidden.runs
    assert account.calls == 0
    assert text_of(await outcome(toolkit, call_of("skill_read"), AgentState())) == "skill.read:hi"


async def test_tt_07_what_a_profile_does_not_allow_is_not_shown() -> None:
    """Neither in the schemas nor in the list of an error; nor in a view of the toolkit."""
    toolkit, _ = _limited(_profile(READ, "a", deny=["a"]), Probe(SEARCH), Probe(READ), Probe("a"))
    for view in (toolkit, ToolProxy([toolkit]), toolkit.extended(())):
        schemas = await view.get_tool_schemas()
        assert [one["function"]["name"] for one in schemas] == ["skill_read"]
        unknown = text_of(await outcome(view, call_of("nothing"), AgentState()))
        assert "chat" not in unknown
        assert "skill_read" in unknown
        refused = await outcome(view, call_of("chat_search"), AgentState())
        assert _code(refused) == "agent.tool_policy_denied"


async def test_tools_that_the_runtime_adds_are_shown() -> None:
    """An extended toolkit shows the further tool, and no others; to return costs no call."""
    toolkit, account = _limited(_profile(READ), Probe(SEARCH), Probe(READ))
    extended = toolkit.extended([Probe("task.return")])
    names = [one["function"]["name"] for one in await extended.get_tool_schemas()]
    assert names == ["skill_read", "task_return"]
    assert (
        text_of(await outcome(extended, call_of("task_return"), AgentState())) == "task.return:hi"
    )
    assert account.calls == 0
    assert _code(await outcome(toolkit, call_of("task_return"), AgentState())) is None


async def test_being_visible_is_no_permission() -> None:
    """A tool in `tools.allow` is still decided: where it asks, the call waits."""
    probe = Probe(READ, "ask")
    toolkit, _ = _limited(_profile(READ), probe)
    call = call_of("skill_read")
    assert await outcome(toolkit, call, AgentState()) is None
    assert call.state is ToolCallState.ASKING
    assert not probe.runs


async def test_tt_140_deny_comes_before_allow_and_is_a_deny_rule() -> None:
    """A denied tool is hidden, and denied by a rule in every mode and through every toolkit."""
    probe, other = Probe(SEARCH), Probe(READ)
    profile = _profile(SEARCH, READ, deny=[SEARCH])
    toolkit, _ = _limited(profile, probe, other)
    assert [one["function"]["name"] for one in await toolkit.get_tool_schemas()] == ["skill_read"]
    state = AgentState()
    state.permission_context.mode = PermissionMode.BYPASS
    add_deny_rules(profile, state.permission_context, [SEARCH, READ])
    add_deny_rules(profile, state.permission_context, [SEARCH, READ])
    assert len(state.permission_context.deny_rules[SEARCH]) == 1
    whole = Toolkit([probe, other])
    response = await outcome(whole, call_of("chat_search"), state)
    assert response is not None
    assert response.state is ToolResultState.DENIED
    assert not probe.runs
    assert text_of(await outcome(whole, call_of("skill_read"), state)) == "skill.read:hi"


async def test_tt_142_the_calls_of_a_run_are_limited() -> None:
    """The call after the last is a recoverable error that does not run; another run has its own."""
    probe = Probe(READ)
    toolkit, account = _limited(_profile(READ, maxCallsPerRun=2), probe)
    for _ in range(2):
        response = await outcome(toolkit, call_of("skill_read"), AgentState())
        assert response is not None
        assert response.state is ToolResultState.SUCCESS
    response = await outcome(toolkit, call_of("skill_read"), AgentState())
    assert response is not None
    assert response.state is ToolResultState.ERROR
    assert _code(response) == "agent.tool_budget_exhausted"
    assert text_of(response).startswith("agent.tool_budget_exhausted: this run may make 2 calls")
    assert len(probe.runs) == account.calls == 2
    fresh, _ = _limited(_profile(READ, maxCallsPerRun=2), probe)
    assert _code(await outcome(fresh, call_of("skill_read"), AgentState())) is None


async def test_tt_143_the_calls_of_one_tool_are_limited_by_its_canonical_name() -> None:
    """The others go on."""
    search, read = Probe(SEARCH), Probe(READ)
    profile = _profile(SEARCH, READ, maxCallsPerTool={SEARCH: 1})
    toolkit, _ = _limited(profile, search, read)
    assert _code(await outcome(toolkit, call_of("chat_search"), AgentState())) is None
    second = await outcome(toolkit, call_of("chat_search"), AgentState())
    assert _code(second) == "agent.tool_budget_exhausted"
    assert "chat.search" in text_of(second)
    assert _code(await outcome(toolkit, call_of("skill_read"), AgentState())) is None
    assert (len(search.runs), len(read.runs)) == (1, 1)


async def test_tt_144_asking_for_a_disabled_tool_again_gives_errors_and_nothing_more() -> None:
    """No call is charged for it, and the tools that are shown can still be called."""
    toolkit, account = _limited(_profile(READ, maxCallsPerRun=1), Probe(SEARCH), Probe(READ))
    for _ in range(5):
        response = await outcome(toolkit, call_of("chat_search"), AgentState())
        assert _code(response) == "agent.tool_policy_denied"
    assert account.calls == 0
    assert _code(await outcome(toolkit, call_of("skill_read"), AgentState())) is None


async def test_what_did_not_run_takes_nothing() -> None:
    """Neither a call that was denied, is parked or malformed, nor one that was rejected."""
    denied, asking = Probe(SEARCH, "deny"), Probe(READ, "ask")
    toolkit, account = _limited(_profile(SEARCH, READ), denied, asking)
    state = AgentState()
    await outcome(toolkit, call_of("chat_search"), state)
    await outcome(toolkit, call_of("skill_read", '{"count": 0}'), state)
    parked = call_of("skill_read")
    assert await outcome(toolkit, parked, state) is None
    assert account.calls == 0
    rejected = await toolkit.confirm(
        parked.model_copy(), ConfirmResult(confirmed=False, tool_call=parked), state
    )
    assert rejected.refusal is not None
    assert account.calls == 0
    granted = await toolkit.confirm(parked, ConfirmResult(confirmed=True, tool_call=parked), state)
    assert granted.grant is not None
    assert account.calls == 0
    async for _ in toolkit.run(granted.grant, state):
        pass
    assert account.calls == 1


async def test_the_model_is_told_what_is_left() -> None:
    """At four fifths of a limit and at the last call, the result says so; otherwise nothing."""
    toolkit, _ = _limited(_profile(READ, maxCallsPerRun=10), Probe(READ))
    told = [text_of(await outcome(toolkit, call_of("skill_read"), AgentState())) for _ in range(10)]
    assert told[:7] == ["skill.read:hi"] * 7
    assert told[7] == "skill.read:hi\n\n2 calls of tools left in this run."
    assert told[8] == "skill.read:hi\n\n1 call of tools left in this run."
    assert told[9] == "skill.read:hi\n\nThat was the last call of tools in this run."


@pytest.mark.parametrize("most", [0, 1, 120])
async def test_200_concurrent_calls_never_exceed_a_budget(most: int) -> None:
    """Exactly as many run as there are; each other one is told that none is left."""
    probe = Probe(READ)
    toolkit, account = _limited(_profile(READ, maxCallsPerRun=most), probe)
    calls = [call_of("skill_read", call_id=f"c{number}") for number in range(200)]
    responses = await asyncio.gather(*(outcome(toolkit, call, AgentState()) for call in calls))
    codes = [_code(response) for response in responses]
    assert codes.count(None) == len(probe.runs) == account.calls == most
    assert codes.count("agent.tool_budget_exhausted") == 200 - most
