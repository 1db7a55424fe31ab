"""Commands whose program was killed."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentscope_like.sandbox.host.orphan_guard import OrphanGuard
from tests.sandbox.kit import is_running, until

PROGRAM = """\
import subprocess, sys, time
from agentscope_like.sandbox.host.orphan_guard import OrphanGuard

guard = OrphanGuard()
for number, command in enumerate(sys.argv[1:]):
    group = subprocess.Popen(["bash", "-c", command], start_new_session=True).pid
    guard.watch(group)
    if number == 0:
        guard.forget(group)
print("ready", flush=True)
time.sleep(60)
"""


@contextmanager
def program(*commands: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program that runs the commands under a guard, the first of which it forgets."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *commands], stdout=subprocess.PIPE
    ) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == b"ready\n"
        yield started
        started.kill()


async def test_what_a_killed_program_left_is_ended() -> None:
    """All groups that were watched end, however stubborn; one that was forgotten does not."""
    forgotten = "sleep 64.710 & wait"
    stubborn = "trap '' TERM; sleep 64.712 & wait; sleep 64.712"
    with program(forgotten, "sleep 64.711 & wait", stubborn) as started:
        started.send_signal(signal.SIGKILL)
    assert await until(lambda: not is_running("sleep 64.711") and not is_running("sleep 64.712"))
    assert is_running("sleep 64.710")
    end("sleep 64.710")


async def test_a_program_that_goes_on_keeps_its_commands() -> None:
    """As long as the program is there the guard does nothing."""
    with program("true", "sleep 64.720 & wait"):
        await asyncio.sleep(0.2)
        assert is_running("sleep 64.720")
    assert await until(lambda: not is_running("sleep 64.720"))


def test_a_guard_goes_with_its_owner() -> None:
    """It leaves neither a process nor a descriptor, and kills nothing that has ended."""
    gc.collect()  # tools of other tests have descriptors, too
    before, others = len(os.listdir("/proc/self/fd")), children()
    guard = OrphanGuard()
    guard.forget(1)
    assert len(os.listdir("/proc/self/fd")) == before
    with subprocess.Popen(["sleep", "64.73"], start_new_session=True) as command:
        guard.watch(command.pid)
        guard.forget(command.pid)
        assert len(os.listdir("/proc/self/fd")) == before + 1
        assert len(children() - others) == 2
        del guard
        assert len(os.listdir("/proc/self/fd")) == before
        assert command.poll() is None
        command.kill()
    assert children() == others


def children() -> set[str]:
    """Return the children of this process, by their numbers."""
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split())


def end(text: str) -> None:
    """Kill the processes that have the text in their command line."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                found = text.encode() in file.read()
        except OSError:
            continue
        if found and int(name) != os.getpid():
            os.kill(int(name), signal.SIGKILL)
