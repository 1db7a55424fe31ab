"""The rows of seed 001 on `agent.list`, `agent.delegate` and `agent.await`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentscope_like.agent import Agent
from agentscope_like.message import ToolChunk, ToolResultState
from agentscope_like.profile import Profile
from agentscope_like.tool import FunctionTool
from tests.agent.kit import events_of, model_of, text_of
from tests.delegation.kit import (
    Team,
    allowing,
    call,
    delegate,
    profile,
    results,
    returning,
    saying,
    told,
)

LEAD = profile("lead", max_concurrent_invocations=5)


async def run(team: Team, *turns: Any) -> Agent:
    """Return the agent `lead` after it has taken these turns."""
    team.dictate("lead", *turns, saying("done"))
    agent = team.top("lead")
    await events_of(agent, "go")
    return agent


async def failure(team: Team, block: Any) -> str:
    """Return what a call that fails tells."""
    agent = await run(team, [block])
    result = results(agent)[block.id]
    assert result.state is ToolResultState.ERROR
    return text_of(result)


async def listed(*others: Profile, lead: Profile = LEAD, **arguments: Any) -> list[str]:
    """Return the ids that `agent.list` tells."""
    agent = await run(Team(lead, *others), [call("l", "agent.list", **arguments)])
    assert results(agent)["l"].state is ToolResultState.SUCCESS
    return [one["profileId"] for one in told(agent, "l")["agents"]]


async def test_tt_18_list_starts_nothing() -> None:
    """No agent is made, and no task is kept; nobody is asked, as it only reads."""
    team = Team(LEAD, profile("a"))
    agent = await run(team, [call("l", "agent.list")])
    assert [one["profileId"] for one in told(agent, "l")["agents"]] == ["a", "lead"]
    assert not team.made
    assert not agent.state.children.tasks


async def test_tt_19_purposes() -> None:
    """There are three; another one, or an unknown argument, is an error that names it."""
    for purpose in ("any", "delegate"):
        assert await listed(profile("a"), purpose=purpose) == ["a", "lead"]
    assert "purpose" in await failure(Team(LEAD), call("l", "agent.list", purpose="hand_off"))
    assert "'limit'" in await failure(Team(LEAD), call("l", "agent.list", limits=3))


async def test_tt_20_query() -> None:
    """It is sought in ids, names and descriptions, whatever the case."""
    by_name = profile("b").model_copy(update={"display_name": "Der GROSSE Prüfer"})
    by_text = profile("c").model_copy(update={"description": "Checks prose."})
    others = (profile("prüfer-1"), by_name, by_text)
    assert await listed(*others, query="PRÜFER") == ["b", "prüfer-1"]
    assert await listed(*others, query="prose") == ["c"]
    assert await listed(*others, query="verse") == []


async def test_tt_21_limit() -> None:
    """By default 8, at most 20; more is an error. The first ones by id are shown."""
    others = [profile(f"a{number:02}") for number in reversed(range(25))]
    assert await listed(*others) == [f"a{number:02}" for number in range(8)]
    assert len(await listed(*others, limit=20)) == 20
    for wrong in (0, 21):
        assert "limit" in await failure(Team(LEAD), call("l", "agent.list", limit=wrong))


async def test_tt_22_handoff_is_reserved() -> None:
    """Nobody offers it, which is no error."""
    assert await listed(profile("a"), purpose="handoff") == []


async def test_tt_23_what_is_listed() -> None:
    """Each agent has an id, a name, a description, what it offers, how, and its limits."""
    one = profile("a", tools={"max_rounds": 7, "max_calls_per_run": 9})
    one = one.model_copy(update={"display_name": "Anna", "description": "Reads."})
    agent = await run(Team(LEAD, one), [call("l", "agent.list", query="anna")])
    (shown,) = told(agent, "l")["agents"]
    assert shown.pop("usage").startswith("agent.delegate")
    assert shown == {
        "profileId": "a",
        "displayName": "Anna",
        "description": "Reads.",
        "operations": ["delegate"],
        "limits": {"maxRounds": 7, "maxToolCalls": 9},
    }


async def test_tt_24_who_is_listed() -> None:
    """Who is callable, runs as a child, takes work of this caller, and has a model."""
    team = Team(
        LEAD,
        profile("a"),
        profile("b", callable=False),
        profile("c", allow_as_subagent=False),
        profile("d", allowed_callers=("other",)),
        profile("e", allowed_callers=("other", "lead")),
        profile("f"),
    )
    team.unconfigured = {"f"}
    agent = await run(team, [call("l", "agent.list")])
    assert [one["profileId"] for one in told(agent, "l")["agents"]] == ["a", "e", "lead"]


async def test_tt_25_delegate_starts_and_returns() -> None:
    """The parent goes on while the child works, and both have ended in the end."""
    team = Team(LEAD, profile("a"))
    began, may_end = asyncio.Event(), asyncio.Event()

    async def slow() -> ToolChunk:
        """Wait."""
        began.set()
        await may_end.wait()
        return ToolChunk(content=[], state=ToolResultState.SUCCESS)

    async def go_on() -> ToolChunk:
        """Let it end."""
        await began.wait()
        may_end.set()
        return ToolChunk(content=[], state=ToolResultState.SUCCESS)

    team.tools = {"a": [FunctionTool(slow)], "lead": [FunctionTool(go_on)]}
    team.contexts = {name: allowing(mode="bypass") for name in team.profiles}
    team.dictate("a", [call("s", "slow")], returning("ok"))
    agent = await run(team, [delegate("d", "a")], [call("g", "go_on")], [call("w", "agent.await")])
    started = told(agent, "d")
    assert started == {"taskId": started["taskId"], "status": "running", "agentId": "a"}
    assert told(agent, "w")["tasks"][0]["status"] == "completed"


async def test_tt_26_agent_id() -> None:
    """It is required; one that does not exist is an error that names the nearest."""
    team = Team(LEAD, profile("reviewer"))
    assert "agentId" in await failure(team, call("d", "agent.delegate", task={"objective": "x"}))
    told_of = await failure(Team(LEAD, profile("reviewer")), delegate("d", "reviewr"))
    assert told_of.startswith("agent.target_profile_not_found: ")
    assert "did you mean 'reviewer'?" in told_of


@pytest.mark.parametrize(
    "task",
    [{}, {"objective": ""}, {"objective": " \n"}, {"objective": 3}, {"objective": "x" * 8001}],
)
async def test_tt_27_objective(task: dict[str, Any]) -> None:
    """It is a text that says something, of at most 8000 characters."""
    block = call("d", "agent.delegate", agentId="a", task=task)
    assert "objective" in await failure(Team(LEAD, profile("a")), block)


async def test_tt_27_objective_is_counted_in_characters() -> None:
    """8000 characters that UTF-8 writes in three bytes each are taken."""
    team = Team(LEAD, profile("a"))
    team.dictate("a", saying("ok"))
    agent = await run(team, [delegate("d", "a", "雨" * 8000)])
    assert told(agent, "d")["status"] == "running"


async def test_tt_28_title_is_shown() -> None:
    """It is told with the task's status, and to the child."""
    team = Team(LEAD, profile("a"))
    team.dictate("a", saying("ok"))
    block = call("d", "agent.delegate", agentId="a", task={"objective": "x", "title": "T 1"})
    agent = await run(team, [block], [call("w", "agent.await")])
    assert told(agent, "w")["tasks"][0]["title"] == "T 1"
    assert "T 1" in str(team.models["a"].seen[0][-1].content)


