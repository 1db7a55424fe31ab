"""Starts commands inside bubblewrap."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence

from agentscope_like.exception import IsolationError
from agentscope_like.sandbox.host import (
    GRACE_SECONDS,
    ProcessFamily,
    RunningCommand,
    has_ended,
    readable,
    status_of,
    until_ended,
)
from agentscope_like.sandbox.isolation.confinement import Confinement
from agentscope_like.sandbox.isolation.limits import Limits, descendants
from agentscope_like.sandbox.isolation.profile import Profile

__all__ = ["BubblewrapLauncher", "IsolatedCommand"]

_COUNTING_SECONDS = 0.05
_STARTING_SECONDS = 0.01
_LOOKING_SECONDS = 0.001
_MOST_LOOKING_SECONDS = 5.0
_KILLED = 128 + signal.SIGKILL


class BubblewrapLauncher:
    """Starts programs within a profile.

    Args:
        profile: What they may touch.
        limits: Their resource limits; by default, those of this process.
    """

    def __init__(self, profile: Profile, limits: Limits | None = None) -> None:
        self._profile = profile
        self._limits = limits

    async def start(
        self,
        words: Sequence[str],
        *,
        directory: str,
        environment: Mapping[str, str],
        mark: str,
        stdout: int,
        stderr: int,
    ) -> RunningCommand:
        """Start a program; see `Launcher`."""
        confinement = await asyncio.to_thread(
            Confinement, self._profile, directory=directory, environment=environment, gated=True
        )
        try:
            process = subprocess.Popen(  # noqa: ASYNC220 - it dies with the thread it is from
                [*confinement.words, *words],
                cwd="/",
                env={},
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                pass_fds=confinement.descriptors,
                start_new_session=True,
            )
        except BaseException:
            confinement.close()
            raise
        command = IsolatedCommand(process, mark, confinement, self._limits)
        try:
            await command.release()
        except BaseException:
            command.end_now()
            raise
        return command


class IsolatedCommand(RunningCommand):
    """A command in namespaces of its own.

    Args:
        process: bwrap.
        mark: The mark in the command's environment that identifies its processes.
        confinement: The confinement it was started with; closed here.
        limits: The command's resource limits.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        mark: str,
        confinement: Confinement,
        limits: Limits | None,
    ) -> None:
        self._process = process
        self._family = ProcessFamily(None, mark)
        self._confinement = confinement
        self._limits = limits
        self._handle: int | None = None
        self._is_over = False

    async def release(self) -> None:
        """Set the limits of the waiting command and let it start.

        Raises:
            IsolationError: bwrap gave up before the command could run.
        """
        self._confinement.hand_over()
        while (first := self._confinement.first_process) is None:
            await readable(self._confinement.status)
            if not self._confinement.listen():
                raise _not_run()
        try:
            self._handle = os.pidfd_open(first)
            if self._limits is not None:
                self._limits.impose(first)
            self._confinement.release()
        except OSError as error:
            raise _not_run() from error
        while not self._confinement.is_released:
            if has_ended(self._process):
                if self._confinement.is_released:
                    return  # it went after the first look, and has ended since
                raise _not_run()
            await asyncio.sleep(_LOOKING_SECONDS)

    async def wait(self) -> int:
        """Return its exit status once it and all its child processes have ended."""
        counting = asyncio.create_task(self._count()) if self._is_counted else None
        try:
            await until_ended(self._process)
        finally:
            if counting is not None:
                counting.cancel()
                await asyncio.gather(counting, return_exceptions=True)
        status = self._confinement.exit_status
        if status is not None:
            return status
        if self._is_over or status_of(self._process) < 0:
            return _KILLED
        raise _not_run()

    async def end(self, *, grace: float) -> None:
        """End the command, then the first process of its namespace and thereby all others."""
        if not self._is_over and grace and not has_ended(self._process):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(grace):
                    await self._terminate()
                    await until_ended(self._process)
        self.end_now()

    def end_now(self) -> None:
        """Kill the first process of the namespace; the kernel kills the others with it."""
        if self._is_over:
            return
        self._is_over = True
        if self._handle is not None:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            os.close(self._handle)
        else:
            self._end_unreleased()
        # bwrap ends when its child has, and that when nobody else is left
        try:
            self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._confinement.close()

    def _end_unreleased(self) -> None:
        """Kill the first process as soon as it exists, before its gate is closed.

        bwrap treats a closed gate as an open one. If bwrap were killed before its child has asked
        to die with it, the command would run on and nothing would end it.
        """
        deadline = time.monotonic() + _MOST_LOOKING_SECONDS
        while (first := self._confinement.first_process) is None:
            if has_ended(self._process) or time.monotonic() > deadline:
                self._process.kill()
                return
            self._confinement.listen()
            time.sleep(_LOOKING_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.kill(first, signal.SIGKILL)

    async def _terminate(self) -> None:
        """Ask the command to end, as soon as it runs."""
        while (  # noqa: ASYNC110 - /proc tells nobody
            not await asyncio.to_thread(self._family.has_members) and not has_ended(self._process)
        ):
            await asyncio.sleep(_STARTING_SECONDS)
        await asyncio.to_thread(self._family.end, signal.SIGTERM, everyone=True)

    @property
    def _is_counted(self) -> bool:
        return self._limits is not None and self._limits.needs_watching

    async def _count(self) -> None:
        """End the command when it has too many processes, where the kernel does not limit them."""
        first = self._confinement.first_process
        if self._limits is None or first is None:
            return
        most = self._limits.processes
        while (  # noqa: ASYNC110 - /proc tells nobody
            await asyncio.to_thread(descendants, first, most) <= most
        ):
            await asyncio.sleep(_COUNTING_SECONDS)
        self.note = f"ended because it had more than {most} processes at a time"
        if self._handle is not None and not self._is_over:
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)


def _not_run() -> IsolationError:
    return IsolationError("the command could not be isolated and was not run")
