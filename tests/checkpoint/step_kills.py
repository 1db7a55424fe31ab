"""Kills a process at each step of its work on files, one after the other.

A step is what Python audits of a change to files, and the beginning and end of a store's methods.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["KillAtStep", "kill_at_each_step", "steps_of"]

_STEPS = frozenset(
    [
        "os.rename",
        "os.link",
        "os.remove",
        "os.rmdir",
        "os.mkdir",
        "os.symlink",
        "os.chmod",
        "os.utime",
        "os.truncate",
        "shutil.rmtree",
    ]
)


class KillAtStep:
    """Kills this process at one of the steps that follow.

    Args:
        step: Which one, from 1.
    """

    def __init__(self, step: int) -> None:
        self._left = step

    def watch(self, store: object, *methods: str) -> None:
        """Begin to count the steps, those of the store's methods among them."""
        for name in methods:
            setattr(store, name, self._around(getattr(store, name)))
        sys.addaudithook(lambda event, _: self._passed() if event in _STEPS else None)

    def end(self) -> None:
        """Kill no more."""
        self._left = 0

    def _passed(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def _around(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: object, **options: object) -> object:
            self._passed()
            found = method(*arguments, **options)
            self._passed()
            return found

        return call


def kill_at_each_step(
    folder: str,
    most: str,
    work: Callable[[Path, KillAtStep], None],
    prepare: Callable[[Path], None],
) -> None:
    """Do a piece of work in child processes, each killed a step later, until one is not.

    Prints the exit status of each.

    Args:
        folder: Where each has a folder of its own, named by its step.
        most: How many are tried at most.
        work: What a child does in its folder.
        prepare: What is done in the folder before.
    """
    for step in range(1, int(most)):
        own = Path(folder, str(step))
        own.mkdir()
        prepare(own)
        if (pid := os.fork()) == 0:
            work(own, KillAtStep(step))
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print(status, flush=True)  # noqa: T201 - the test reads it
        if status == 0:
            break


def steps_of(program: str, folder: Path, most: int, *arguments: str) -> int:
    """Run a program that calls `kill_at_each_step`; return the first step that kills nothing.

    What the earlier steps left lies in `folder / str(step)`, what the whole work left in the last.

    Args:
        program: What python runs; it prints the exit status of each piece of work.
        folder: The program's first argument.
        most: Its second: how many steps are tried at most.
        arguments: More arguments.
    """
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder), str(most), *arguments],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    statuses = done.stdout.split()
    assert done.returncode == 0, done.stderr
    assert statuses[-1:] == ["0"], f"there are more steps than the {most} that are tried"
    assert set(statuses[:-1]) == {"-9"}, done.stderr
    return len(statuses)
