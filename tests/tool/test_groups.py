"""Tool groups: what is shown, what can be called, how an agent chooses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentscope_like.exception import (
    ConfigurationError,
    ToolGroupInactiveError,
    ToolNotFoundError,
)
from agentscope_like.message import ToolCallBlock, ToolCallState, ToolResponse, ToolResultState
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import ResetTools, ToolBase, ToolGroup, Toolkit
from tests.tool.kit import Probe, call_of, outcome, text_of


def toolkit(**options: Any) -> Toolkit:
    """Return a toolkit with a basic tool and two groups."""
    return Toolkit(
        tools=[Probe()],
        tool_groups=[
            ToolGroup("database", "Tools for the database.", "Use transactions.", [Probe("Query")]),
            ToolGroup("deploy", "Tools to deploy.", tools=[Probe("Deploy"), Probe("Rollback")]),
        ],
        **options,
    )


def reset(**groups: bool) -> ToolCallBlock:
    """Return a call of `reset_tools`."""
    return call_of("reset_tools", json.dumps(groups))


def active(*names: str) -> AgentState:
    """Return a state in which these groups are active."""
    state = AgentState()
    state.tool_context.activated_groups = list(names)
    return state


async def shown(kit: Toolkit, *groups: str) -> list[str]:
    """Return the names of the tools that a model is told of."""
    return [schema["function"]["name"] for schema in await kit.get_tool_schemas(list(groups))]


async def test_the_tools_of_inactive_groups_are_hidden() -> None:
    """The model is told of the basic tools and of those of the active groups, in their order."""
    kit = toolkit()
    assert await shown(kit) == ["Probe", "reset_tools"]
    assert await shown(kit, "deploy") == ["Probe", "reset_tools", "Deploy", "Rollback"]
    everything = ["Probe", "reset_tools", "Query", "Deploy", "Rollback"]
    assert await shown(kit, "deploy", "database") == everything
    assert await shown(kit, "basic", "of an older session") == ["Probe", "reset_tools"]
    assert [s["function"]["name"] for s in await kit.get_tool_schemas()] == await shown(kit)


async def test_without_groups_there_is_no_meta_tool() -> None:
    """`reset_tools` comes with the first group besides `basic`."""
    assert await shown(Toolkit([Probe()])) == ["Probe"]
    assert await shown(Toolkit([Probe()], tool_groups=[])) == ["Probe"]
    assert await shown(Toolkit(tool_groups=[ToolGroup("empty", "None yet.")])) == ["reset_tools"]


async def test_the_meta_tool_has_a_boolean_for_each_group() -> None:
    """The model decides by the descriptions; `basic` is not to be chosen."""
    schema = (await toolkit().get_tool_schemas())[1]["function"]["parameters"]
    assert schema == {
        "type": "object",
        "properties": {
            "database": {
                "type": "boolean",
                "default": False,
                "description": "Tools for the database.",
            },
            "deploy": {"type": "boolean", "default": False, "description": "Tools to deploy."},
        },
    }


async def test_activating_a_group() -> None:
    """Its instructions are returned, its tools are shown and run, and the state can be stored."""
    kit, state = toolkit(), AgentState()
    response = await outcome(kit, reset(database=True), state)
    assert response is not None
    assert response.state is ToolResultState.SUCCESS
    assert text_of(response) == (
        "Active tool groups: database.\n\nHow to use the tools of database:\nUse transactions."
    )
    stored = AgentState.model_validate_json(state.model_dump_json())
    assert stored.tool_context.activated_groups == ["database"]
    assert text_of(await outcome(kit, call_of("Query"), stored)) == "Query:hi"


async def test_the_input_is_the_final_state() -> None:
    """What is not said to be active is not, whatever it was before."""
    kit, state = toolkit(), active("database")
    response = await outcome(kit, reset(deploy=True), state)
    assert state.tool_context.activated_groups == ["deploy"]
    assert text_of(response) == "Active tool groups: deploy. No longer active: database."
    assert text_of(await outcome(kit, reset(), state)) == (
        "No tool group is active. No longer active: deploy."
    )
    assert state.tool_context.activated_groups == []


async def test_instructions_come_once() -> None:
    """A group that stays active is not explained again; one that comes back is."""
    kit, state = toolkit(), AgentState()
    assert "Use transactions." in text_of(await outcome(kit, reset(database=True), state))
    both = text_of(await outcome(kit, reset(database=True, deploy=True), state))
    assert both == "Active tool groups: database, deploy."
    await outcome(kit, reset(deploy=True), state)
    assert "Use transactions." in text_of(await outcome(kit, reset(database=True), state))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ('{"databse": true}', "database"),
        ('{"basic": true}', "basic"),
        ('{"database": "yes"}', "boolean"),
    ],
)
async def test_a_wrong_choice_changes_nothing(arguments: str, message: str) -> None:
    """An unknown group, or a value that is no boolean, is an error that says so."""
    kit, state = toolkit(), active("deploy")
    response = await outcome(kit, call_of("reset_tools", arguments), state)
    assert response is not None
    assert response.state is ToolResultState.ERROR
    assert message in text_of(response)
    assert state.tool_context.activated_groups == ["deploy"]


async def test_calling_a_tool_of_an_inactive_group() -> None:
    """It does not run; the answer names the group and the call that activates it."""
    query = Probe("Query")
    kit = Toolkit(
        tool_groups=[ToolGroup("database", "Data.", tools=[query]), ToolGroup("deploy", "Ships.")]
    )
    call = call_of("Query")
    response = await outcome(kit, call, active("deploy"))
    assert response is not None
    assert (response.state, call.state) == (ToolResultState.ERROR, ToolCallState.FINISHED)
    assert "in the tool group 'database', which is not active" in text_of(response)
    assert 'call reset_tools with {"deploy": true, "database": true}' in text_of(response)
    assert query.runs == []
    assert await outcome(kit, call_of("Query"), active("deploy", "database")) is not None
    assert query.runs == ["hi"]


async def test_what_can_be_called_is_what_is_said_to_be_there() -> None:
    """An unknown name is answered with the tools of the active groups, and the nearest of all."""
    missing = text_of(await outcome(toolkit(), call_of("Querry"), AgentState()))
    assert missing == (
        "There is no tool named 'Querry'; did you mean 'Query'? Tools: Probe, reset_tools."
    )


async def test_check_tool_available() -> None:
    """A program can ask what a model could call."""
    kit = toolkit()
    assert (await kit.check_tool_available("Probe", [])).name == "Probe"
    assert (await kit.check_tool_available("Query", ["database"])).name == "Query"
    assert await kit.get_tool("Query") is not None
    with pytest.raises(ToolGroupInactiveError, match="'database'"):
        await kit.check_tool_available("Query", ["deploy"])
    with pytest.raises(ToolNotFoundError):
        await kit.check_tool_available("query", ["database"])


async def test_a_yes_does_not_reach_into_an_inactive_group() -> None:
    """A call that asked is refused where its group has been left meanwhile."""
    from agentscope_like.event import ConfirmResult

    kit = Toolkit(tool_groups=[ToolGroup("database", "Data.", tools=[Probe("Query", "ask")])])
    call, state = call_of("Query"), active("database")
    assert (await kit.decide(call, state)).refusal is None
    state.tool_context.activated_groups = []
    answer = ConfirmResult(confirmed=True, tool_call=call.model_copy())
    decided = await kit.confirm(call, answer, state)
    assert decided.grant is None
    assert "not active" in text_of(decided.refusal)


@pytest.mark.parametrize("mode", list(PermissionMode))
async def test_choosing_groups_is_never_asked_about(mode: PermissionMode) -> None:
    """It touches only the agent's own state, so that a plan can be made in each mode."""
    state = AgentState(permission_context=PermissionContext(mode=mode))
    response = await outcome(toolkit(), reset(database=True), state)
    assert isinstance(response, ToolResponse)
    assert state.tool_context.activated_groups == ["database"]


