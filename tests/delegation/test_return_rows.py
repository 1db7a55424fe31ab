"""The rows of seed 001 on `task.return`, and what becomes of a child without it."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.agent import Agent
from agentscope_like.delegation import ResultFiles
from agentscope_like.message import ToolChunk, ToolResultState
from agentscope_like.profile import Profile, ProfileError, ToolPolicy
from agentscope_like.tool import FunctionTool
from tests.agent.kit import events_of
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


async def delegated(team: Team, *turns: Any) -> dict[str, Any]:
    """Return what the parent is told of a child that takes these turns."""
    team.dictate("child", *turns)
    team.dictate("lead", [delegate("d", "child")], [call("w", "agent.await")], saying("done"))
    agent = team.top("lead")
    await events_of(agent, "go")
    (task,) = told(agent, "w")["tasks"]
    assert isinstance(task, dict)
    return task


def pair() -> Team:
    """Return an agent and one that it gives work to."""
    return Team(profile("lead"), profile("child"))


def heard(team: Team) -> str:
    """Return all that the child was told of its calls."""
    return str(team.models["child"].seen[-1])


async def test_tt_47_56_only_children_have_it() -> None:
    """The child sees it, by the model's name; the main agent does not, and cannot call it."""
    team = pair()
    team.dictate("lead", [call("x", "task.return", summary="I am done")])
    await delegated(team, returning("ok"))
    assert "task_return" in team.models["child"].shown_tools[0]
    assert "task_return" not in team.models["lead"].shown_tools[0]
    agent = team.top("lead")
    team.dictate("lead", [call("x", "task.return", summary="I am done")], saying("well"))
    await events_of(agent, "go")
    assert results(agent)["x"].state is ToolResultState.ERROR


@pytest.mark.parametrize("name", ["allow", "max_calls_per_tool"])
def test_tt_56_no_profile_may_name_it(name: str) -> None:
    """In a profile's list it is an error, which says who has it."""
    listed: Any = ("task.return",) if name == "allow" else {"task.return": 1}
    wrong = Profile(id="p", tools=ToolPolicy(**{name: listed}))
    with pytest.raises(ProfileError, match="given to child tasks, and to no other agent"):
        wrong.check(["task.return"])


@pytest.mark.parametrize("summary", ["", "  ", 3, "x" * 8001])
async def test_tt_48_summary(summary: Any) -> None:
    """It says something, in at most 8000 characters; the child can correct itself."""
    team = pair()
    task = await delegated(team, returning(summary), returning("The summary."))
    assert task["result"]["summary"] == "The summary."
    assert "summary" in heard(team)


async def test_tt_49_status() -> None:
    """Completed by default; failed is told as such; anything else is refused."""
    assert (await delegated(pair(), returning("x")))["status"] == "completed"
    failed = await delegated(
        pair(), returning("x", status="cancelled"), returning("x", status="failed")
    )
    assert (failed["status"], failed["result"]["status"]) == ("failed", "failed")


async def test_tt_50_confidence() -> None:
    """Low, medium or high."""
    for level in ("low", "medium", "high"):
        assert (await delegated(pair(), returning("x", confidence=level)))["result"][
            "confidence"
        ] == level
    team = pair()
    task = await delegated(team, returning("x", confidence="total"), returning("y"))
    assert task["result"]["summary"] == "y"


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "output", "output/../input/x", "input/x.md", "../x", "checkpoints/1", ""],
)
async def test_tt_51_artifacts_the_child_does_not_see(path: str) -> None:
    """A path outside its visible roots is refused, and the child can correct it."""
    team = pair()
    wrong = [{"path": path, "kind": "text", "role": "draft"}]
    right = [{"path": "output/main.md", "kind": "markdown", "role": "draft"}]
    task = await delegated(team, returning("x", artifacts=wrong), returning("y", artifacts=right))
    assert task["result"]["artifacts"] == right
    assert task["result"]["summary"] == "y"


async def test_tt_51_roots_are_those_of_parent_and_child() -> None:
    """What the parent does not see, the child does not either."""
    team = pair()
    narrow = team.profiles["lead"].workspace.model_copy(update={"visible_roots": ("plan",)})
    team.profiles["lead"] = team.profiles["lead"].model_copy(update={"workspace": narrow})
    wrong = [{"path": "output/main.md", "kind": "markdown", "role": "draft"}]
    right = [{"path": "plan/main.md", "kind": "markdown", "role": "draft"}]
    task = await delegated(team, returning("x", artifacts=wrong), returning("y", artifacts=right))
    assert task["result"]["artifacts"] == right
    assert "agent.artifact_not_visible" in heard(team)


