"""Seed 000, 1.4, "ToolProxy: Session-level Whitelist", row by row: SAGE-T of the table."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_like.exception import ConfigurationError, GrantError
from agentscope_like.message import ToolCallState, ToolResultState
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionMode,
    PermissionRule,
    RuleError,
)
from agentscope_like.skill import Skill
from agentscope_like.state import AgentState
from agentscope_like.tool import (
    CallRequest,
    ToolBase,
    ToolGroup,
    Toolkit,
    ToolManager,
    ToolProxy,
)
from tests.tool.kit import Probe, call_of, chunk_of, outcome, text_of

NAMES = ["alpha", "beta", "gamma", "delta"]


def manager_of(*names: str, **settings: Any) -> ToolManager:
    """Return a manager of tools of these names, which allow themselves."""
    return ToolManager([Probe(name) for name in names], modules=[], **settings)


async def shown(toolkit: Toolkit, *groups: str) -> list[str]:
    """Return the names that a model is told of."""
    return [one["function"]["name"] for one in await toolkit.get_tool_schemas(list(groups))]


class Plugins:
    """A source whose tools come and go."""

    name = "plugins"

    def __init__(self, *tools: ToolBase) -> None:
        self.tools = list(tools)
        self.version = 0

    async def list_tools(self) -> list[ToolBase]:
        return list(self.tools)

    async def refresh(self) -> None: ...


async def test_sage_t_14_only_what_is_listed_is_there() -> None:
    """Listing, schemas and lookups know of the whitelist only, in the manager's order."""
    proxy = ToolProxy([manager_of(*NAMES)], ["gamma", "alpha"])
    assert proxy.list_all_tools_name() == ["alpha", "gamma"]
    assert await shown(proxy) == ["alpha", "gamma"]
    assert proxy.get_tool_spec("beta") is None
    assert await proxy.get_tool("beta") is None


async def test_sage_t_14_a_call_outside_is_refused_and_one_inside_runs() -> None:
    """The model is told which tools there are; the tool outside does not run."""
    alpha, beta = Probe("alpha"), Probe("beta")
    proxy = ToolProxy([ToolManager([alpha, beta], modules=[])], ["alpha"])
    refused = await outcome(proxy, call_of("beta"), AgentState())
    assert refused is not None
    assert refused.state is ToolResultState.ERROR
    assert text_of(refused) == "There is no tool named 'beta'. Tools: alpha."
    assert text_of(await outcome(proxy, call_of("alpha"), AgentState())) == "alpha:hi"
    assert (alpha.runs, beta.runs) == (["hi"], [])


async def test_sage_t_14_none_shows_all_and_an_empty_list_nothing() -> None:
    """Without a whitelist all is there; with an empty one, nothing is."""
    manager = manager_of("alpha", "beta")
    assert await shown(ToolProxy([manager])) == ["alpha", "beta"]
    assert await shown(ToolProxy([manager], [])) == []


async def test_sage_t_14_nothing_that_comes_later_widens_it() -> None:
    """Tools that a manager gets later are in no view that does not name them."""
    manager = manager_of("alpha")
    proxy, whole = ToolProxy([manager], ["alpha"]), ToolProxy([manager])
    manager.register_tool(Probe("beta"))
    await manager.add_tool(Probe("gamma"))
    assert await shown(proxy) == ["alpha"]
    assert await shown(whole) == ["alpha", "beta", "gamma"]
    assert text_of(await outcome(proxy, call_of("beta"), AgentState())).startswith("There is no")


async def test_a_view_cannot_be_changed() -> None:
    """What a view shows is decided when it is made; the managers stay as they are."""
    manager = manager_of("alpha")
    proxy = ToolProxy([manager], ["alpha"])
    with pytest.raises(ConfigurationError, match="no `add_tool`"):
        await proxy.add_tool(Probe("beta"))
    with pytest.raises(ConfigurationError, match="no `remove_tool`"):
        await proxy.remove_tool("alpha")
    with pytest.raises(ConfigurationError, match="no `clear`"):
        proxy.clear()
    assert await shown(proxy) == await shown(manager) == ["alpha"]


