"""Seed 000, 1.3 to 1.5 and 4: what a manager of tools can do, row by row."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.agent import Agent
from agentscope_like.exception import ConfigurationError
from agentscope_like.message import (
    DataBlock,
    TextBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from agentscope_like.middleware.tokens import TokenEstimator
from agentscope_like.permission import (
    AdditionalWorkingDirectory,
    PermissionBehavior,
    PermissionContext,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.sandbox import SandboxHandle
from agentscope_like.state import AgentState
from agentscope_like.tool import (
    AskUser,
    Bash,
    Edit,
    FunctionTool,
    Read,
    TaskCreate,
    TaskGet,
    TaskList,
    TaskUpdate,
    ToolManager,
    ToolProxy,
    Write,
)
from tests.agent.kit import DictatedModel, results_of, text_of
from tests.sandbox.kit import passthrough
from tests.tool.kit import Probe, call_of


def anything(**fields: Any) -> AgentState:
    """Return a state in which every call may run."""
    context = PermissionContext(mode=PermissionMode.BYPASS, **fields)
    return AgentState(permission_context=context)


def greet(name: str, times: int = 1) -> str:
    """Greet somebody."""
    return f"Hello {name}! " * times


async def test_sage_t_08_a_call_by_name_gives_a_result_for_the_model() -> None:
    """Name, arguments and session are enough; what comes is a result block with the call's id."""
    manager = ToolManager([greet], modules=[])
    result = await manager.run_tool("greet", {"name": "Ada"}, anything(), call_id="c7")
    assert (result.id, result.name, result.state) == ("c7", "greet", ToolResultState.SUCCESS)
    assert text_of(result) == "Hello Ada! "
    as_json = await manager.run_tool("greet", '{"name": "Ada"}', anything())
    assert text_of(as_json) == "Hello Ada! "
    assert as_json.id not in ("", "c7")


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("greet", "{", "JSON"),
        ("greet", {}, "name"),
        ("greet", {"name": "Ada", "times": "twice"}, "times"),
        ("greet", {"name": "Ada", "session_id": "other"}, "session_id"),
        ("greed", {}, "did you mean 'greet'"),
        ("", {}, "no tool named ''"),
    ],
)
async def test_sage_t_08_bad_input_is_a_result(name: str, arguments: Any, said: str) -> None:
    """Whatever a model gets wrong comes back as an error that says what."""
    result = await ToolManager([greet], modules=[]).run_tool(name, arguments, anything())
    assert result.state is ToolResultState.ERROR
    assert said in text_of(result)


async def test_sage_t_08_nothing_runs_that_was_not_decided() -> None:
    """What would have to be asked, or is denied, or is done outside, does not run and says so."""
    asks, outside = Probe("asks", "ask"), Probe("outside", external=True)
    manager = ToolManager([asks, outside], modules=[])
    result = await manager.run_tool("asks", {}, AgentState())
    assert result.state is ToolResultState.DENIED
    assert "a person has to approve it" in text_of(result)
    assert asks.runs == []
    result = await manager.run_tool("outside", {}, AgentState())
    assert "done outside" in text_of(result)
    deny = PermissionRule(tool_name="asks", behavior=PermissionBehavior.DENY)
    result = await manager.run_tool("asks", {}, anything(deny_rules={"asks": [deny]}))
    assert text_of(result).startswith("Denied: ")
    allow = PermissionRule(tool_name="asks", behavior=PermissionBehavior.ALLOW)
    state = AgentState(permission_context=PermissionContext(allow_rules={"asks": [allow]}))
    assert text_of(await manager.run_tool("asks", {"text": "now"}, state)) == "asks:now"


async def test_sage_t_09_every_result_is_cut_at_12_000_tokens() -> None:
    """A result keeps to the limit, says that it was cut, and keeps its beginning and its end."""

    def much() -> dict[str, Any]:
        return {"first": "begin", "lines": ["word " * 10] * 4000, "exit_code": 7}

    manager = ToolManager([FunctionTool(much, description="Much.")], modules=[])
    text = text_of(await manager.run_tool("much", {}, anything()))
    assert 10_000 < TokenEstimator().count(text) < 12_500
    assert text.startswith('{"first":"begin"')
    assert text.rstrip().endswith('"exit_code":7}')
    assert "cut" in text or "omitted" in text or "left out" in text


def test_sage_t_10_and_11_tools_are_listed_and_described() -> None:
    """Names come in the order in which tools were given; what there is not has no description."""
    manager = ToolManager([Probe("b"), greet, Probe("a")], modules=[])
    assert manager.list_all_tools_name() == ["b", "greet", "a"]
    spec = manager.get_tool_spec("greet")
    assert spec is not None
    assert (spec.name, spec.description) == ("greet", "Greet somebody.")
    assert spec.input_schema["required"] == ["name"]
    assert manager.get_tool_spec("farewell") is None


def test_sage_t_12_managers_share_nothing() -> None:
    """A program keeps one; another one, made in a test or for another part, has its own tools."""
    one, other = ToolManager(modules=[]), ToolManager(modules=[])
    one.register_tool(greet)
    assert one.list_all_tools_name() == ["greet"]
    assert other.list_all_tools_name() == []
    with pytest.raises(ConfigurationError, match="two tools named 'greet'"):
        one.register_tool(greet)


async def test_sage_t_12_one_manager_serves_many_sessions() -> None:
    """What one session may do says nothing about another that uses the same manager."""
    manager = ToolManager([Probe("alpha", "ask")], modules=[])
    states = [anything(), AgentState()]
    results = await asyncio.gather(*(manager.run_tool("alpha", {}, one) for one in states))
    assert [one.state for one in results] == [ToolResultState.SUCCESS, ToolResultState.DENIED]


