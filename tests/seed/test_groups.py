"""Seed 002, "Manage Tools Agentically", row by row."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.exception import ConfigurationError
from agentscope_like.message import ToolResultState
from agentscope_like.permission import PermissionMode
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolGroup, Toolkit
from tests.agent.kit import agent_of, events_of, reloaded
from tests.seed.kit import ASK, DONE, Echo, call, call_of, client_of, permitting, rule, said, shown
from tests.seed.servers.office import OfficeAddress
from tests.skill.kit import write_skill


def toolkit() -> Toolkit:
    """Return a toolkit with a plain tool and two groups."""
    return Toolkit(
        tools=[Echo("Plain")],
        tool_groups=[
            ToolGroup(
                name="database",
                description="Tools for the database.",
                instructions="Wrap changes in a transaction.",
                tools=[Echo("Query")],
            ),
            ToolGroup(
                name="deployment",
                description="Tools for deploying.",
                instructions="Confirm the target.",
                tools=[Echo("Deploy")],
            ),
            ToolGroup(name="quiet", description="Without instructions.", tools=[Echo("Quiet")]),
        ],
    )


async def active_after(kit: Toolkit, state: AgentState, **groups: bool) -> list[str]:
    """Call the meta tool and return the groups that are active then."""
    await said(kit, "reset_tools", state, **groups)
    return state.tool_context.activated_groups


# Define Tool Group


async def test_002_group_1_a_group_bundles_tools_clients_and_skills(
    office: OfficeAddress, tmp_path: Path
) -> None:
    """It takes the arguments of the toolkit; all that is in it is there when it is active."""
    write_skill(tmp_path / "pdf")
    group = ToolGroup(
        name="work",
        description="For work.",
        tools=[Echo()],
        mcps=[client_of(office)],
        skills_or_loaders=[str(tmp_path)],
    )
    kit = Toolkit(tool_groups=[group])
    state = AgentState()
    state.tool_context.activated_groups = ["work"]
    assert await said(kit, "Echo", state, text="x") == "x"
    assert "Do it." in await said(kit, "Skill", state, skill="pdf")
    assert await call(kit, "mcp__office__web_search", state, query="x") is None  # it asks


async def test_002_group_2_what_the_toolkit_itself_is_given_is_the_basic_group(
    tmp_path: Path,
) -> None:
    """`basic` is made by itself, is always active, and its name is taken."""
    write_skill(tmp_path / "pdf")
    kit = Toolkit([Echo()], skills_or_loaders=[str(tmp_path)])
    for groups in ([], ["basic"], ["unknown"]):
        assert await shown(kit, *groups) == ["Echo", "Skill"]
    with pytest.raises(ConfigurationError, match="basic"):
        Toolkit(tool_groups=[ToolGroup("basic", "Mine.")])


async def test_002_group_3_the_description_is_told_with_the_meta_tool() -> None:
    """Each group's description is in the schema; a group cannot do without one."""
    schemas = {one["function"]["name"]: one for one in await toolkit().get_tool_schemas()}
    properties = schemas["reset_tools"]["function"]["parameters"]["properties"]
    assert properties["database"]["description"] == "Tools for the database."
    assert properties["deployment"]["description"] == "Tools for deploying."
    with pytest.raises(ConfigurationError, match="no description"):
        ToolGroup("mute")


async def test_002_group_4_instructions_are_optional_and_told_on_activation() -> None:
    """They are in the answer of the meta tool, and in no schema."""
    kit, state = toolkit(), AgentState()
    assert "transaction" not in str(await kit.get_tool_schemas(["database"]))
    assert "Wrap changes in a transaction." in await said(kit, "reset_tools", state, database=True)
    assert "How to use" not in await said(kit, "reset_tools", state, quiet=True)


# Use Meta Tool


async def test_002_meta_1_it_is_there_with_the_first_group() -> None:
    """Registered by the toolkit, told to the agent; not there without a group."""
    assert await shown(Toolkit([Echo()])) == ["Echo"]
    kit = Toolkit([Echo()], tool_groups=[ToolGroup("other", "Something else.")])
    assert await shown(kit) == ["Echo", "reset_tools"]


