"""Commands that bubblewrap isolates."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import platform
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from agentscope_like.exception import IsolationError
from agentscope_like.sandbox.bubblewrap import diverted_mount, options, why_not_bubblewrap
from agentscope_like.sandbox.limits import Limits, descendants
from agentscope_like.sandbox.process_family import ProcessFamily
from agentscope_like.sandbox.profile import Profile
from agentscope_like.sandbox.programs import find_bubblewrap
from agentscope_like.sandbox.running import (
    GRACE_SECONDS,
    RunningCommand,
    readable,
    until_ended,
)
from agentscope_like.sandbox.seccomp import seccomp_program

__all__ = ["BubblewrapLauncher", "IsolatedCommand"]

_COUNTING_SECONDS = 0.05
_STATUS_BYTES = 4096
_KILLED = 128 + signal.SIGKILL


class BubblewrapLauncher:
    """Starts programs within a profile.

    Args:
        profile: What they may touch.
        limits: How much of the machine they get; by default, as much as this process.
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
        if reason := await asyncio.to_thread(why_not_bubblewrap):
            raise IsolationError(f"commands cannot be isolated on this machine: {reason}")
        if path := await asyncio.to_thread(diverted_mount, self._profile):
            raise IsolationError(
                f"{path} cannot be mounted, because a symlink is in its way: remove the "
                "link, which a command may have put there"
            )
        arguments = options(self._profile, directory=directory, environment=environment)
        with ExitStack() as theirs:
            status, status_end = os.pipe()
            theirs.callback(os.close, status_end)
            gate_end, gate = os.pipe()
            theirs.callback(os.close, gate_end)
            filter_file = _in_memory(self._filter(), theirs)
            arguments += ["--json-status-fd", str(status_end), "--block-fd", str(gate_end)]
            arguments += ["--seccomp", str(filter_file)]
            text = "".join(f"{argument}\0" for argument in arguments)
            argument_file = _in_memory(os.fsencode(text), theirs)
            try:
                process = subprocess.Popen(  # noqa: ASYNC220 - it dies with the thread it is from
                    [find_bubblewrap() or "", "--args", str(argument_file), "--", *words],
                    cwd="/",
                    env={},
                    stdin=subprocess.DEVNULL,
                    stdout=stdout,
                    stderr=stderr,
                    pass_fds=(status_end, gate_end, filter_file, argument_file),
                    start_new_session=True,
                )
            except BaseException:
                os.close(status)
                os.close(gate)
                raise
        command = IsolatedCommand(process, mark, status, self._limits)
        try:
            await command.release(gate)
        except BaseException:
            command.end_now()
            raise
        finally:
            os.close(gate)
        return command

    def _filter(self) -> bytes:
        program = seccomp_program(sockets=self._profile.sockets or self._profile.network)
        if program is None:
            raise IsolationError(
                f"the system calls of {platform.machine()} are not known to this version, so no "
                "filter can be made of them"
            )
        return program


class IsolatedCommand(RunningCommand):
    """A command in namespaces of its own.

    Whether it ran at all is what bwrap says on a descriptor that the command does not have; its
    exit status and what it prints are the command's own and prove nothing.

    Args:
        process: bwrap.
        mark: By which the command's environment makes its processes known.
        status: Descriptor on which bwrap says what happens; closed here.
        limits: How much of the machine the command gets.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        mark: str,
        status: int,
        limits: Limits | None,
    ) -> None:
        self._process = process
        self._family = ProcessFamily(None, mark)
        self._status = status
        self._limits = limits
        self._said = b""
        self._first: int | None = None
        self._handle: int | None = None
        self._is_over = False
        os.set_blocking(status, False)

    async def release(self, gate: int) -> None:
        """Put the command, which waits for it, under its limits and let it go.

        Raises:
            IsolationError: bwrap gave up before there was one.
        """
        while b"\n" not in self._said:
            await readable(self._status)
            if not self._read_status():
                raise self._failure()
        self._first = int(self._fact("child-pid"))
        try:
            self._handle = os.pidfd_open(self._first)
            if self._limits is not None:
                self._limits.impose(self._first)
            os.write(gate, b"\n")
        except OSError as error:
            raise self._failure() from error

    async def wait(self) -> int:
        """Return its exit status once it has ended, with all that it started."""
        counting = asyncio.create_task(self._count()) if self._is_counted else None
        try:
            await until_ended(self._process.pid)
        finally:
            if counting is not None:
                counting.cancel()
                await asyncio.gather(counting, return_exceptions=True)
        while not self._is_over and self._read_status():
            pass
        code = self._fact("exit-code")
        if code is not None:
            return int(code)
        if self._is_over or self._was_killed():
            return _KILLED
        raise self._failure()

    async def end(self, *, grace: float) -> None:
        """Have the command end, then the first process of its namespace, and so all others."""
        if not self._is_over and grace and not self._has_ended():
            await asyncio.to_thread(self._family.end, signal.SIGTERM, everyone=True)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(until_ended(self._process.pid), grace)
        self.end_now()

    def end_now(self) -> None:
        """Kill the first process of the namespace; the kernel kills the others with it."""
        if self._is_over:
            return
        while self._read_status():
            pass
        self._is_over = True
        if self._handle is not None:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            os.close(self._handle)
        else:
            self._process.kill()
        # bwrap ends when its child has, and that when nobody else is left
        try:
            self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._status)

    @property
    def _is_counted(self) -> bool:
        return self._limits is not None and self._limits.needs_watching

    async def _count(self) -> None:
        """End the command when it has more processes than it may, where the kernel does not."""
        if self._limits is None or self._first is None:
            return
        most = self._limits.processes
        while (  # noqa: ASYNC110 - /proc tells nobody
            await asyncio.to_thread(descendants, self._first, most) <= most
        ):
            await asyncio.sleep(_COUNTING_SECONDS)
        self.note = f"ended because it had more than {most} processes at a time"
        if self._handle is not None and not self._is_over:
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def _read_status(self) -> bool:
        """Take what bwrap has said meanwhile; return whether there was something."""
        try:
            data = os.read(self._status, _STATUS_BYTES)
        except BlockingIOError:
            return False
        self._said += data
        return bool(data)

    def _fact(self, name: str) -> Any:
        """Return what bwrap has said under that name, or None."""
        for line in self._said.splitlines():
            with contextlib.suppress(ValueError):
                if name in (facts := json.loads(line)):
                    return facts[name]
        return None

    def _has_ended(self) -> bool:
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self._process.pid, options) is not None

    def _was_killed(self) -> bool:
        """Return whether bwrap did not end of itself."""
        if self._process.returncode is not None:
            return self._process.returncode < 0
        found = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        return found is not None and found.si_code != os.CLD_EXITED

    @staticmethod
    def _failure() -> IsolationError:
        return IsolationError("the command could not be isolated and was not run")


def _in_memory(data: bytes, owner: ExitStack) -> int:
    """Return the descriptor of a file that has no name, at its beginning."""
    descriptor = os.memfd_create("sandbox")
    owner.callback(os.close, descriptor)
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