def test_sage_t_13_all_that_is_given_is_there_from_the_start() -> None:
    """Tools and functions that the manager is made with need no further step."""
    manager = ToolManager([Bash(), Read(), greet], modules=[])
    assert manager.list_all_tools_name() == ["Bash", "Read", "greet"]


# The built-in tools of 1.5, by what does their work here


async def test_sage_t_19_commands_are_run() -> None:
    """`Bash` runs a command and returns what it said, after it was decided."""
    manager = ToolManager([Bash()], modules=[])
    assert "out" in text_of(await manager.run_tool("Bash", {"command": "echo out"}, AgentState()))
    denied = await manager.run_tool("Bash", {"command": "rm -rf /tmp/x"}, AgentState())
    assert denied.state is ToolResultState.DENIED


async def test_sage_t_20_files_are_read_and_written(tmp_path: Path) -> None:
    """`Write`, `Edit` and `Read` do what the file system tool does."""
    manager = ToolManager([Read(), Write(), Edit()], modules=[])
    place, here = str(tmp_path / "a.txt"), str(tmp_path)
    folder = AdditionalWorkingDirectory(path=here, source="session")
    context = PermissionContext(
        mode=PermissionMode.ACCEPT_EDITS, working_directories={here: folder}
    )
    state = AgentState(permission_context=context)
    calls: list[tuple[str, dict[str, str]]] = [
        ("Write", {"file_path": place, "content": "one\n"}),
        ("Edit", {"file_path": place, "old_string": "one", "new_string": "two"}),
        ("Read", {"file_path": place}),
    ]
    results = [await manager.run_tool(name, given, state) for name, given in calls]
    assert [one.state for one in results] == [ToolResultState.SUCCESS] * 3
    assert "two" in text_of(results[-1])


async def test_sage_t_22_images_are_shown_to_the_model(tmp_path: Path) -> None:
    """`Read` returns an image as data, which a model that sees understands by itself."""
    pixel = base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
    )
    (tmp_path / "a.png").write_bytes(pixel)
    manager = ToolManager([Read()], modules=[])
    result = await manager.run_tool("Read", {"file_path": str(tmp_path / "a.png")}, anything())
    assert any(isinstance(block, DataBlock) for block in result.output)


async def test_sage_t_24_a_list_of_tasks_is_kept() -> None:
    """The task tools keep a list in the session's state, with an owner for each task."""
    manager = ToolManager([TaskCreate(), TaskUpdate(), TaskList(), TaskGet()], modules=[])
    state = AgentState()
    task = {"subject": "Paint", "description": "Paint the door."}
    await manager.run_tool("TaskCreate", task, state)
    (created,) = state.tasks_context.tasks
    await manager.run_tool("TaskUpdate", {"task_id": created.id, "owner": "painter"}, state)
    assert "Paint" in text_of(await manager.run_tool("TaskList", {}, state))
    assert state.tasks_context.tasks[0].owner == "painter"


async def test_sage_t_25_a_person_is_asked_questions() -> None:
    """`AskUser` is done outside: its call waits for answers that fit the questions."""
    manager = ToolManager([AskUser()], modules=[])
    questions = {"questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]}
    call = call_of("AskUser", json.dumps(questions))
    decided = await manager.decide(call, AgentState())
    assert decided.refusal is None
    assert call.state is ToolCallState.SUBMITTED


# Sessions and sandboxes


async def test_sage_t_50_an_agent_takes_a_view_of_the_program_s_manager() -> None:
    """A view is made for each request; the agent cannot tell it from a manager."""
    manager = ToolManager([greet, Probe("alpha")], modules=[])
    for name, allowed in (("alpha", True), ("greet", False)):
        toolkit = ToolProxy([manager], ["alpha"])
        model = DictatedModel([call_of(name, '{"text": "x"}')], [TextBlock(text="Done.")])
        agent = Agent("robot", "Be helpful.", model, toolkit)
        await agent.reply(UserMsg("user", "go"))
        assert model.shown_tools == [["alpha"]] * 2
        assert (results_of(agent)["c1"].state is ToolResultState.SUCCESS) == allowed


@asynccontextmanager
async def with_sandbox(workspace: Path) -> AsyncIterator[tuple[ToolManager, SandboxHandle]]:
    """Give a manager with a tool that works by a sandbox's handle only."""
    async with passthrough(workspace=str(workspace)) as sandbox:

        async def count(command: str) -> dict[str, Any]:
            """Run a command in the sandbox."""
            done = await sandbox.execute_command(command)
            return {"stdout": done.stdout, "exit_code": done.return_code}

        yield ToolManager([count], modules=[]), sandbox


async def test_sage_t_51_from_the_manager_to_the_sandbox_and_back(tmp_path: Path) -> None:
    """A call goes by manager, tool and handle; what comes back is cut, for the model."""
    async with with_sandbox(tmp_path) as (manager, sandbox):
        assert sandbox.workspace_path == str(tmp_path)
        result = await manager.run_tool("count", {"command": "pwd; seq 3; exit 4"}, anything())
        long = await manager.run_tool("count", {"command": "seq 40000"}, anything())
    assert isinstance(result, ToolResultBlock)
    assert json.loads(text_of(result)) == {"stdout": f"{tmp_path}\n1\n2\n3\n", "exit_code": 4}
    assert TokenEstimator().count(text_of(long)) < 12_500
