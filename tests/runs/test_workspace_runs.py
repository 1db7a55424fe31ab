"""Runs of agents that work in a workspace, with the real tools."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.agent import Agent
from agentscope_like.conversation import (
    ChatReadMessages,
    ChatSearch,
    InMemoryActivations,
    InMemoryChat,
    ReadActivated,
)
from agentscope_like.event import ToolResultEndEvent
from agentscope_like.journal import CallOutcome, Journal, RecordedRun
from agentscope_like.message import ToolCallBlock, UserMsg
from agentscope_like.permission import PermissionContext
from agentscope_like.profile import Profile
from agentscope_like.runs import AgentRun, RunState
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolBase, Toolkit
from agentscope_like.workspace import RunControl, Workspace, workspace_tools
from tests.agent.kit import UNTOLD, DictatedModel

MAIN = "output/main.md"
READING = (
    *("workspace.list_files", "workspace.search_files", "workspace.read_file"),
    *("chat.search", "chat.read_messages", "worldinfo.read_activated"),
)
ALLOWED = (*READING, "workspace.write_file", "workspace.commit", "workspace.finish")


class BrokenChat(InMemoryChat):
    """A chat that takes one commit, and no more."""

    async def commit(self, text: str, **given: Any) -> None:
        if await self.count():
            raise OSError("the chat is full")
        await super().commit(text, **given)


def _call(number: int, name: str, arguments: Mapping[str, Any]) -> ToolCallBlock:
    text = json.dumps(arguments)
    return ToolCallBlock(id=f"c{number}", name=name.replace(".", "_"), input=text)


async def _begin(
    directory: Path, chat: InMemoryChat, journal: Journal, *calls: tuple[str, dict[str, Any]]
) -> AgentRun:
    """Return a run whose model makes these calls, one in each round."""
    control = RunControl("r1", foreground=True)
    workspace = await asyncio.to_thread(Workspace, directory, run_id="r1")
    tools: list[ToolBase] = [
        *workspace_tools(workspace, control, chat),
        ChatSearch(chat),
        ChatReadMessages(chat),
        ReadActivated(InMemoryActivations(), "r1"),
    ]
    context = PermissionContext.from_rules(
        allow=ALLOWED, working_directories=workspace.working_directories
    )
    turns = [[_call(number, *call)] for number, call in enumerate(calls)]
    agent = Agent(
        "writer",
        "You write.",
        DictatedModel(*turns),
        Toolkit(tools),
        state=AgentState(permission_context=context),
        injection_config=UNTOLD,
    )
    profile = Profile.model_validate(
        {"id": "writer", "runs": "foreground", "tools": {"allow": ALLOWED, "maxRounds": len(calls)}}
    )
    return AgentRun(agent, profile, control=control, journal=journal)


def _files(directory: Path) -> dict[str, bytes]:
    """Return what stands in the roots of a workspace."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for root in ("output", "scratch", "plan", "summaries", "persist")
        for path in (directory / root).rglob("*")
        if path.is_file()
    }


async def _run(run: AgentRun) -> RunState:
    return await run.run(UserMsg("user", "Write a page."))


async def test_a_page_is_written_committed_and_finished(tmp_path: Path) -> None:
    """The chat has the page and nothing else; the journal has every call, done."""
    chat = InMemoryChat()
    with Journal(tmp_path / "work") as journal:
        run = await _begin(
            tmp_path / "work",
            chat,
            journal,
            ("workspace.write_file", {"path": MAIN, "content": "A page.\n"}),
            ("workspace.commit", {}),
            ("workspace.finish", {"reason": "done"}),
        )
        assert await _run(run) is RunState.COMPLETED
    assert run.id == "r1"
    assert [one.text for one in (await chat.read([0, 1])).values()] == ["A page.\n"]
    recorded = RecordedRun.read(tmp_path / "work")
    assert [call.outcome for call in recorded.calls] == [CallOutcome.DONE] * 3
    assert recorded.state == "completed"


async def test_tt_08_tools_that_only_read_change_nothing(tmp_path: Path) -> None:
    """Neither the chat nor the workspace, and they say so; a tool that writes does."""
    chat = InMemoryChat()
    directory = tmp_path / "work"
    arguments: dict[str, dict[str, Any]] = {
        "workspace.search_files": {"query": "page"},
        "workspace.read_file": {"path": MAIN},
        "chat.search": {"query": "page"},
        "chat.read_messages": {"messages": [{"index": 0}]},
    }
    write = ("workspace.write_file", {"path": MAIN, "content": "A page.\n"})
    with Journal(directory) as journal:
        calls = [write, *((name, arguments.get(name, {})) for name in READING)]
        run = await _begin(directory, chat, journal, *calls)
        seen = [
            (await asyncio.to_thread(_files, directory), await chat.count())
            async for event in run.stream(UserMsg("user", "Read."))
            if isinstance(event, ToolResultEndEvent)
        ]
    assert len(seen) == 1 + len(READING)
    assert seen == [({MAIN: b"A page.\n"}, 0)] * len(seen)
    for name in READING:
        tool = await run.agent.toolkit.get_tool(name)
        assert tool is not None
        assert tool.is_read_only


@pytest.mark.parametrize("commits", [1, 2])
async def test_a_commit_that_the_host_refuses_fails_the_run(commits: int, tmp_path: Path) -> None:
    """A partial success after one that it took; the journal does not say that it was made."""
    chat = BrokenChat()
    if commits == 1:
        await chat.commit("before", mode="replace", reason=None, run_id="other")
    with Journal(tmp_path / "work") as journal:
        run = await _begin(
            tmp_path / "work",
            chat,
            journal,
            ("workspace.write_file", {"path": MAIN, "content": "A page.\n"}),
            *[("workspace.commit", {"mode": "append"})] * commits,
        )
        state = RunState.FAILED if commits == 1 else RunState.PARTIAL_SUCCESS
        assert await _run(run) is state
    assert run.error is not None
    assert run.error.code == "runtime.CommitError"
    recorded = RecordedRun.read(tmp_path / "work")
    outcomes = [CallOutcome.DONE, CallOutcome.UNKNOWN][-commits:]
    assert [call.outcome for call in recorded.commits] == outcomes
    assert recorded.state == state


async def test_the_journal_of_a_run_is_hidden_in_its_workspace(tmp_path: Path) -> None:
    """The agent can neither list nor read it there."""
    directory = tmp_path / "work"
    with Journal(directory) as journal:
        run = await _begin(
            directory,
            InMemoryChat(),
            journal,
            ("workspace.list_files", {"depth": 4}),
            ("workspace.read_file", {"path": "events.jsonl"}),
        )
        await _run(run)
    listed, read = (call.result or {} for call in RecordedRun.read(directory).calls)
    assert "events.jsonl" not in listed["text"]
    assert read["metadata"]["error_code"].startswith("workspace.")
