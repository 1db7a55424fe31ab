"""The directory of commands belongs to the session, not to the tool."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.agent import Agent
from agentscope_like.exception import GrantError
from agentscope_like.message import TextBlock, ToolCallBlock, ToolResponse, UserMsg
from agentscope_like.model import Script, ScriptedModel
from agentscope_like.permission import PermissionContext, PermissionDecision, PermissionMode
from agentscope_like.sandbox.isolation import Confine
from agentscope_like.state import AgentState
from agentscope_like.tool import Bash, CallRequest, Toolkit, ToolManager, ToolProxy
from agentscope_like.tool.builtin.bash import host_shell, shell_process

Tools = Toolkit | ToolProxy


def session(mode: PermissionMode = PermissionMode.ACCEPT_EDITS) -> AgentState:
    """Return the state of a new session."""
    return AgentState(permission_context=PermissionContext(mode=mode))


def command(text: str) -> ToolCallBlock:
    """Return a call of Bash."""
    return ToolCallBlock(id="1", name="Bash", input=json.dumps({"command": text}))


async def run(tools: Tools, state: AgentState, text: str) -> str:
    """Run a command in a session, and return what the model is told."""
    told = ""
    async for item in tools.call_tool(command(text), state):
        if isinstance(item, ToolResponse):
            told = "".join(block.text for block in item.content if isinstance(block, TextBlock))
    return told.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two directories."""
    for name in ("one", "two"):
        (tmp_path / "project" / name).mkdir(parents=True)
        (tmp_path / "project" / name / f"in-{name}.txt").write_text("")
    return (tmp_path / "project").resolve()


async def test_two_sessions_of_one_toolkit_have_a_directory_each(project: Path) -> None:
    """What one session changes into, the other does not see, and neither does the tool."""
    bash = Bash(cwd=project)
    toolkit = Toolkit([bash])
    first, second = session(), session()
    await run(toolkit, first, "cd one")
    assert await run(toolkit, first, "pwd") == str(project / "one")
    assert await run(toolkit, second, "pwd") == str(project)
    assert bash.cwd_of(first) == str(project / "one")
    assert bash.cwd == bash.cwd_of(second) == str(project)


async def test_parallel_sessions_do_not_mix(project: Path) -> None:
    """Many sessions that change directories at the same time each stay in their own."""
    toolkit = Toolkit([Bash(cwd=project, confine="off")])

    async def work(name: str) -> str:
        state = session()
        await run(toolkit, state, f"cd {name}")
        return await run(toolkit, state, "ls")

    names = ["one", "two"] * 5
    assert await asyncio.gather(*map(work, names)) == [f"in-{name}.txt" for name in names]


async def test_a_session_keeps_its_directory_over_a_restart(project: Path) -> None:
    """The directory is part of the stored state; another tool goes on there."""
    state = session()
    await run(Toolkit([Bash(cwd=project)]), state, "cd two")
    again = AgentState.model_validate_json(state.model_dump_json())
    assert await run(Toolkit([Bash(cwd=project)]), again, "ls") == "in-two.txt"


async def test_a_directory_that_is_gone_is_told(project: Path) -> None:
    """The command is not run elsewhere unsaid; the next one runs where the tool began."""
    toolkit, state = Toolkit([Bash(cwd=project)]), session()
    await run(toolkit, state, "cd one")
    (project / "one").rename(project / "three")
    assert "is gone" in await run(toolkit, state, "ls")
    assert "two" in await run(toolkit, state, "ls")


async def test_proxies_and_managers_keep_sessions_apart(project: Path) -> None:
    """The same holds behind a view of the tools and behind a manager."""
    manager = ToolManager([Bash(cwd=project)], modules=[])
    for tools in (manager, ToolProxy(manager, ["Bash"])):
        first, second = session(), session()
        await run(tools, first, "cd one")
        assert await run(tools, first, "ls") == "in-one.txt"
        assert await run(tools, second, "pwd") == str(project)
    await manager.close()


async def test_two_agents_share_a_toolkit(project: Path) -> None:
    """Two agents that work at the same time each run their commands in their own directory."""
    toolkit = Toolkit([Bash(cwd=project)])

    def agent(name: str) -> Agent:
        turns = [
            {"calls": [{"id": "a", "name": "Bash", "input": {"command": f"cd {name}"}}]},
            {"calls": [{"id": "b", "name": "Bash", "input": {"command": "ls"}}]},
            {"say": "Done."},
        ]
        script = Script.parse("\n".join(map(json.dumps, turns)))
        return Agent(name, "You work.", ScriptedModel(script), toolkit, state=session())

    agents = [agent("one"), agent("two")]
    await asyncio.gather(*(each.reply(UserMsg("user", "go")) for each in agents))
    for each in agents:
        assert f"in-{each.name}.txt" in each.state.model_dump_json()


@pytest.mark.parametrize("text", ["touch new.txt", "make new.txt"])
async def test_a_directory_that_was_swapped_after_the_decision_voids_it(
    project: Path, text: str
) -> None:
    """A person is shown a file in the project, and so it does not land elsewhere."""
    outside = project.parent / "outside"
    outside.mkdir()
    toolkit, state = Toolkit([Bash(cwd=project)]), session(PermissionMode.BYPASS)
    await run(toolkit, state, "cd one")

    async def swapping(
        request: CallRequest, go_on: Callable[[CallRequest], Awaitable[PermissionDecision]]
    ) -> PermissionDecision:
        decision = await go_on(request)
        (project / "one").rename(project / "aside")
        os.symlink(outside, project / "one")
        return decision

    decided = await toolkit.decide(command(text), state, layers=[swapping])
    assert decided.grant is not None
    with pytest.raises(GrantError, match="changed since"):
        async for _ in toolkit.run(decided.grant, state):
            pass
    assert list(outside.iterdir()) == []


def swap(project: Path, outside: Path) -> None:
    """Put a link that leads outside in the place of the directory."""
    (project / "one").rename(project / "aside")
    os.symlink(outside, project / "one")


@pytest.mark.parametrize("confine", ["auto", "off"])
async def test_a_directory_that_is_swapped_before_the_start_stops_it(
    project: Path, confine: Confine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the grant was checked too, nothing runs in a directory that nobody was shown."""
    outside = project.parent / "outside"
    outside.mkdir()
    toolkit = Toolkit([Bash(cwd=project, confine=confine)])
    state = session(PermissionMode.BYPASS)
    await run(toolkit, state, "cd one")
    find = shell_process.find_bash

    def swapping() -> str | None:
        if (project / "one").is_dir() and not (project / "one").is_symlink():
            swap(project, outside)
        return find()

    monkeypatch.setattr(host_shell, "find_bash", swapping)
    assert "not the directory that was decided about" in await run(toolkit, state, "touch new.txt")
    assert list(outside.iterdir()) == []
    assert not (project / "aside" / "new.txt").exists()


async def test_a_directory_that_is_swapped_at_the_start_is_the_one_that_was_shown(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the last look and the start the directory is held open."""
    outside = project.parent / "outside"
    outside.mkdir()
    toolkit = Toolkit([Bash(cwd=project, confine="off")])
    state = session(PermissionMode.BYPASS)
    await run(toolkit, state, "cd one")
    start = subprocess.Popen

    def swapping(*words: Any, **options: Any) -> Any:
        if options.get("start_new_session") and not (project / "one").is_symlink():
            swap(project, outside)
        return start(*words, **options)

    monkeypatch.setattr(subprocess, "Popen", swapping)
    await run(toolkit, state, "touch new.txt")
    assert list(outside.iterdir()) == []
    assert (project / "aside" / "new.txt").exists()
