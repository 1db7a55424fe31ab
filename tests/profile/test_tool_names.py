"""A tool has a canonical name, and one for models; whatever is decided and told is canonical."""

from __future__ import annotations

import pytest

from agentscope_like.event import (
    RequireUserConfirmEvent,
    ToolCallStartEvent,
    ToolResultEndEvent,
    ToolResultStartEvent,
)
from agentscope_like.exception import ConfigurationError
from agentscope_like.message import TextBlock, ToolCallState, UserMsg
from agentscope_like.permission import PermissionRule, RuleError
from agentscope_like.profile import REFERENCE_TOOLS, Profile, ProfileError, model_name
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit, ToolProxy
from tests.agent.kit import agent_of
from tests.tool.kit import Probe, call_of, outcome, text_of

PATCH, ALIAS = "workspace.apply_patch", "workspace_apply_patch"


async def _shown(toolkit: Toolkit) -> list[str]:
    return [one["function"]["name"] for one in await toolkit.get_tool_schemas()]


async def test_tt_03_a_tool_has_a_canonical_name_and_an_alias() -> None:
    """The model sees the alias, and may call by either; the tool is known by the other."""
    probe = Probe(PATCH)
    toolkit = Toolkit([probe])
    assert await _shown(toolkit) == [ALIAS]
    assert await toolkit.tool_names() == [PATCH]
    for name in (ALIAS, PATCH):
        call = call_of(name)
        assert text_of(await outcome(toolkit, call, AgentState())) == f"{PATCH}:hi"
        assert call.name == PATCH


async def test_tt_04_rules_and_events_use_the_canonical_name() -> None:
    """A rule for the canonical name decides calls by the alias, and the events tell of it."""
    probe = Probe(PATCH, "passthrough")
    agent = agent_of([probe], [call_of(ALIAS)], [TextBlock(text="Done.")])
    agent.state.permission_context.ask_rules[PATCH] = [PermissionRule.parse(f"ask {PATCH}")]
    heard = [event async for event in agent.reply_stream(UserMsg("user", "Go."))]
    started = [event for event in heard if isinstance(event, ToolCallStartEvent)]
    assert [event.tool_call_name for event in started] == [PATCH]
    asked = [event for event in heard if isinstance(event, RequireUserConfirmEvent)]
    assert [call.name for event in asked for call in event.tool_calls] == [PATCH]


async def test_results_are_told_by_the_canonical_name() -> None:
    """The events of a call that ran, and what the agent keeps of it, name the tool."""
    agent = agent_of([Probe(PATCH)], [call_of(ALIAS)], [TextBlock(text="Done.")])
    heard = [event async for event in agent.reply_stream(UserMsg("user", "Go."))]
    begun = [event for event in heard if isinstance(event, ToolResultStartEvent)]
    assert [event.tool_call_name for event in begun] == [PATCH]
    assert any(isinstance(event, ToolResultEndEvent) for event in heard)


async def test_a_rule_by_the_alias_is_refused() -> None:
    """It names no tool, and the message suggests the one that it means."""
    state = AgentState()
    state.permission_context.deny_rules[ALIAS] = [PermissionRule.parse(f"deny {ALIAS}")]
    with pytest.raises(RuleError, match=r"did you mean 'workspace\.apply_patch'"):
        await Toolkit([Probe(PATCH)]).decide(call_of(ALIAS), state)


def test_tt_05_an_alias_in_a_profile_is_an_unknown_tool() -> None:
    """The message names the canonical name; that one is taken."""
    for tools in ({"allow": [ALIAS]}, {"deny": [ALIAS]}, {"maxCallsPerTool": {ALIAS: 1}}):
        profile = Profile.model_validate({"id": "a", "tools": tools})
        with pytest.raises(ProfileError, match=r"write 'workspace\.apply_patch'"):
            profile.check([PATCH])
    Profile.model_validate({"id": "a", "tools": {"allow": [PATCH]}}).check([PATCH])