async def test_tt_29_context_and_expected_output() -> None:
    """They are objects with whatever keys, and the child is told them; it is told nothing else."""
    team = Team(LEAD, profile("a"))
    team.dictate("a", saying("ok"))
    task = {"objective": "x", "context": {"Wal": ["Blau"]}, "expectedOutput": {"form": {"n": 5}}}
    agent = await run(
        team, [call("d", "agent.delegate", agentId="a", task=task)], [call("w", "agent.await")]
    )
    assert told(agent, "w")["tasks"][0]["status"] == "completed"
    _, asked = team.models["a"].seen[0]
    assert "Blau" in str(asked.content)
    assert '"n": 5' in str(asked.get_text_content())
    assert asked.get_text_content() != "go"
    for name in ("context", "expectedOutput"):
        wrong = call("d", "agent.delegate", agentId="a", task={"objective": "x", name: "text"})
        assert name in await failure(Team(LEAD, profile("a")), wrong)
    unknown = call("d", "agent.delegate", agentId="a", task={"objective": "x", "contxt": {}})
    assert "contxt" in await failure(Team(LEAD, profile("a")), unknown)


@pytest.mark.parametrize(("name", "limit"), [("maxRounds", 5), ("maxToolCalls", 6)])
async def test_tt_30_31_budget(name: str, limit: int) -> None:
    """It may be the target's limit; above, the call fails, and the number is never clamped."""
    target = profile("a", tools={"max_rounds": 5, "max_calls_per_run": 6})
    team = Team(LEAD, target)
    team.dictate("a", saying("ok"))
    agent = await run(team, [delegate("d", "a", budget={name: limit})])
    (task,) = agent.state.children.tasks
    assert (task.max_rounds, task.max_calls) == (5, 6)
    above = await failure(Team(LEAD, target), delegate("d", "a", budget={name: limit + 1}))
    assert above.startswith("agent.budget_too_large: ")
    assert f"budget.{name} is {limit + 1}" in above
    assert name in await failure(Team(LEAD, target), delegate("d", "a", budget={name: 0}))