async def test_sage_t_15_the_first_manager_wins() -> None:
    """Of tools of one name that of the manager with the lower index is there, and runs."""
    first, second = Probe("alpha"), Probe("alpha")
    managers = [ToolManager([first], modules=[]), ToolManager([second, Probe("beta")], modules=[])]
    proxy = ToolProxy(managers, ["alpha", "beta"])
    assert await proxy.get_tool("alpha") is first
    await outcome(proxy, call_of("alpha"), AgentState())
    assert (first.runs, second.runs) == (["hi"], [])
    assert await shown(proxy) == ["alpha", "beta"]
    assert await ToolProxy(managers[::-1]).get_tool("alpha") is second


async def test_sage_t_15_the_first_manager_s_schema_is_shown() -> None:
    """The model is told of the tool that would run, not of another one that has its name."""
    first, second = Probe("alpha"), Probe("alpha")
    first.description, second.description = "The first.", "The second."
    proxy = ToolProxy([ToolManager([tool], modules=[]) for tool in (first, second)])
    (schema,) = await proxy.get_tool_schemas()
    spec = proxy.get_tool_spec("alpha")
    assert schema["function"]["description"] == "The first."
    assert spec is not None
    assert spec.description == "The first."


def test_sage_t_16_it_has_all_that_a_manager_is_used_by() -> None:
    """What is called of a manager while a session runs, a view has with the same parameters."""
    for name, method in inspect.getmembers(ToolManager, inspect.isfunction):
        if not name.startswith(("_", "register_", "close")):
            assert inspect.signature(getattr(ToolProxy, name)) == inspect.signature(method), name
    assert issubclass(ToolProxy, Toolkit)


async def test_sage_t_16_a_view_of_a_view_is_narrower_still() -> None:
    """A view takes views as well as managers, and toolkits that are neither."""
    outer = ToolProxy([manager_of("alpha", "beta")], ["alpha", "beta"])
    inner = ToolProxy([outer, Toolkit([Probe("gamma")])], ["beta", "gamma", "delta"])
    assert await shown(inner) == ["beta", "gamma"]
    assert text_of(await outcome(inner, call_of("gamma"), AgentState())) == "gamma:hi"


def test_sage_t_17_unknown_names_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    """A name that no manager has is logged with the nearest one; the others are there."""
    proxy = ToolProxy([manager_of("alpha", "beta")], ["alhpa", "beta"])
    assert proxy.list_all_tools_name() == ["beta"]
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage() == (
        "available_tools: no tool is named 'alhpa'; did you mean 'alpha'?"
    )