async def test_a_deny_rule_keeps_the_groups_as_they_are() -> None:
    """The one rule that stops it."""
    deny = PermissionRule(tool_name="reset_tools", behavior=PermissionBehavior.DENY)
    context = PermissionContext(deny_rules={"reset_tools": [deny]})
    state = AgentState(permission_context=context)
    response = await outcome(toolkit(), reset(database=True), state)
    assert response is not None
    assert response.state is ToolResultState.DENIED
    assert state.tool_context.activated_groups == []


async def test_a_rule_may_be_for_a_tool_of_an_inactive_group() -> None:
    """The tool exists, so the rule does something; activating its group does not lift it."""
    deny = PermissionRule(tool_name="Query", behavior=PermissionBehavior.DENY)
    state = AgentState(permission_context=PermissionContext(deny_rules={"Query": [deny]}))
    kit = toolkit()
    await outcome(kit, reset(database=True), state)
    response = await outcome(kit, call_of("Query"), state)
    assert response is not None
    assert response.state is ToolResultState.DENIED


async def test_tools_can_be_added_to_a_group() -> None:
    """They are hidden with it; a group that is not there is a developer's mistake."""
    kit = toolkit()
    await kit.add_tool([Probe("Migrate")], "database")
    await kit.add_tool(Probe("Plain"))
    assert await shown(kit) == ["Probe", "reset_tools", "Plain"]
    assert "Migrate" in await shown(kit, "database")
    with pytest.raises(ConfigurationError, match="no tool group named 'databse'; did you mean"):
        await kit.add_tool(Probe("Other"), "databse")
    await kit.remove_tool("Query")
    assert "Query" not in await shown(kit, "database")


