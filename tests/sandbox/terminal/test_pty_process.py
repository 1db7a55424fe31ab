"""Real programs on real pseudo-terminals, and what is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentscope_like.sandbox.host import MARK_VARIABLE, OrphanGuard
from agentscope_like.sandbox.terminal import ProgramStart, PtyProcess, launch
from agentscope_like.sandbox.terminal.keeper import keeper_works

BASH = ("/bin/bash", "--norc", "--noprofile", "-c")


class Terminals:
    """Starts programs whose processes can be told from all others by an argument."""

    def __init__(self) -> None:
        self.number = f"9{uuid.uuid4().int % 10**8:08}"
        self._guard = OrphanGuard()
        self._started: list[PtyProcess] = []

    def start(
        self, command: str, longest: float | None = None, *, piped: bool = False
    ) -> PtyProcess:
        mark = uuid.uuid4().hex
        environment = {"PATH": "/usr/bin:/bin", "TERM": "xterm", MARK_VARIABLE: mark}
        start = ProgramStart((*BASH, command), "/", environment, mark, piped=piped)
        process = PtyProcess(start, guard=self._guard, longest=longest)
        self._started.append(process)
        return process

    def left(self) -> list[str]:
        """Return the command lines that have the number as an argument."""
        found = []
        for place in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = place.read_bytes().split(b"\0")
            except OSError:
                continue
            if self.number.encode() in words:
                found.append(b" ".join(words).decode())
        return found

    def close(self) -> None:
        for process in self._started:
            process.close()


@pytest.fixture
def terminals() -> Iterator[Terminals]:
    made = Terminals()
    yield made
    made.close()


async def finished(process: PtyProcess, seconds: float = 20) -> str:
    await process.wait(quiet=None, longest=seconds)
    assert process.is_over
    return process.take()


async def until(process: PtyProcess, text: str) -> str:
    """Return the output up to some text."""
    shown = ""
    for _ in range(200):
        await process.wait(quiet=0.05, longest=0.1)
        shown += process.take()
        if text in shown:
            return shown
    raise AssertionError(f"{text!r} is not in {shown!r}")


async def until_there(terminals: Terminals, many: int = 1) -> None:
    deadline = time.monotonic() + 10
    while len(terminals.left()) < many:
        assert time.monotonic() < deadline
        time.sleep(0.01)  # noqa: ASYNC251 - the thread of the terminal works meanwhile


@pytest.fixture(params=["keeper", "alone"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Have programs started below a keeper, and as where there can be none."""
    chosen = str(request.param)
    if chosen == "alone":
        monkeypatch.setattr(launch, "keeper_works", lambda: False)
    elif not keeper_works():
        pytest.skip("there can be no keeper here")
    return chosen


async def test_a_program_has_a_terminal_of_its_own(way: str, terminals: Terminals) -> None:
    """Its streams are one terminal, which controls it and has a size."""
    process = terminals.start("[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && tty </dev/tty && stty size")
    shown = await finished(process)
    assert process.exit_status == 0, way
    assert shown.splitlines()[1] == "40 160"


@pytest.mark.parametrize(
    ("command", "status"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137), ("nope", 127)]
)
async def test_the_exit_status_is_told(
    way: str, terminals: Terminals, command: str, status: int
) -> None:
    """It is that of the program, or 128 and the number of the signal that ended it."""
    process = terminals.start(command)
    await finished(process)
    assert process.exit_status == status, way


async def test_a_conversation_with_a_program(way: str, terminals: Terminals) -> None:
    """A program reads what is typed, echoes it, and ends at the end of its input."""
    process = terminals.start("python3 -q")
    await until(process, ">>>")
    assert process.type(b"6*7\r")
    assert "42" in await until(process, "42")
    assert process.type(b"\x04")
    await finished(process)
    assert process.exit_status == 0, way


async def test_a_program_with_a_pipe_is_controlled_by_its_terminal(
    way: str, terminals: Terminals
) -> None:
    """Its streams are no terminal, but an interruption reaches it."""
    process = terminals.start(
        f"test -t 0 -o -t 1 -o -t 2 || echo none; cat; sleep {terminals.number}", piped=True
    )
    assert await until(process, "none") == "none", way
    await until_there(terminals)
    process.type(b"\x03")
    await finished(process)
    assert process.exit_status == 130


async def test_what_is_not_echoed_is_not_shown(way: str, terminals: Terminals) -> None:
    """A password that a program reads without an echo is not in its output."""
    process = terminals.start("read -rsp 'password: ' x; echo; echo ${#x}")
    await until(process, "password:")
    process.type(b"swordfish\r")
    shown = await finished(process)
    assert "9" in shown, way
    assert "swordfish" not in shown


async def test_an_interruption_ends_a_program(way: str, terminals: Terminals) -> None:
    """C-c is a signal to the program that runs."""
    process = terminals.start(f"sleep {terminals.number}")
    await until_there(terminals)
    process.type(b"\x03")
    await finished(process)
    assert process.exit_status == 130, way
    assert terminals.left() == []


async def test_an_interruption_reaches_a_program_of_an_application_that_ignores_it(
    terminals: Terminals,
) -> None:
    """C-c ends the program, though a shell started this application in the background."""
    if not keeper_works():
        pytest.skip("there can be no keeper here")
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = terminals.start(f"sleep {terminals.number}")
        await until_there(terminals)
        process.type(b"\x03")
        await finished(process)
    finally:
        signal.signal(signal.SIGINT, before)
    assert process.exit_status == 130