async def test_sage_t_17_a_server_s_tool_is_missed_once_it_was_asked(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What a source may yet list is warned of when it has been asked, once, and not before."""
    names = ["mcp__plugins__one", "mcp__plugins__two"]
    manager = manager_of("alpha", mcps=[Plugins(Probe(names[0]))])
    proxy = ToolProxy([manager], names)
    assert caplog.records == []
    for _ in range(2):
        await proxy.refresh()
    assert [record.args[0] for record in caplog.records if record.args] == [names[1]]  # type: ignore[index]
    assert await shown(proxy) == [names[0]]


async def test_sage_t_18_views_of_one_manager_are_independent() -> None:
    """Two requests look at one manager at once, each through its own list."""
    manager = manager_of(*NAMES)
    one, other = ToolProxy([manager], ["alpha"]), ToolProxy([manager], ["beta"])
    assert (await shown(one), await shown(other)) == (["alpha"], ["beta"])
    decided = await one.decide(call_of("alpha"), AgentState())
    assert decided.grant is not None
    for stranger in (other, manager):
        with pytest.raises(GrantError, match="not issued by this toolkit"):
            stranger.run(decided.grant, AgentState())


async def test_a_grant_for_what_has_left_the_manager_does_not_run() -> None:
    """A tool that is taken out between decision and run does not run through the view either."""
    manager = manager_of("alpha")
    proxy = ToolProxy([manager], ["alpha"])
    decided = await proxy.decide(call_of("alpha"), AgentState())
    assert decided.grant is not None
    await manager.remove_tool("alpha")
    with pytest.raises(GrantError, match="removed or replaced"):
        [item async for item in proxy.run(decided.grant, AgentState())]


# What the managers demand


def refusing(word: str) -> Callable[..., Awaitable[PermissionDecision]]:
    """Return a decision layer that denies everything."""

    async def layer(request: CallRequest, go_on: Any) -> PermissionDecision:
        return PermissionDecision(PermissionBehavior.DENY, f"{word} says no.")

    return layer


async def test_a_manager_s_decision_layers_hold_in_its_views() -> None:
    """No call gets around a manager's layers by way of a view."""
    guarded = manager_of("alpha", decision_layers=[refusing("The guard")])
    for proxy in (ToolProxy([guarded]), ToolProxy([ToolProxy([guarded])])):
        response = await outcome(proxy, call_of("alpha"), AgentState())
        assert text_of(response) == "Denied: The guard says no."


async def test_a_manager_s_decision_layers_are_not_for_the_others_tools() -> None:
    """A layer of one manager has no say about another's tool, and keeps its own."""
    guarded = manager_of("alpha", decision_layers=[refusing("The guard")])
    proxy = ToolProxy([guarded, manager_of("beta")])
    assert "says no" in text_of(await outcome(proxy, call_of("alpha"), AgentState()))
    assert text_of(await outcome(proxy, call_of("beta"), AgentState())) == "beta:hi"


async def test_a_layer_holds_for_a_tool_that_several_managers_have() -> None:
    """Each manager that has a tool has its layers asked, whoever has it first."""
    tool = Probe("alpha")
    guarded = ToolManager([tool], modules=[], decision_layers=[refusing("The guard")])
    open_one = ToolManager([tool], modules=[])
    for first in (guarded, ToolProxy([guarded])):
        for second in (guarded, open_one, ToolProxy([guarded])):
            proxy = ToolProxy([first, second])
            assert "says no" in text_of(await outcome(proxy, call_of("alpha"), AgentState()))
    proxy = ToolProxy([open_one, guarded])
    assert "says no" in text_of(await outcome(proxy, call_of("alpha"), AgentState()))
    other = ToolManager([Probe("alpha")], modules=[])
    proxy = ToolProxy([other, guarded])
    assert text_of(await outcome(proxy, call_of("alpha"), AgentState())) == "alpha:hi"


async def test_a_layer_also_sees_what_a_reply_adds() -> None:
    """Tools that belong to no manager, such as those of a middleware, pass all layers."""
    guarded = manager_of("alpha", decision_layers=[refusing("The guard")])
    extended = ToolProxy([guarded, manager_of("beta")]).extended([Probe("own")])
    assert "says no" in text_of(await outcome(extended, call_of("own"), AgentState()))


async def test_the_lowest_limit_of_results_holds() -> None:
    """A view cuts results at the lowest of its managers' limits, and not at all without any."""

    async def much(text: str) -> Any:
        yield chunk_of("word " * 20_000)

    tool = Probe("alpha", work=much)
    unlimited = ToolManager([tool], modules=[], result_limit=None)
    strict = manager_of("beta", result_limit=500)
    whole = text_of(await outcome(ToolProxy([unlimited]), call_of("alpha"), AgentState()))
    cut = text_of(await outcome(ToolProxy([unlimited, strict]), call_of("alpha"), AgentState()))
    assert len(whole) == 100_000
    assert len(cut) < 5_000


async def test_rules_may_be_for_tools_that_the_view_leaves_out() -> None:
    """A session's policy is written for all tools; a rule for none of them is still refused."""
    manager = manager_of("alpha", "beta")
    proxy = ToolProxy([manager], ["alpha"])
    deny = PermissionRule(tool_name="beta", behavior=PermissionBehavior.DENY)
    state = AgentState(permission_context=PermissionContext(deny_rules={"beta": [deny]}))
    assert text_of(await outcome(proxy, call_of("alpha"), state)) == "alpha:hi"
    lost = PermissionRule(tool_name="betta", behavior=PermissionBehavior.DENY)
    state = AgentState(permission_context=PermissionContext(deny_rules={"betta": [lost]}))
    with pytest.raises(RuleError, match="did you mean 'beta'"):
        await proxy.decide(call_of("alpha"), state)


async def test_a_question_is_asked_and_answered_through_a_view() -> None:
    """What a manager's tool asks, it asks in a view; the call waits."""
    manager = ToolManager([Probe("alpha", "ask")], modules=[])
    call = call_of("alpha")
    assert await outcome(ToolProxy([manager]), call, AgentState()) is None
    assert call.state is ToolCallState.ASKING


# Groups, skills and sources of managers


async def test_groups_of_a_manager_stay_groups() -> None:
    """A tool of an inactive group is not shown; `reset_tools` is there where it is listed."""
    kit = Toolkit([Probe("alpha")], tool_groups=[ToolGroup("more", "More.", tools=[Probe("beta")])])
    proxy = ToolProxy([kit], ["alpha", "beta", "reset_tools"])
    assert await shown(proxy) == ["alpha", "reset_tools"]
    assert await shown(proxy, "more") == ["alpha", "reset_tools", "beta"]
    told = text_of(await outcome(proxy, call_of("beta"), AgentState()))
    assert 'call reset_tools with {"more": true}' in told
    told = text_of(await outcome(ToolProxy([kit], ["beta"]), call_of("beta"), AgentState()))
    assert told.endswith("which is not active.")


async def test_skills_are_told_of_where_their_viewer_is_listed() -> None:
    """The prompt speaks of skills only in a view that has the tool to read them."""
    skill = Skill("carve", "Carve wood.", "", "Take a knife.", 0.0)
    kit = Toolkit([Probe("alpha")], skills_or_loaders=[skill])
    seeing, blind = ToolProxy([kit], ["alpha", "Skill"]), ToolProxy([kit], ["alpha"])
    assert "carve" in str(await seeing.get_skill_instructions())
    assert await blind.get_skill_instructions() is None
    assert (await shown(seeing), await shown(blind)) == (["alpha", "Skill"], ["alpha"])


async def test_a_source_s_tools_come_and_go_in_a_view() -> None:
    """A view follows the sources of its managers, without asking them more often."""
    plugins = Plugins()
    proxy = ToolProxy([manager_of("alpha", mcps=[plugins])])
    assert await shown(proxy) == ["alpha"]
    plugins.tools, plugins.version = [Probe("mcp__plugins__one")], 1
    assert await shown(proxy) == ["alpha", "mcp__plugins__one"]
    plugins.tools, plugins.version = [], 2
    call = call_of("mcp__plugins__one")
    assert text_of(await outcome(proxy, call, AgentState())).startswith("There is no tool")


async def test_a_silent_server_is_told_of_to_whom_may_use_it() -> None:
    """A call of a listed tool is told that its server offers nothing; of another one, nothing."""
    listed, other = "mcp__plugins__one", "mcp__plugins__two"
    proxy = ToolProxy([manager_of("alpha", mcps=[Plugins()])], [listed])
    await proxy.refresh()
    told = text_of(await outcome(proxy, call_of(listed), AgentState()))
    assert "The server 'plugins' offers no tools for now" in told
    told = text_of(await outcome(proxy, call_of(other), AgentState()))
    assert "plugins'" not in told


# What is refused


@pytest.mark.parametrize("managers", [[], ["alpha"], [None], Probe("alpha")])
def test_what_is_no_toolkit_is_refused(managers: Any) -> None:
    """A view is made of toolkits; anything else is named in the error."""
    with pytest.raises(ConfigurationError, match="`tool_managers` holds"):
        ToolProxy(managers, [])


def test_one_name_is_no_list() -> None:
    """A name in the place of a list would be a list of letters."""
    with pytest.raises(ConfigurationError, match=r"give \['alpha'\]"):
        ToolProxy([manager_of("alpha")], "alpha")


async def test_one_manager_needs_no_list() -> None:
    """A single manager may be given as it is."""
    assert await shown(ToolProxy(manager_of("alpha"))) == ["alpha"]


@given(
    sets=st.lists(st.lists(st.sampled_from(NAMES), unique=True), min_size=1, max_size=3),
    available=st.none() | st.lists(st.sampled_from([*NAMES, "tool_expand_tools", "epsilon"])),
)
async def test_whatever_is_asked_for_nothing_else_is_there(
    sets: list[list[str]], available: list[str] | None
) -> None:
    """What is shown is what is decided about: names that are listed and that a manager has."""
    proxy = ToolProxy([manager_of(*names) for names in sets], available)
    there = {name for names in sets for name in names}
    expected = there if available is None else there & set(available)
    assert set(await shown(proxy)) == set(proxy.list_all_tools_name()) == expected
    bypass = AgentState(permission_context=PermissionContext(mode=PermissionMode.BYPASS))
    for name in NAMES:
        decided = await proxy.decide(call_of(name), bypass)
        assert (decided.grant is not None) == (name in expected)