def test_tt_16_there_are_18_tools_whose_aliases_have_underscores() -> None:
    """The names of the reference are known, and no two have one alias."""
    assert len(REFERENCE_TOOLS) == 18
    assert {model_name(name) for name in REFERENCE_TOOLS} == {
        *("agent_list", "agent_delegate", "agent_await", "task_return", "chat_search"),
        *("chat_read_messages", "worldinfo_read_activated", "skill_list", "skill_search"),
        *("skill_read", "workspace_list_files", "workspace_search_files", "workspace_read_file"),
        *("workspace_write_file", "workspace_apply_patch", "workspace_commit", "workspace_finish"),
        "dice_roll",
    }


@pytest.mark.parametrize(("first", "second"), [("a.b", "a_b"), ("a_b", "a.b"), ("a.b_c", "a_b.c")])
async def test_two_tools_of_one_alias_are_refused(first: str, second: str) -> None:
    """Both are named, wherever they meet; two names that differ otherwise are taken."""
    told = f"'{first}' and '{second}' would both be"
    with pytest.raises(ConfigurationError, match=told):
        Toolkit([Probe(first), Probe(second)])
    with pytest.raises(ConfigurationError, match=told):
        await Toolkit([Probe(first)]).add_tool(Probe(second))
    with pytest.raises(ConfigurationError, match=told):
        Toolkit([Probe(first)]).extended([Probe(second)])
    with pytest.raises(ConfigurationError, match="would both be"):
        ToolProxy([Toolkit([Probe(first)]), Toolkit([Probe(second)])])
    assert len(await Toolkit([Probe(first), Probe(f"{second}c")]).tool_names()) == 2


@pytest.mark.parametrize("name", [".a", "a.", "a..b", "a b", "", "a" * 65, "a." + "b" * 63])
def test_a_name_that_no_model_could_call_is_refused(name: str) -> None:
    """Dots stand singly between the parts of a name, which has 64 characters at most."""
    with pytest.raises(ConfigurationError, match="not valid for a model"):
        Toolkit([Probe(name)])


async def test_views_lead_aliases_back() -> None:
    """An extended toolkit, a proxy and a limited one all know what an alias stands for."""
    toolkit = Toolkit([Probe(PATCH), Probe("Other")])
    for view in (
        toolkit.extended([Probe("c.d")]),
        ToolProxy([toolkit], [PATCH]),
        toolkit.limited(shows={PATCH}.__contains__),
    ):
        assert view.canonical_name(ALIAS) == PATCH
        assert ALIAS in await _shown(view)
        call = call_of(ALIAS)
        assert text_of(await outcome(view, call, AgentState())) == f"{PATCH}:hi"
        assert call.state is ToolCallState.FINISHED
    assert toolkit.extended([Probe("c.d")]).canonical_name("c_d") == "c.d"
    assert ToolProxy([toolkit], ["Other"]).canonical_name(ALIAS) == ALIAS


async def test_tools_are_suggested_and_expanded_by_the_names_that_the_model_sees() -> None:
    """What the model is told of hidden tools, and what it asks for, are aliases."""
    toolkit = Toolkit([Probe(PATCH), Probe("skill.read")])
    state = AgentState()
    state.reply_context.suggested_tools = ["skill.read"]
    suggested = state.reply_context.suggested_tools
    schemas = await toolkit.get_tool_schemas(suggested=suggested)
    names = [one["function"]["name"] for one in schemas]
    assert names == ["skill_read", "tool_expand_tools"]
    refused = await outcome(toolkit, call_of(ALIAS), state)
    assert '{"tool_names": ["workspace_apply_patch"]}' in text_of(refused)
    ask = call_of("tool_expand_tools", f'{{"tool_names": ["{ALIAS}", "nothing"]}}')
    answer = text_of(await outcome(toolkit, ask, state))
    assert f'"expanded_tools": ["{ALIAS}"]' in answer
    assert '"invalid_tools": ["nothing"]' in answer
    assert state.reply_context.suggested_tools == ["skill.read", PATCH]
    assert text_of(await outcome(toolkit, call_of(ALIAS), state)) == f"{PATCH}:hi"