async def test_clear_leaves_nothing() -> None:
    """Tools, groups and the meta tool are gone; the toolkit can be filled anew."""
    kit = toolkit()
    kit.clear()
    assert await shown(kit, "database") == []
    await kit.add_tool(Probe("Again"))
    assert await shown(kit) == ["Again"]


async def test_an_extended_toolkit_has_the_groups() -> None:
    """It follows the one that it extends, and hides its own tools from that."""
    kit = toolkit()
    extended = kit.extended([Probe("Extra")])
    assert await shown(extended, "database") == ["Probe", "reset_tools", "Extra", "Query"]
    await kit.add_tool(Probe("Late"), "database")
    assert "Late" in await shown(extended, "database")
    assert "Extra" not in await shown(kit, "database")
    with pytest.raises(ConfigurationError, match="two tools named 'Query'"):
        kit.extended([Probe("Query")])


async def test_a_tool_that_was_renamed_is_told_of() -> None:
    """A new name behind the toolkit's back is a developer's mistake, also in an extended one."""
    tool = Probe("Old")
    kit = Toolkit([tool]).extended([Probe("Extra")])
    tool.name = "New"
    with pytest.raises(ConfigurationError, match="'Old' was renamed to 'New'"):
        await kit.decide(call_of("Old"), AgentState())
    assert (await kit.decide(call_of("Extra"), AgentState())).grant is not None


class Counting(Probe):
    """Counts how often it is asked what it does."""

    asked = 0

    @property
    def description(self) -> str:  # type: ignore[override]
        self.asked += 1
        return "Answers."


async def test_schemas_are_made_once() -> None:
    """They are made anew only where a tool came or went; what is handed out is a copy."""
    tool = Counting("Counting")
    kit = Toolkit(tool_groups=[ToolGroup("one", "One.", tools=[tool]), ToolGroup("two", "Two.")])
    first = await kit.get_tool_schemas(["one"])
    asked = tool.asked
    first[-1]["function"]["name"] = "changed"
    for _ in range(5):
        await kit.get_tool_schemas()
        assert await shown(kit, "one") == ["reset_tools", "Counting"]
    assert tool.asked == asked
    await kit.add_tool(Probe())
    assert await shown(kit, "one") == ["reset_tools", "Probe", "Counting"]
    assert tool.asked > asked


