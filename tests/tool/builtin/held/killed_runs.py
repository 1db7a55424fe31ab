"""Runs and answers of held calls by a process that is killed: `python -m ... FOLDER POINT...`.

A point is where the process is killed; each has a folder of its own.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
import threading
import time
from contextlib import aclosing
from pathlib import Path
from typing import Any

from agentscope_like.agent import Agent
from agentscope_like.checkpoint import CheckpointStore
from agentscope_like.message import TextBlock, UserMsg
from agentscope_like.session import SQLiteSessionStorage, recorded
from agentscope_like.state import AgentState
from agentscope_like.tool.builtin.held import HeldCommand
from tests.agent.kit import agent_of, answer, calls_of
from tests.tool.builtin.held.held_kit import Scene

__all__ = [
    "AFTER_NO",
    "AFTER_YES",
    "AFTER_YES_THEN_NO",
    "BEFORE_ANSWER",
    "SESSION",
    "WORK",
    "KilledScene",
    "main",
]

BEFORE_ANSWER = ("running", "ended", "question", "unsaved", "saved")
"""While the command runs; after it ended; before the question is stored; before and after the
session is saved with it."""

AFTER_YES = ("yes-1", "yes-3", "yes-5", "yes-6")
"""At steps of applying: before it begins, as the first file is to be replaced, between two files,
and after the last one."""

AFTER_YES_THEN_NO = ("yes-4", "yes-7", "yes-8")
"""Steps of applying after which a person says no in the next process."""

AFTER_NO = ("no-1", "no-2", "no-3")
"""At each step of dropping the layer after a no."""

SESSION = "s"
WORK = (
    "od -An -N8 -tx1 /dev/urandom > drawn.txt",
    "cat drawn.txt",
    "echo x >> count.txt",
    "if [ -e slow ]; then sleep 611; fi",
)


class KilledScene(Scene):
    """A scene with a session and checkpoints that are stored.

    Args:
        top: Its folder.
    """

    def __init__(self, top: Path) -> None:
        self.checkpoints = CheckpointStore(top / "checkpoints.db")
        super().__init__(top)
        self.storage = SQLiteSessionStorage(top / "sessions.db")

    def new_bash(self, **options: Any) -> Any:
        """Return a Bash that keeps what commands change for undo."""
        return super().new_bash(checkpoints=self.checkpoints, **options)

    def new_state(self) -> AgentState:
        """Return the state of the session."""
        state = super().new_state()
        state.session_id = SESSION
        return state

    def agent(self, state: AgentState | None, *turns: Any) -> Agent:
        """Return an agent that goes on from a stored state."""
        done = [TextBlock(text="done")]
        return agent_of([self.bash], *turns, done, state=state or self.state)

    async def follow(self, agent: Agent, given: Any) -> None:
        """Let an agent go on to the end of its reply, or until it waits; store each event."""
        events = recorded(agent.reply_stream(given), agent.state, self.storage)
        async with aclosing(events):
            async for _ in events:
                pass


def kill() -> None:
    """End this process at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def _kill_at_step(left: int) -> None:
    """Kill this process at a step of applying or dropping."""

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        asked = event == "os.remove" and str(arguments[0]).endswith("run.json")
        if asked or event in {"os.rename", "shutil.rmtree"}:
            left -= 1
            if left == 0:
                kill()

    sys.addaudithook(watch)


def _kill_before_the_answer(scene: KilledScene, agent: Agent, point: str) -> None:
    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "os.rename" and str(arguments[1]).endswith("run.json"):
            kill()

    async def ended(*_: object, **__: object) -> None:
        kill()

    save = scene.storage.save

    async def saved(state: AgentState, **options: Any) -> None:
        calls = calls_of(agent) if state.context else {}
        waits = any(call.apply is not None for call in calls.values())
        if waits and point == "unsaved":
            kill()
        await save(state, **options)
        if waits and point == "saved":
            kill()

    def when_it_runs() -> None:
        while not [*scene.store.glob("*/0/upper/count.txt")]:
            time.sleep(0.01)
        kill()

    if point == "running":
        (scene.project / "slow").touch()
        threading.Thread(target=when_it_runs, daemon=True).start()
    elif point == "ended":
        HeldCommand.end = ended  # type: ignore[assignment]  # never comes to its result
    elif point == "question":
        sys.addaudithook(watch)
    else:
        scene.storage.save = saved  # type: ignore[method-assign]


async def _work(top: Path, point: str) -> None:
    scene = KilledScene(top)
    scene.git("init", "-q")
    command = scene.script("work.sh", *WORK)
    call = scene.call(command)
    agent = scene.agent(None, [call])
    kind, _, step = point.partition("-")
    if not step:
        _kill_before_the_answer(scene, agent, point)
    await scene.follow(agent, UserMsg("user", "go"))
    given = answer(agent, call.id, confirmed=kind == "yes")
    _kill_at_step(int(step))
    await scene.follow(agent, given)


def main(top: Path, points: list[str]) -> None:
    """Kill a process at each point, and print how each ended."""
    for point in points:
        folder = top / point
        for each in (folder, folder / "home", folder / "tmp"):
            each.mkdir()
        if (pid := os.fork()) == 0:
            os.environ["HOME"], tempfile.tempdir = str(folder / "home"), str(folder / "tmp")
            asyncio.run(_work(folder, point))
            os._exit(0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
