"""A run with its children never overdraws its account, and leaves nothing when cancelled."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from agentscope_like.event import RequireUserConfirmEvent
from agentscope_like.journal import Journal, RecordedRun
from agentscope_like.message import ToolResultBlock, UserMsg
from agentscope_like.permission import PermissionMode
from agentscope_like.profile import Account
from agentscope_like.runs import AgentRun, Children, RunState
from agentscope_like.state import AgentState, ChildTask
from agentscope_like.tool import Bash, FunctionTool
from tests.agent.kit import text_of
from tests.delegation.kit import (
    Team,
    allowing,
    answering,
    call,
    delegate,
    profile,
    returning,
    saying,
    told,
    until,
)

BYPASS = allowing(mode=PermissionMode.BYPASS)


def run_of(team: Team, name: str) -> AgentRun:
    """Return the run of an agent that has no parent."""
    assert team.account is not None
    return AgentRun(team.top(name), team.shown(name), account=team.account)


@pytest.mark.parametrize(("most", "per_tool"), [(113, 1000), (1000, 113), (97, 89)])
async def test_tt_13_two_hundred_calls_at_once_never_overdraw_the_account(
    most: int, per_tool: int
) -> None:
    """Ten children make twenty calls each at the same time; as many run as there are, not one more.

    The children's own limits hold beside: none makes more than 18.
    """
    ran: Counter[str] = Counter()
    lead = profile("lead", max_invocations_per_run=10, max_concurrent_invocations=10)
    names = [f"child{number}" for number in range(10)]
    own = {"max_calls_per_run": 18}
    team = Team(lead, *(profile(name, tools=own) for name in names))
    team.account = account = Account(most, {"work": per_tool})
    gate = asyncio.Event()

    async def work(who: str) -> str:
        """Do something."""
        ran[who] += 1
        await gate.wait()
        return "done"

    async def opening() -> None:
        await asyncio.sleep(0.5)
        gate.set()

    for name in names:
        team.tools[name] = [FunctionTool(work, is_concurrency_safe=True)]
        team.contexts[name] = BYPASS
        turn = [call(f"{name}-{number}", "work", who=name) for number in range(20)]
        team.dictate(name, turn, returning(f"{name} did it"))
    team.contexts["lead"] = BYPASS
    wait = call("w", "agent.await", mode="allCompleted")
    started = [delegate(f"d-{name}", name) for name in names]
    team.dictate("lead", started, [wait], saying("done"))
    run = run_of(team, "lead")
    opened = asyncio.create_task(opening())
    await run.run(UserMsg("user", "go"))
    await opened
    spent = account.spent
    assert run.state is RunState.COMPLETED
    assert ran.total() == spent["work"] == min(per_tool, most - 10)
    assert account.calls <= most
    assert max(ran.values()) <= 18
    for task in run.agent.state.children.tasks:
        assert task.calls.get("work", 0) == ran[task.agent]
        assert task.status == "completed"


async def test_tt_13_a_childs_calls_are_its_parents_too() -> None:
    """Two calls of a child leave the parent one less each; a budget is the child's own besides."""
    team = Team(profile("lead"), profile("child"))
    team.account = Account(5)

    async def work() -> str:
        """Do something."""
        return "done"

    team.tools = {"child": [FunctionTool(work)], "lead": [FunctionTool(work)]}
    team.contexts = {"child": BYPASS, "lead": BYPASS}
    calls = [[call(f"k{number}", "work")] for number in range(3)]
    team.dictate("child", *calls, returning("two of three"))
    team.dictate(
        "lead",
        [delegate("d", "child", budget={"maxToolCalls": 2})],
        [call("w", "agent.await")],
        [call("l1", "work")],
        [call("l2", "work")],
        saying("done"),
    )
    run = run_of(team, "lead")
    await run.run(UserMsg("user", "go"))
    assert run.agent.state.children.tasks[0].calls == {"work": 2}
    assert "may make 2 calls" in str(team.models["child"].seen[-1])
    results = [
        text_of(block)
        for message in run.agent.state.context
        for block in message.content
        if isinstance(block, ToolResultBlock)
    ]
    assert "last call of tools" in results[-2]
    assert "agent.tool_budget_exhausted" in results[-1]
    assert team.account.spent == {"agent.delegate": 1, "work": 3, "agent.await": 1}