@pytest.mark.parametrize("missing", ["path", "kind", "role"])
async def test_tt_52_artifacts_have_kind_and_role(missing: str) -> None:
    """Each of the three fields is required."""
    artifact = {"path": "output/a", "kind": "text", "role": "draft"}
    del artifact[missing]
    task = await delegated(pair(), returning("x", artifacts=[artifact]), returning("y"))
    assert task["result"]["summary"] == "y"


@pytest.mark.parametrize(
    "name", ["findings", "warnings", "suggestedNextActions", "questionsForCaller"]
)
async def test_tt_53_lists(name: str) -> None:
    """They hold texts and objects; what is no list is refused."""
    noted: Any = ["one", {"line": 2}]
    wrong: Any = "one"
    task = await delegated(pair(), returning("x", **{name: wrong}), returning("y", **{name: noted}))
    assert task["result"] == {"status": "completed", "summary": "y", name: noted}


async def test_tt_54_returning_ends_the_task() -> None:
    """The model is not called again, and a later call of the same turn does not run."""
    team = pair()
    ran: list[str] = []

    async def work() -> ToolChunk:
        """Do something."""
        ran.append("work")
        return ToolChunk(content=[], state=ToolResultState.SUCCESS)

    team.tools = {"child": [FunctionTool(work)]}
    team.contexts = {name: allowing(mode="bypass") for name in team.profiles}
    turn = [
        call("k", "work"),
        call("r", "task.return", summary="first"),
        call("s", "task.return", summary="second"),
        call("l", "work"),
    ]
    task = await delegated(team, turn, saying("never"))
    assert task["result"]["summary"] == "first"
    assert ran == ["work"]
    assert len(team.models["child"].seen) == 1


async def test_tt_54_results_are_bounded() -> None:
    """One of more than 20,000 characters is refused, not cut; the child can shorten it."""
    team = pair()
    task = await delegated(team, returning("x", findings=["y" * 7000] * 3), returning("short"))
    assert task["result"]["summary"] == "short"
    assert "agent.result_too_long" in heard(team)


async def test_tt_55_results_are_kept(tmp_path: Path) -> None:
    """As JSON and as a summary, readable by nobody else; no file is ever written over."""
    team = pair()
    team.results = ResultFiles(tmp_path)
    first = await delegated(team, returning("One.", findings=["f"]))
    second = await delegated(team, returning("Two."))
    assert first["result"]["files"] == [
        f"agent-results/{first['taskId']}.json",
        "summaries/child-result.md",
    ]
    assert second["result"]["files"][1] == "summaries/child-result-002.md"
    record = json.loads((tmp_path / first["result"]["files"][0]).read_text())
    assert record["result"] == {"status": "completed", "summary": "One.", "findings": ["f"]}
    assert (record["agentId"], record["task"]) == ("child", {"objective": "Do it."})
    summary = tmp_path / "summaries/child-result.md"
    assert "One." in summary.read_text()
    assert stat.S_IMODE(summary.stat().st_mode) == 0o600


async def test_tt_55_a_planted_symlink_is_not_followed(tmp_path: Path) -> None:
    """The result still reaches the parent, with a warning that it could not be kept."""
    (tmp_path / "run").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run/agent-results").symlink_to(tmp_path / "elsewhere")
    team = pair()
    team.results = ResultFiles(tmp_path / "run")
    task = await delegated(team, returning("One."))
    assert task["result"]["summary"] == "One."
    assert "could not be kept" in task["result"]["warnings"][0]
    assert not list((tmp_path / "elsewhere").iterdir())


async def test_a_child_that_answers_in_a_text() -> None:
    """The text is the result, with a warning; a very long one is cut, and the warning says so."""
    task = await delegated(pair(), saying("Just words."))
    assert (task["status"], task["result"]["summary"]) == ("completed", "Just words.")
    assert "did not return" in task["result"]["warnings"][0]
    long = await delegated(pair(), saying("x" * 9000))
    assert len(long["result"]["summary"]) == 8000
    assert "first 8,000 of 9,000" in long["result"]["warnings"][1]


async def test_a_child_whose_model_fails() -> None:
    """The task has failed, and the parent goes on."""
    task = await delegated(pair(), RuntimeError("no answer"))
    assert task["status"] == "failed"


async def test_a_child_that_cannot_be_made() -> None:
    """The task has failed with the reason."""
    team = pair()

    def broken(_: Agent) -> None:
        raise ValueError("no key")

    team.prepare = broken
    task = await delegated(team)
    assert (task["status"], task["result"]["summary"]) == ("failed", "ValueError: no key")