async def test_tt_30_rounds_hold() -> None:
    """A child that uses all its rounds has failed, and its result says so."""
    team = Team(LEAD, profile("a"))
    team.dictate("a", *([call(f"l{n}", "agent.list")] for n in range(9)))
    agent = await run(
        team, [delegate("d", "a", budget={"maxRounds": 2})], [call("w", "agent.await")]
    )
    (task,) = told(agent, "w")["tasks"]
    assert task["status"] == "failed"
    assert "within 2 rounds" in task["result"]["summary"]
    assert len(team.models["a"].seen) == 2


@pytest.mark.parametrize(
    ("lead", "target", "reason"),
    [
        (profile("lead", can_delegate=False), profile("a"), "does not allow child tasks"),
        (profile("lead", max_depth=0), profile("a"), "no further level"),
        (LEAD, profile("a", callable=False), "'a' takes no child tasks"),
        (LEAD, profile("a", allow_as_subagent=False), "'a' takes no child tasks"),
        (LEAD, profile("a", allowed_callers=("b",)), "no child tasks of 'lead'"),
    ],
    ids=["tt_32", "depth", "tt_33_callable", "tt_33_subagent", "tt_35"],
)
async def test_tt_32_33_35_policies(lead: Profile, target: Profile, reason: str) -> None:
    """Parent and target must both agree; who may not is told why, and nobody is asked."""
    team = Team(lead, target)
    team.contexts["lead"] = allowing(allow=[])
    told_of = await failure(team, delegate("d", "a"))
    assert told_of.startswith("agent.delegation_policy_denied: ")
    assert reason in told_of


async def test_tt_34_model_is_configured() -> None:
    """A target without a model takes no tasks."""
    team = Team(LEAD, profile("a"))
    team.unconfigured = {"a"}
    assert "the model of 'a' is not configured" in await failure(team, delegate("d", "a"))


async def test_tt_35_named_caller() -> None:
    """A caller that the target names may give it work."""
    team = Team(LEAD, profile("a", allowed_callers=("lead",)))
    team.dictate("a", saying("ok"))
    agent = await run(team, [delegate("d", "a")])
    assert results(agent)["d"].state is ToolResultState.SUCCESS