async def test_a_run_that_goes_on_elsewhere_has_spent_what_it_spent() -> None:
    """What a child calls in one process is counted in the next, of the child and of the parent."""
    team = Team(profile("lead"), profile("child"))

    async def work(what: str) -> str:
        """Do something."""
        return what

    team.tools = {"child": [FunctionTool(work)], "lead": [FunctionTool(work)]}
    team.contexts = {"lead": BYPASS, "child": allowing(ask=["work"])}
    team.account = Account(4)
    team.dictate("lead", [delegate("d", "child")], [call("w", "agent.await")], saying("done"))
    team.dictate(
        "child", [call("k1", "work", what="a")], [call("k2", "work", what="b")], returning("ok")
    )
    run = AgentRun(team.top("lead"), team.shown("lead"), account=team.account, run_id="r")
    events = [event async for event in run.stream(UserMsg("user", "go"))]
    (question,) = [one for one in events if isinstance(one, RequireUserConfirmEvent)]
    for left in (3, 2):
        assert run.state is RunState.WAITING
        saved = run.agent.state.model_dump_json()
        team.account = Account(4)
        agent = team.top("lead", AgentState.model_validate_json(saved))
        run = AgentRun(agent, team.shown("lead"), account=team.account, run_id="r")
        events = [event async for event in run.stream(answering(question))]
        assert team.account.spent["work"] == 4 - left
        if left == 3:
            (question,) = [one for one in events if isinstance(one, RequireUserConfirmEvent)]
    assert team.account.spent == {"agent.delegate": 1, "work": 2, "agent.await": 1}
    assert run.state is RunState.COMPLETED


def running_with(mark: str) -> list[str]:
    """Return the processes with this text in their command line."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            line = (directory / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if mark in line and int(directory.name) != os.getpid():
            found.append(line)
    return found


def open_files() -> list[str]:
    """Return what this process has open, without what others share."""
    found = []
    for one in Path("/proc/self/fd").iterdir():
        try:
            found.append(str(one.readlink()))
        except OSError:
            continue
    return sorted(name for name in found if name.startswith("/") and "/proc/" not in name)


async def test_three_levels_cancelled_from_the_top_leave_nothing_running(tmp_path: Path) -> None:
    """No task, no process and no open file is left, and every task is told as cancelled."""
    mark = f"{os.getpid()}.4711"
    names = ("lead", "first", "second", "third")
    team = Team(*(profile(name, max_depth=3) for name in names), account=Account(40))
    for name in names:
        team.contexts[name] = BYPASS
    for name, below in pairwise(names):
        team.dictate(name, [delegate(f"d-{name}", below)], [call(f"w-{name}", "agent.await")])
    team.tools["third"] = [Bash(cwd=tmp_path, confine="off")]
    team.dictate("third", [call("sleep", "Bash", command=f"sleep {mark} & sleep {mark}")])
    journals: list[Journal] = []

    def journal_of(task: ChildTask) -> Journal:
        journals.append(Journal(tmp_path / task.id))
        return journals[-1]

    agent = team.top("lead")
    delegator = team.delegator("lead")
    agent.middlewares = (Children(delegator, team.make, journal_of=journal_of),)
    run = AgentRun(agent, team.shown("lead"), account=team.account)
    tasks, files = asyncio.all_tasks(), open_files()
    running = asyncio.create_task(run.run(UserMsg("user", "go")))
    await until(lambda: len(running_with(mark)) >= 2)
    await run.cancel()
    await running
    assert run.state is RunState.CANCELLED
    assert running_with(mark) == []
    assert asyncio.all_tasks() == tasks
    assert open_files() == files
    assert [task.status for task in agent.state.children.tasks] == ["cancelled"]
    assert team.account is not None
    assert team.account.spent == {"agent.delegate": 3, "Bash": 1}
    assert len(journals) == 3
    for journal in journals:
        recorded = RecordedRun.read(journal.directory)
        assert recorded.state == "cancelled"
        assert json.loads(agent.state.model_dump_json())["children"]["tasks"][0]["state"] is None


async def test_calls_of_the_awaiting_tool_are_counted() -> None:
    """A parent that has no call left cannot wait again, and is told so."""
    team = Team(profile("lead"), profile("child"), account=Account(2))
    team.contexts["lead"] = BYPASS
    team.dictate("child", returning("ok"))
    team.dictate(
        "lead",
        [delegate("d", "child")],
        [call("w", "agent.await")],
        [call("x", "agent.await")],
        saying("done"),
    )
    run = run_of(team, "lead")
    await run.run(UserMsg("user", "go"))
    assert told(run.agent, "w")["tasks"][0]["status"] == "completed"
    seen = str(team.models["lead"].seen[-1])
    assert "agent.tool_budget_exhausted" in seen