# What is refused when it is put together


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([ToolGroup("a", "A."), ToolGroup("a", "B.")], "two tool groups named 'a'"),
        ([ToolGroup("basic")], "'basic' is the group of what is given to the toolkit itself"),
        ([ToolGroup("a", "A.", tools=[Probe()])], "two tools named 'Probe'"),
        ([ToolGroup("a", "A.", tools=[Probe("reset_tools")])], "two tools named 'reset_tools'"),
        (ToolGroup("a", "A."), "`tool_groups` is one of them: give a list"),
        (["a"], "`tool_groups` holds 'a'; give `ToolGroup` objects"),
    ],
)
def test_groups_that_cannot_be(groups: Any, message: str) -> None:
    """Names are unique among groups and, whatever their groups, among tools."""
    with pytest.raises(ConfigurationError, match=message):
        Toolkit([Probe()], tool_groups=groups)


@pytest.mark.parametrize("name", ["", "two words", "_agent_state", "a" * 65, "größe", "a\n"])
def test_a_group_name_that_no_model_could_be_told(name: str) -> None:
    """It becomes the name of an argument."""
    with pytest.raises(ConfigurationError, match="is not valid for a model"):
        ToolGroup(name, "A group.")


@pytest.mark.parametrize("description", [None, "", " "])
def test_a_group_needs_a_description(description: str | None) -> None:
    """The model chooses by it; `basic`, which is never chosen, needs none."""
    with pytest.raises(ConfigurationError, match="'a' has no description"):
        ToolGroup("a", description)
    assert ToolGroup("basic").description == ""


@pytest.mark.parametrize("tools", [Probe(), [print], "Bash"])
def test_what_is_no_list_of_tools(tools: Any) -> None:
    """One tool, or something else, is not taken for a list of tools."""
    with pytest.raises(ConfigurationError, match="`tools`"):
        ToolGroup("a", "A.", tools=tools)


# Templates of one's own


async def test_a_response_template() -> None:
    """It is given the groups that are active, and those that came and went."""
    template = (
        "{% if groups | length == 0 %}None.{% else %}{{ groups | map(attribute='name') | join('+') "
        "}}{% endif %}{% for g in activated %} {{ g.name }}: {{ g.instructions }}{% endfor %}"
        "{% for g in deactivated %} -{{ g.name }}{% endfor %}"
    )
    kit, state = toolkit(meta_tool_response_template=template), active("deploy")
    response = await outcome(kit, reset(database=True), state)
    assert text_of(response) == "database database: Use transactions. -deploy"
    assert text_of(await outcome(kit, reset(), state)) == "None. -database"


@pytest.mark.parametrize(
    "template",
    [
        "{% if %}",
        "{{ group.name }}",
        "{{ groups.__class__.__mro__ }}",
        "{% for g in groups %}{{ g.nam }}{% endfor %}",
    ],
)
def test_a_template_that_cannot_be(template: str) -> None:
    """What it does wrong, or must not do, is said when the toolkit is made."""
    with pytest.raises(ConfigurationError, match="`meta_tool_response_template`"):
        toolkit(meta_tool_response_template=template)


def test_without_jinja_a_template_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install; the default texts need nothing."""
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(ConfigurationError, match=r"agentscope_like\[templates\]"):
        toolkit(meta_tool_response_template="Done.")
    assert isinstance(toolkit(), Toolkit)


async def test_the_meta_tool_can_be_made_by_hand() -> None:
    """`ResetTools` is an ordinary tool; group names that are Python's own words do no harm."""
    tool: ToolBase = ResetTools([ToolGroup("self", "S."), ToolGroup("class", "C.")])
    state = AgentState()
    await outcome(Toolkit([tool]), reset(self=True), state)
    assert state.tool_context.activated_groups == ["self"]