async def test_tt_36_number_of_tasks() -> None:
    """Those of one run are limited, ended ones included; the next run may start as many."""
    team = Team(profile("lead", max_invocations_per_run=2), profile("a"))
    team.dictate("a", *[saying("ok")] * 3)
    turns = [
        item
        for n in range(3)
        for item in ([delegate(f"d{n}", "a")], [call(f"w{n}", "agent.await")])
    ]
    agent = await run(team, *turns)
    assert [results(agent)[f"d{n}"].state.value for n in range(3)] == [
        "success",
        "success",
        "error",
    ]
    assert text_of(results(agent)["d2"]).startswith("agent.delegation_budget_exhausted: ")
    model_of(agent).turns.extend([[delegate("e", "a")], [call("v", "agent.await")], saying("x")])
    await events_of(agent, "again")
    assert told(agent, "v")["tasks"][0]["status"] == "completed"
    assert len(told(agent, "v")["tasks"]) == 1


async def test_tt_37_tasks_at_once() -> None:
    """So many may be at work at once; when one has ended, the next may start."""
    team = Team(profile("lead", max_concurrent_invocations=2), profile("a"))
    team.dictate("a", *[saying("ok")] * 3)
    agent = await run(
        team,
        [delegate(f"d{n}", "a") for n in range(3)],
        [call("w", "agent.await", mode="allCompleted")],
        [delegate("d4", "a")],
    )
    assert [results(agent)[f"d{n}"].state.value for n in (0, 1, 2, 4)] == [
        "success",
        "success",
        "error",
        "success",
    ]
    assert "at most 2 child tasks are at work at once" in text_of(results(agent)["d2"])


async def test_tt_38_40_44_status_only() -> None:
    """`statusOnly` does not wait: the task is told as running, and goes on."""
    team = Team(LEAD, profile("a"))
    team.dictate("a", saying("ok"))
    agent = await run(
        team,
        [delegate("d", "a"), call("s", "agent.await", mode="statusOnly")],
        [call("w", "agent.await")],
    )
    (before,), (after,) = told(agent, "s")["tasks"], told(agent, "w")["tasks"]
    assert (before["status"], after["status"]) == ("running", "completed")
    assert "result" not in before
    assert told(agent, "s")["timedOut"] is False
    wrong = call("x", "agent.await", mode="all")
    assert "mode" in await failure(Team(LEAD), wrong)


async def test_tt_39_task_ids() -> None:
    """Without ids all tasks are meant; none, twice the same, and no task at all are errors."""
    team = Team(LEAD, profile("a"))
    team.dictate("a", saying("ok"), saying("ok"))
    agent = await run(
        team,
        [delegate("d1", "a"), delegate("d2", "a")],
        [call("w", "agent.await", mode="allCompleted")],
    )
    ids = [told(agent, "d1")["taskId"], told(agent, "d2")["taskId"]]
    assert [task["taskId"] for task in told(agent, "w")["tasks"]] == ids
    assert (await failure(Team(LEAD), call("x", "agent.await"))).startswith("agent.no_child_tasks")
    for wrong in ([], ["t", "t"]):
        team = Team(LEAD, profile("a"))
        team.dictate("a", saying("ok"))
        agent = await run(team, [delegate("d", "a")], [call("x", "agent.await", taskIds=wrong)])
        assert text_of(results(agent)["x"]).startswith("agent.invalid_task_ids: ")
        assert results(agent)["x"].metadata["error_code"] == "agent.invalid_task_ids"


async def test_tt_41_timeout() -> None:
    """At most 300,000 milliseconds, 0 allowed; above, the call fails."""
    for wrong in (-1, 300_001):
        block = call("x", "agent.await", timeoutMs=wrong)
        assert "timeoutMs" in await failure(Team(LEAD), block)


