"""Follows and ends a started command with all its child processes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable

from agentscope_like.exception import IsolationError
from agentscope_like.sandbox.host.process_family import ProcessFamily

__all__ = [
    "GRACE_SECONDS",
    "HostCommand",
    "RunningCommand",
    "has_ended",
    "readable",
    "status_of",
    "until_ended",
    "with_reason",
]

GRACE_SECONDS = 0.2
"""How long SIGTERM has before SIGKILL, and output may follow the end of a command."""

_POLL_SECONDS = 0.01


class RunningCommand(ABC):
    """A started command, on this or another host.

    Attributes:
        note: Why it was ended, if not by a caller; else None.
    """

    note: str | None = None

    @abstractmethod
    async def wait(self) -> int:
        """Return its exit status once it has ended, 128 + N where signal N ended it.

        Raises:
            IsolationError: It could not be isolated and did not run.
            SandboxConnectionError: The status cannot be known.
        """

    @abstractmethod
    async def end(self, *, grace: float) -> None:
        """End all its processes; none is left when this returns.

        Args:
            grace: Seconds that it has to end itself.
        """

    @abstractmethod
    def end_now(self) -> None:
        """End all its processes without waiting; for a caller that is cancelled."""


class HostCommand(RunningCommand):
    """A command on this host without isolation.

    Args:
        process: Its first process, which leads a session.
        mark: The mark in its environment that identifies its processes.
    """

    def __init__(self, process: subprocess.Popen[bytes], mark: str) -> None:
        self._process = process
        self._family = ProcessFamily(process.pid, mark)
        self._is_reaped = False

    async def wait(self) -> int:
        """Return its exit status once it has ended; child processes may still run."""
        await until_ended(self._process)
        status = status_of(self._process)
        return status if status >= 0 else 128 - status

    async def end(self, *, grace: float) -> None:
        """End the session and processes that left it."""
        if self._is_reaped:
            return
        if grace and (not has_ended(self._process) or self._has_members()):
            self._family.end(signal.SIGTERM, everyone=True)
            await self._until(lambda: has_ended(self._process) and not self._has_members(), grace)
        self.end_now()

    def end_now(self) -> None:
        """Kill the session and processes that left it, without waiting."""
        if not self._is_reaped:
            self._family.end(signal.SIGKILL, everyone=True)
            self._is_reaped = True
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE_SECONDS)

    def _has_members(self) -> bool:
        return self._family.has_session_members()

    @staticmethod
    async def _until(is_over: Callable[[], bool], seconds: float) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while not is_over() and loop.time() < deadline:  # noqa: ASYNC110 - /proc tells nobody
            await asyncio.sleep(_POLL_SECONDS)


async def readable(descriptor: int) -> None:
    """Wait until there is something to read, or the end of the stream."""
    loop = asyncio.get_running_loop()
    came = asyncio.Event()
    loop.add_reader(descriptor, came.set)
    try:
        await came.wait()
    finally:
        loop.remove_reader(descriptor)


async def until_ended(process: subprocess.Popen[bytes]) -> None:
    """Wait until a child has ended; where the system can tell so, it is not reaped."""
    if not hasattr(os, "pidfd_open"):
        while not has_ended(process):  # noqa: ASYNC110 - there is nothing to wait for
            await asyncio.sleep(_POLL_SECONDS)
        return
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:  # it has been reaped meanwhile
        return
    try:
        await readable(handle)
    finally:
        os.close(handle)


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a child has ended; where the system can tell so, it is not reaped."""
    if process.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    return _unreaped(process.pid) is not None


def status_of(process: subprocess.Popen[bytes]) -> int:
    """Return the exit status of a child that has ended, as `Popen.returncode` has it.

    Raises:
        RuntimeError: It has not ended.
    """
    if process.returncode is not None:
        return process.returncode
    found = _unreaped(process.pid)
    if found is None:
        raise RuntimeError("A process that runs has no exit status.")
    return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status


def _unreaped(pid: int) -> os.waitid_result | None:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)


def with_reason(error: IsolationError, said: str) -> IsolationError:
    """Return the error with what the isolating program said, if it said something.

    Args:
        error: The error that a command was not run.
        said: The output of the isolating program; the command itself has printed nothing.
    """
    reason = said.strip()
    return IsolationError(f"{error.message}: {reason}") if reason else error
