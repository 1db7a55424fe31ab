"""`kill -9` at each step of a held run, its question and its answer: nothing runs twice."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentscope_like.agent import Agent
from agentscope_like.message import ToolCallState, ToolResultState
from tests.agent.kit import answer, calls_of, results_of, text_of
from tests.sandbox.layer.layers import NEEDS_LAYERS
from tests.tool.builtin.held.held_kit import until
from tests.tool.builtin.held.killed_runs import (
    AFTER_NO,
    AFTER_YES,
    AFTER_YES_THEN_NO,
    BEFORE_ANSWER,
    SESSION,
    KilledScene,
)

pytestmark = [NEEDS_LAYERS, pytest.mark.timeout(300), pytest.mark.slow]

POINTS = (*BEFORE_ANSWER, *AFTER_YES, *AFTER_YES_THEN_NO, *AFTER_NO)
DAY = 24 * 3600


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Kill a process at each point, and return the folder of all."""
    top = tmp_path_factory.mktemp("killed")
    done = subprocess.run(
        [sys.executable, "-m", "tests.tool.builtin.held.killed_runs", str(top), *POINTS],
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
        check=True,
    )
    ended = dict(zip(POINTS, done.stdout.split(), strict=True))
    assert set(ended.values()) == {"-9"}, (ended, done.stderr)
    return top


def files_of(scene: KilledScene) -> tuple[str, str] | None:
    """Return what the command drew and counted in the project; None if nothing is there."""
    paths = [scene.project / name for name in ("drawn.txt", "count.txt")]
    if not any(path.exists() for path in paths):
        return None
    drawn, count = (path.read_text() for path in paths)
    return drawn, count


def processes_of(top: Path) -> Iterator[str]:
    """Yield the command lines of the processes that know a folder, or are the killed command's."""
    for number in filter(str.isdecimal, os.listdir("/proc")):
        try:
            words = Path("/proc", number, "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if int(number) != os.getpid() and (f"{top}/" in words or words == "sleep\x00611\x00"):
            yield words


def left_in(scene: KilledScene) -> list[str]:
    """Return what the store has but for its lock and the temporary files of this process."""
    names = sorted(each.name for each in scene.store.iterdir() if each.name != "lock")
    own = [name for name in names if name.startswith("temporary-")]
    assert len(own) == 1
    return [name for name in names if name not in own]


async def hold_another(scene: KilledScene) -> None:
    """Hold another command: the first one of a process tidies the store."""
    _, response = await scene.run(scene.call(scene.script("other.sh", "echo other")))
    assert response is not None
    assert response.state is ToolResultState.SUCCESS


async def taken_up(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, tidies: bool = True
) -> tuple[KilledScene, Agent]:
    """Go on with the session as a new process does."""
    monkeypatch.setenv("HOME", str(folder / "home"))
    until(lambda: not [*processes_of(folder)], seconds=10)
    scene = KilledScene(folder)
    state = await scene.storage.load(SESSION)
    assert state is not None
    agent = scene.agent(state)
    await scene.follow(agent, None)
    if tidies:
        await hold_another(scene)
    return scene, agent


@pytest.mark.parametrize("point", ["running", "ended", "question", "unsaved"])
async def test_a_run_that_nobody_was_asked_about_is_over(
    killed: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """The files are as before, the call is told as cut off, and its layer goes."""
    scene, agent = await taken_up(killed / point, monkeypatch)
    (result,) = results_of(agent).values()
    assert result.state is ToolResultState.INTERRUPTED
    assert files_of(scene) is None
    if point == "unsaved":  # the session might have been saved: it waits for a month
        (name,) = left_in(scene)
        question = scene.store / name / "run.json"
        for days in (29, 31):
            then = question.stat().st_ctime - days * DAY
            os.utime(question, (then, then))
            scene.bash = scene.new_bash()
            await scene.bash.holding_objection(scene.state)
            assert (scene.store / name).exists() is (days == 29)
    else:
        assert left_in(scene) == []
    assert files_of(scene) is None
    assert os.listdir(killed / point / "tmp") == []


@pytest.mark.parametrize("point", ["saved", "yes-1", "no-1"])
async def test_a_question_that_was_saved_is_asked_again(
    killed: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """Its layer survives the tidying, and a yes applies what the killed process's run drew."""
    scene, agent = await taken_up(killed / point, monkeypatch)
    (call,) = calls_of(agent).values()
    assert call.state is ToolCallState.ASKING
    assert call.apply is not None
    assert len(left_in(scene)) == 1
    assert files_of(scene) is None
    drawn = text_of(results_of(agent)[call.id])
    await scene.follow(agent, answer(agent, call.id))
    assert files_of(scene) == (drawn, "x\n")
    assert results_of(agent)[call.id].state is ToolResultState.SUCCESS
    assert left_in(scene) == []


@pytest.mark.parametrize("point", AFTER_YES[1:])
async def test_a_yes_that_was_cut_off_applies_all(
    killed: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """The question is asked again, since no result was saved; a yes tells what was applied."""
    tidies = point == "yes-5"
    scene, agent = await taken_up(killed / point, monkeypatch, tidies=tidies)
    (call,) = calls_of(agent).values()
    assert call.state is ToolCallState.ASKING
    drawn = text_of(results_of(agent)[call.id])
    await scene.follow(agent, answer(agent, call.id))
    assert files_of(scene) == (drawn, "x\n")
    told = text_of(results_of(agent)[call.id])
    assert "Applied: 2 files" in told
    if not tidies:
        await hold_another(scene)
    assert left_in(scene) == []
    (kept,) = scene.checkpoints.page()
    assert kept.state == "done"


@pytest.mark.parametrize("point", AFTER_YES_THEN_NO)
async def test_a_no_after_a_yes_that_was_cut_off_tells_what_is_true(
    killed: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """Files that are changed already stay so, and nobody is told that they are as before."""
    scene, agent = await taken_up(killed / point, monkeypatch)
    (call,) = calls_of(agent).values()
    drawn = text_of(results_of(agent)[call.id])
    await scene.follow(agent, answer(agent, call.id, confirmed=False))
    assert files_of(scene) == (drawn, "x\n")
    told = text_of(results_of(agent)[call.id])
    named = "applied by an earlier answer" if point == "yes-8" else "Applied: 2 files"
    assert "Nothing was dropped" in told
    assert named in told
    assert "as before" not in told
    assert left_in(scene) == []


@pytest.mark.parametrize("point", AFTER_NO[1:])
async def test_a_no_that_was_cut_off_stays_a_no(
    killed: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """What is left of the layer goes; a yes to the question that is asked again applies nothing."""
    scene, agent = await taken_up(killed / point, monkeypatch)
    (call,) = calls_of(agent).values()
    assert call.state is ToolCallState.ASKING
    assert left_in(scene) == []
    await scene.follow(agent, answer(agent, call.id))
    assert files_of(scene) is None
    assert "no longer there" in text_of(results_of(agent)[call.id])
