"""`Bash` in a toolkit: what is decided is what runs."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from agentscope_like.exception import GrantError
from agentscope_like.message import ToolCallBlock, ToolResponse, ToolResultState
from agentscope_like.permission import PermissionContext
from agentscope_like.state import AgentState
from agentscope_like.tool import Bash, Toolkit


def call(command: str, **arguments: object) -> ToolCallBlock:
    """Return a model's call."""
    return ToolCallBlock(id="1", name="Bash", input=json.dumps({"command": command, **arguments}))


async def test_a_proven_read_runs_at_once(tmp_path: Path) -> None:
    """`pwd` needs nobody's word and says where it ran."""
    toolkit = Toolkit(tools=[Bash(cwd=tmp_path)])
    items = [item async for item in toolkit.call_tool(call("pwd"), AgentState())]
    response = items[-1]
    assert isinstance(response, ToolResponse)
    assert response.state is ToolResultState.SUCCESS
    assert response.metadata["exit_code"] == 0
    assert response.content[0].text == f"{tmp_path}\n"  # type: ignore[union-attr]


async def test_a_command_that_asks_does_not_run(tmp_path: Path) -> None:
    """A write waits for an answer and leaves the workspace alone."""
    toolkit = Toolkit(tools=[Bash(cwd=tmp_path)])
    block = call("touch made")
    assert [item async for item in toolkit.call_tool(block, AgentState())] == []
    assert block.state == "asking"
    assert not (tmp_path / "made").exists()


async def test_a_grant_ends_where_the_directory_changes(tmp_path: Path) -> None:
    """A command that was decided for one directory does not run in another one."""
    (tmp_path / "inner").mkdir()
    bash = Bash(cwd=tmp_path)
    toolkit, state = Toolkit(tools=[bash]), AgentState()
    decided = await toolkit.decide(call("ls"), state)
    assert decided.grant is not None
    async for _ in toolkit.call_tool(call("cd inner"), state):
        pass
    with pytest.raises(GrantError):
        async for _ in toolkit.run(decided.grant, state):
            pass


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(
    ("command", "name"), [("touch way/made", "made"), ("rm way/old", "old"), ("rm way", "way")]
)
async def test_a_grant_ends_where_a_path_leads_elsewhere(
    tmp_path: Path, command: str, name: str, *, swapped: bool
) -> None:
    """A change that was decided for one place is made nowhere else; a removed link stays itself."""
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "old").touch()
    way = tmp_path / "way"
    way.symlink_to("here")
    state = AgentState(permission_context=PermissionContext.from_rules(allow=["Bash"]))
    toolkit = Toolkit(tools=[Bash(cwd=tmp_path)])
    decided = await toolkit.decide(call(command), state)
    assert decided.grant is not None
    if swapped:
        way.unlink()
        way.symlink_to("there")
    ends = swapped and name != "way"
    with pytest.raises(GrantError) if ends else nullcontext():
        async for _ in toolkit.run(decided.grant, state):
            pass
    assert (tmp_path / "there" / "old").exists()
    assert not (tmp_path / "there" / "made").exists()
    assert (tmp_path / "here" / "made").exists() is (name == "made" and not ends)


@pytest.mark.parametrize(
    "arguments", [{"timeout": -1}, {"timeout": 600_001}, {"timeout": "1"}, {"other": 1}]
)
async def test_arguments_are_held_to_the_schema(arguments: dict[str, object]) -> None:
    """What does not fit the schema is an error that the model can mend."""
    toolkit = Toolkit(tools=[Bash()])
    items = [item async for item in toolkit.call_tool(call("ls", **arguments), AgentState())]
    assert items[-1].state is ToolResultState.ERROR


async def test_the_attributes_of_the_contract() -> None:
    """The tool is what the documents say it is."""
    bash = Bash()
    assert bash.name == "Bash"
    assert (bash.is_read_only, bash.is_concurrency_safe) == (False, False)
    assert bash.is_state_injected  # its directory belongs to the session
    assert (bash.is_external_tool, bash.is_mcp) == (False, False)
    properties = bash.input_schema["properties"]
    assert list(properties) == ["command", "description", "timeout"]
    timeout = {name: properties["timeout"][name] for name in ("default", "maximum", "minimum")}
    assert timeout == {"default": 120_000, "maximum": 600_000, "minimum": 0}
    assert bash.input_schema["required"] == ["command"]