async def test_waiting_ends_when_nothing_new_is_shown(terminals: Terminals) -> None:
    """A quiet program is left running; what it showed is there."""
    process = terminals.start("echo here; sleep 1000")
    await process.wait(quiet=0.3, longest=20)
    assert not process.is_over
    assert process.take() == "here"


async def test_waiting_ends_when_told(terminals: Terminals) -> None:
    """Another thread can have it return."""
    import asyncio  # this test alone needs it

    process = terminals.start("sleep 1000")
    waiting = asyncio.create_task(process.wait(quiet=None, longest=30))
    await asyncio.sleep(0)
    await asyncio.to_thread(process.wake)
    await asyncio.wait_for(waiting, 5)
    assert not process.is_over


async def test_a_program_is_ended_after_its_time(way: str, terminals: Terminals) -> None:
    """Nobody has to wait for that."""
    process = terminals.start(f"trap '' TERM; sleep {terminals.number}; sleep 1000", longest=0.3)
    await finished(process)
    assert process.timed_out, way
    assert terminals.left() == []


HIDDEN = "(env -i setsid sleep {0} &); (setsid nohup sleep {0} &) >/dev/null; sleep {0}"


async def test_nothing_is_left_after_closing(terminals: Terminals) -> None:
    """Nor daemons in other sessions with an environment of their own."""
    if not keeper_works():
        pytest.skip("there can be no keeper here")
    process = terminals.start(f"trap '' HUP TERM INT; {HIDDEN.format(terminals.number)}")
    await until_there(terminals, 3)
    process.close()
    assert process.is_over
    assert terminals.left() == []


async def test_what_is_left_in_the_background_ends_with_the_program(
    way: str, terminals: Terminals
) -> None:
    """It is told, too."""
    process = terminals.start(
        f"nohup sleep {terminals.number} >/dev/null 2>&1 & until pgrep -f '^sleep "
        f"{terminals.number}'; do :; done; echo done"
    )
    assert "done" in await finished(process)
    assert process.exit_status == 0, way
    assert process.left_background
    assert terminals.left() == []


KILLED = """
import os, sys, time
from tests.sandbox.terminal.test_pty_process import HIDDEN, Terminals
terminals = Terminals()
terminals.number = sys.argv[1]
terminals.start("trap '' HUP TERM INT; " + HIDDEN.format(sys.argv[1]))
while len(terminals.left()) < 5:  # and bash, and this process
    time.sleep(0.01)
os.kill(os.getpid(), 9)
"""


def test_nothing_is_left_after_this_process_was_killed(terminals: Terminals) -> None:
    """The keeper ends what runs, however this process ends."""
    if not keeper_works():
        pytest.skip("there can be no keeper here")
    script = KILLED.replace("< 5", "< 4")
    done = subprocess.run([sys.executable, "-c", script, terminals.number], timeout=30, check=False)
    assert done.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 10
    while terminals.left() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert terminals.left() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_program_that_ends_its_keeper_is_ended(
    terminals: Terminals, number: signal.Signals
) -> None:
    """It cannot be kept any more."""
    if not keeper_works():
        pytest.skip("there can be no keeper here")
    left = f"sleep {terminals.number}"
    process = terminals.start(f"{left} & sleep 0.1; kill -{number.value} $PPID; exec {left}")
    await until_there(terminals)
    await process.wait(quiet=0.5, longest=2)
    process.close()
    assert process.is_over
    assert terminals.left() == []


async def test_a_program_inherits_its_streams_and_nothing_else(
    way: str, terminals: Terminals
) -> None:
    """No descriptor of this process or of the keeper reaches it."""
    numbers = "{0..20} {90..300}"
    looked = f'for n in {numbers}; do [ -e /proc/$$/fd/$n ] && echo -n "$n "; done'
    assert (await finished(terminals.start(looked))).split() == ["0", "1", "2"], way


async def test_no_thread_and_no_descriptor_is_left(terminals: Terminals) -> None:
    """A program that has ended leaves nothing in this process either."""
    import threading  # this test alone needs it

    await finished(terminals.start("echo first"))  # what is kept for all of them is there now
    before = set(os.listdir("/proc/self/fd"))
    process = terminals.start("echo second")
    await finished(process)
    process.close()
    assert set(os.listdir("/proc/self/fd")) <= before
    assert "terminal" not in {thread.name for thread in threading.enumerate()}


async def test_a_flood_is_windowed_and_does_not_stop_the_program(terminals: Terminals) -> None:
    """Output that nobody looks at does not hold up the program."""
    process = terminals.start("seq 1 300000; echo end")
    shown = await finished(process)
    assert shown.startswith("1\n2\n3\n")
    assert shown.endswith("300000\nend")
    assert "characters are left out here" in shown


async def test_a_program_that_cannot_be_started_is_told(terminals: Terminals) -> None:
    """The reason is that of the system."""
    if not keeper_works():
        pytest.skip("there can be no keeper here")
    start = ProgramStart(("/no/such/program",), "/", {}, "mark")
    process = PtyProcess(start, guard=OrphanGuard())
    await finished(process)
    assert process.objection == "No such file or directory"
    assert terminals.left() == []