async def test_002_meta_2_each_group_is_a_boolean() -> None:
    """One field for each group but `basic`; what is no boolean is refused."""
    schemas = {one["function"]["name"]: one for one in await toolkit().get_tool_schemas()}
    properties = schemas["reset_tools"]["function"]["parameters"]["properties"]
    assert {name: one["type"] for name, one in properties.items()} == {
        "database": "boolean",
        "deployment": "boolean",
        "quiet": "boolean",
    }
    response = await call(toolkit(), "reset_tools", database="perhaps")
    assert response is not None
    assert response.state is ToolResultState.ERROR


async def test_002_meta_3_basic_tools_are_never_affected() -> None:
    """Whatever the meta tool is told, they are shown and run."""
    kit, state = toolkit(), AgentState()
    for groups in ({"database": True}, {"database": False}, {}):
        active = await active_after(kit, state, **groups)
        assert "Plain" in await shown(kit, *active)
        assert await said(kit, "Plain", state, text="here") == "here"


async def test_002_meta_4_each_call_sets_the_final_state() -> None:
    """A group that is not set to True becomes inactive, whatever it was before."""
    kit, state = toolkit(), AgentState()
    assert await active_after(kit, state, database=True) == ["database"]
    assert await active_after(kit, state, deployment=True) == ["deployment"]
    both = await active_after(kit, state, database=True, deployment=True)
    assert both == ["database", "deployment"]
    assert await active_after(kit, state, database=True, deployment=False) == ["database"]
    assert await active_after(kit, state) == []


async def test_002_meta_5_instructions_of_groups_that_become_active_are_joined() -> None:
    """All of them in one answer; of a group that was active already, they are not repeated."""
    kit, state = toolkit(), AgentState()
    answer = await said(kit, "reset_tools", state, database=True, deployment=True, quiet=True)
    assert "Wrap changes in a transaction." in answer
    assert "Confirm the target." in answer
    again = await said(kit, "reset_tools", state, database=True, deployment=False)
    assert "transaction" not in again
    assert "Confirm the target." in await said(kit, "reset_tools", state, deployment=True)


async def test_002_meta_6_tools_of_inactive_groups_are_hidden() -> None:
    """They are not told of, and a call of one says how to activate its group."""
    kit, state = toolkit(), AgentState()
    assert await shown(kit) == ["Plain", "reset_tools"]
    assert await shown(kit, "database") == ["Plain", "reset_tools", "Query"]
    response = await call(kit, "Deploy", state, text="x")
    assert response is not None
    assert response.state is ToolResultState.ERROR
    assert "reset_tools" in str(response.content)
    await active_after(kit, state, deployment=True)
    assert await said(kit, "Deploy", state, text="x") == "x"


async def test_002_meta_7_what_is_active_is_a_part_of_the_saved_state() -> None:
    """An agent that goes on from JSON has the same groups."""
    agent = agent_of([], [call_of("reset_tools", database=True)], DONE)
    agent.toolkit = toolkit()
    await events_of(agent, "Use the database.")
    later = reloaded(agent, [], DONE)
    later.toolkit = toolkit()
    await events_of(later, "Go on.")
    assert later.model.shown_tools == [["Plain", "reset_tools", "Query"]]  # type: ignore[attr-defined]


@pytest.mark.parametrize("mode", list(PermissionMode))
async def test_002_meta_8_activating_a_group_permits_nothing(mode: PermissionMode) -> None:
    """Choosing is never asked about; each call of a tool is decided for itself."""
    kit, state = toolkit(), AgentState()
    state.permission_context = permitting(rule("Query", None, ASK), mode=mode)
    assert await active_after(kit, state, database=True) == ["database"]
    response = await call(kit, "Query", state, text="x")
    assert response is None or response.state is ToolResultState.DENIED