class Gate:
    """A tool `pass_gate` for children, which waits until it is opened."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()

    def tool(self) -> FunctionTool:
        """Return the tool."""

        async def pass_gate() -> ToolChunk:
            """Wait until the gate is open."""
            await self.opened.wait()
            return ToolChunk(content=[], state=ToolResultState.SUCCESS)

        return FunctionTool(pass_gate)


def gated(*others: str) -> tuple[Team, Gate]:
    """Return a team in which `slow` waits at a gate that `lead` can open with `open_gate`."""
    gate = Gate()

    async def open_gate() -> ToolChunk:
        """Open the gate."""
        gate.opened.set()
        return ToolChunk(content=[], state=ToolResultState.SUCCESS)

    team = Team(LEAD, profile("slow"), *map(profile, others))
    team.tools = {"slow": [gate.tool()], "lead": [FunctionTool(open_gate)]}
    team.contexts = {"lead": allowing(mode="bypass"), "slow": allowing(mode="bypass")}
    team.dictate("slow", [call("p", "pass_gate")], returning("slow result"))
    return team, gate


async def test_tt_42_next_completed() -> None:
    """It is the default: what has ended is told once, and the next call waits for another one."""
    team, _ = gated("quick")
    team.dictate("quick", returning("quick result"))
    agent = await run(
        team,
        [delegate("d1", "slow"), delegate("d2", "quick")],
        [call("w1", "agent.await")],
        [call("w2", "agent.await", timeoutMs=20)],
        [call("o", "open_gate")],
        [call("w3", "agent.await")],
    )
    first, second, third = (told(agent, name) for name in ("w1", "w2", "w3"))
    assert [task["status"] for task in first["tasks"]] == ["running", "completed"]
    assert first["tasks"][1]["result"]["summary"] == "quick result"
    assert second["timedOut"] is True
    assert [task["status"] for task in third["tasks"]] == ["completed", "completed"]
    assert [task.get("result", {}).get("summary") for task in third["tasks"]] == [
        "slow result",
        None,
    ]


async def test_tt_43_all_completed() -> None:
    """It waits for the slowest; failed tasks have ended too."""
    team, gate = gated("broken")
    team.dictate("broken", RuntimeError("no model"))

    async def open_later() -> None:
        await asyncio.sleep(0.05)
        gate.opened.set()

    opening = asyncio.create_task(open_later())
    agent = await run(
        team,
        [delegate("d1", "slow"), delegate("d2", "broken")],
        [call("w", "agent.await", mode="allCompleted")],
    )
    await opening
    assert [task["status"] for task in told(agent, "w")["tasks"]] == ["completed", "failed"]


async def test_tt_45_only_own_tasks() -> None:
    """A task of an earlier run, or of another agent, is not found."""
    team = Team(LEAD, profile("a"))
    team.dictate("a", saying("ok"), saying("ok"))
    agent = await run(team, [delegate("d", "a")], [call("w", "agent.await")])
    earlier = told(agent, "d")["taskId"]
    model_of(agent).turns.extend(
        [[delegate("e", "a")], [call("x", "agent.await", taskIds=[earlier])], saying("x")]
    )
    await events_of(agent, "again")
    assert text_of(results(agent)["x"]).startswith("agent.await_task_not_found: ")


async def test_tt_46_timing_out_is_a_result() -> None:
    """The status is told with a warning, as a success, and the task goes on."""
    team, gate = gated()
    agent = await run(
        team,
        [delegate("d", "slow")],
        [call("w1", "agent.await", timeoutMs=20)],
        [call("o", "open_gate")],
        [call("w2", "agent.await")],
    )
    assert gate.opened.is_set()
    timed_out = told(agent, "w1")
    assert results(agent)["w1"].state is ToolResultState.SUCCESS
    assert timed_out["timedOut"] is True
    assert "go on" in timed_out["warning"]
    assert timed_out["tasks"][0]["status"] == "running"
    assert told(agent, "w2")["tasks"][0]["result"]["summary"] == "slow result"
