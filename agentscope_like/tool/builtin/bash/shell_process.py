"""Runs one bash process, and ends it with all its children."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

from msgspec import Struct

from agentscope_like.finished import finished
from agentscope_like.sandbox.host import ProcessFamily, find_bash
from agentscope_like.tool.builtin.bash.bash_start import (
    BashStart,
    as_bash_finds,
    bash_start,
    confined_by,
    reported_directory,
)
from agentscope_like.tool.builtin.bash.descriptors import READ_SIZE, Descriptors
from agentscope_like.tool.builtin.bash.start_directory import held_path, open_directory

if TYPE_CHECKING:
    from agentscope_like.sandbox.held import HeldRun
    from agentscope_like.sandbox.host import OrphanGuard
    from agentscope_like.sandbox.isolation import Confinement, Profile
    from agentscope_like.tool.builtin.held import HeldStart

__all__ = ["GRACE_SECONDS", "ShellExit", "ShellProcess", "find_bash"]

GRACE_SECONDS = 0.1
"""How long output may follow the shell's exit, and how long SIGTERM has before SIGKILL."""

_POLL_SECONDS = 0.005
_LOOK_SECONDS = 0.25
"""How often what a held command takes of the machine is looked at."""


class ShellExit(Struct, frozen=True):
    """How a bash process ended.

    Attributes:
        status: The shell's exit status, 128 + N if signal N ended it; None after a timeout.
        directory: The shell's last directory, symlinks resolved; None if it did not report one.
        left_background: Whether background processes were ended with it.
        seconds: How long it took.
        ran: Whether the command ran; it does not if it could not be confined.
        excess: Why a held command was ended; None if it was not.
    """

    status: int | None
    directory: str | None
    left_background: bool
    seconds: float
    ran: bool = True
    excess: str | None = None


class ShellProcess:
    """A running `bash --norc --noprofile -c -- COMMAND`; use it as an async context manager.

    The command's processes are a session of their own, without a terminal and with an empty
    standard input; standard output and error are one pipe, so that they keep their order. Leaving
    the context always ends the session: within 0.2 s, all its processes are gone.

    Args:
        command: The text to run.
        bash: Absolute path of bash.
        directory: Where it starts.
        environment: Its whole environment, except for variables of this class.
        family_mark: The mark in `environment` that identifies the processes.
        timeout: The timeout in seconds.
        profile: The confinement of the command; None for no confinement.
        guard: Ends the command if this program is killed.
        place: Which directory it has to start in; empty for the one at the path.
        held: Starts the command held, instead of by a profile.

    Raises:
        IsolationError: It cannot be confined, and does not run.
        OSError: bash cannot be started.
        ValueError: The command contains a NUL character, or one that cannot be encoded.
    """

    def __init__(
        self,
        command: str,
        *,
        bash: str,
        directory: str,
        environment: Mapping[str, str],
        family_mark: str,
        timeout: float,
        profile: Profile | None = None,
        guard: OrphanGuard | None = None,
        place: str = "",
        held: HeldStart | None = None,
    ) -> None:
        self._held = held
        self._looking: asyncio.Task[None] | None = None
        self._excess: str | None = None
        self._ended = asyncio.Event()
        self._place = place
        self._command = command
        self._bash = bash
        self._directory = directory
        self._environment = environment
        self._mark = family_mark
        self._timeout = timeout
        self._profile = profile
        self._guard = guard
        self._confinement: Confinement | HeldRun | None = None
        self._descriptors = Descriptors()
        self._wake = asyncio.Event()
        self._timers: list[asyncio.TimerHandle] = []
        self._give_up_at: float | None = None
        self._timed_out = False
        self._has_exited = False
        self._late_bytes = 0
        self._started_at = 0.0

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._started_at = time.monotonic()
        try:
            start = self._begin()
            self._spawn(start, await self._confine(start))
            self._watch_exit()
        except BaseException:
            self._close_all()
            raise
        self._after(self._timeout, self._run_out_of_time)
        if self._held is not None:
            self._looking = asyncio.create_task(self._look(self._held))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if self._process.returncode is None:
                await self._end_family(everyone=True)
            await self._stop_looking()
        finally:
            self._release()

    async def read(self) -> bytes:
        """Return the next output as it arrives; nothing at the end."""
        while True:
            data = self._read_output()
            if data or self._is_over():
                return data
            await self._something_new()

    async def finish(self) -> ShellExit:
        """End remaining processes and return how the shell ended; call it after the last `read`."""
        left_background = False
        await self._stop_looking()
        if self._timed_out:
            self._end_family_now()
        else:
            holds_output = self._output in self._descriptors
            left_background = holds_output or await self._is_outlived()
            if left_background:
                await self._end_family(everyone=holds_output)
            else:
                self._reap()
        status = None if self._timed_out else self._exit_status()
        return ShellExit(
            status=status,
            directory=None if self._timed_out else self._reported_directory(),
            left_background=left_background,
            seconds=time.monotonic() - self._started_at,
            ran=self._timed_out or status is not None,
            excess=self._excess,
        )

    # Starting

    def _begin(self) -> BashStart:
        start = bash_start(
            self._command,
            bash=self._bash,
            environment=self._environment,
            descriptors=self._descriptors,
            unseen=self._profile is not None and self._profile.processes,
        )
        self._report = start.report
        return start

    def _spawn(self, start: BashStart, confinement: Confinement | HeldRun | None) -> None:
        self._output, output_end = self._descriptors.pipe()
        place = open_directory(self._directory, self._place)
        self._descriptors.add(place)
        self._process = subprocess.Popen(
            start.words if confinement is None else (*confinement.words, *start.words),
            stdin=subprocess.DEVNULL,
            stdout=output_end,
            stderr=output_end,
            cwd=held_path(place, self._directory) if confinement is None else "/",
            env=start.environment if confinement is None else {},
            pass_fds=(*start.inherited, *(confinement.descriptors if confinement else ())),
            start_new_session=True,
        )
        if self._guard is not None:
            self._guard.watch(self._process.pid)
        self._family = ProcessFamily(self._process.pid, self._mark)
        if confinement is not None:
            confinement.hand_over()
        for descriptor in (output_end, place, *start.inherited):
            self._descriptors.close(descriptor)

    async def _confine(self, start: BashStart) -> Confinement | HeldRun | None:
        environment = start.environment
        if self._held is not None:  # it looks for credentials
            directory = as_bash_finds(self._directory, environment)
            self._confinement = await finished(
                asyncio.to_thread(self._held.start, directory, environment)
            )
        elif self._profile is not None:
            self._confinement = confined_by(self._profile, self._directory, environment)
        return self._confinement

    async def _look(self, held: HeldStart) -> None:
        """End a held command that takes too much of the machine."""
        while not self._ended.is_set():
            self._excess = await asyncio.to_thread(held.excess)
            if self._excess is not None:
                self._run_out_of_time()
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), _LOOK_SECONDS)

    async def _stop_looking(self) -> None:
        self._ended.set()
        if self._looking is not None:
            await finished(self._looking)

    def _watch_exit(self) -> None:
        """Call `_shell_exited` when the shell ends, without reaping it."""
        if hasattr(os, "pidfd_open"):
            self._handle = os.pidfd_open(self._process.pid)
            self._descriptors.add(self._handle)
            self._loop.add_reader(self._handle, self._shell_exited)
        else:
            self._after(_POLL_SECONDS, self._poll_exit)

    def _poll_exit(self) -> None:
        if self._process.poll() is None:
            self._after(_POLL_SECONDS, self._poll_exit)
        else:
            self._shell_exited()

    # While it runs

    def _shell_exited(self) -> None:
        self._has_exited = True
        self._stop_watching_exit()
        self._give_up_after(GRACE_SECONDS)
        self._wake.set()

    def _stop_watching_exit(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle is not None and handle in self._descriptors:
            self._loop.remove_reader(handle)
            self._descriptors.close(handle)

    def _run_out_of_time(self) -> None:
        if not self._has_exited:
            self._timed_out = True
            self._family.end(signal.SIGTERM, everyone=True)
            self._after(GRACE_SECONDS, self._kill)

    def _kill(self) -> None:
        self._family.end(signal.SIGKILL, everyone=True)
        self._give_up_after(GRACE_SECONDS)

    def _after(self, seconds: float, act: Callable[[], None]) -> None:
        self._timers.append(self._loop.call_later(seconds, act))

    def _give_up_after(self, seconds: float) -> None:
        if self._give_up_at is None:
            self._give_up_at = self._loop.time() + seconds
            self._after(seconds + 0.001, self._wake.set)

    def _read_output(self) -> bytes:
        """Return the available output, or nothing."""
        if self._output not in self._descriptors or self._late_bytes > READ_SIZE:
            return b""
        try:
            data = os.read(self._output, READ_SIZE)
        except BlockingIOError:
            return b""
        if not data:
            self._descriptors.close(self._output)
        elif self._grace_is_over():
            # What the pipe held when the grace ended belongs to the output; more does not.
            self._late_bytes += len(data)
        return data

    def _is_over(self) -> bool:
        return self._grace_is_over() or (self._has_exited and self._output not in self._descriptors)

    def _grace_is_over(self) -> bool:
        return self._give_up_at is not None and self._loop.time() >= self._give_up_at

    async def _something_new(self) -> None:
        """Wait for output, the shell's exit or the timeout."""
        is_open = self._output in self._descriptors
        if is_open:
            self._loop.add_reader(self._output, self._wake.set)
        try:
            await self._wake.wait()
        finally:
            self._wake.clear()
            if is_open:
                self._loop.remove_reader(self._output)

    # Ending

    async def _is_outlived(self) -> bool:
        """Return whether processes of the session still run after a grace period.

        The first process of a namespace holds the output until all others have ended.
        """
        if self._held is not None or (self._profile is not None and not self._profile.processes):
            return False
        deadline = self._loop.time() + GRACE_SECONDS
        while await asyncio.to_thread(self._family.has_session_members):
            if self._loop.time() >= deadline:
                return True
            await asyncio.sleep(_POLL_SECONDS)
        return False

    async def _end_family(self, *, everyone: bool) -> None:
        """Send SIGTERM, and wait until the session has ended or the grace period is over."""
        try:
            self._family.end(signal.SIGTERM, everyone=everyone)
            deadline = self._loop.time() + GRACE_SECONDS
            while self._loop.time() < deadline and (  # noqa: ASYNC110 - /proc tells nobody
                not self._has_exited or self._family.has_session_members()
            ):
                await asyncio.sleep(_POLL_SECONDS)
        finally:
            self._end_family_now(everyone=everyone)

    def _end_family_now(self, *, everyone: bool = True) -> None:
        self._family.end(signal.SIGKILL, everyone=everyone)
        self._reap()

    def _reap(self) -> None:
        """Reap the shell, which has ended or is being killed."""
        self._stop_watching_exit()
        self._has_exited = True
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_SECONDS)

    def _exit_status(self) -> int | None:
        """Return the shell's exit status; None if bwrap failed before it started the shell."""
        code = self._process.returncode
        if self._confinement is not None and code is not None and code >= 0:
            return self._confinement.exit_status
        return None if code is None else code if code >= 0 else 128 - code

    def _reported_directory(self) -> str | None:
        with contextlib.suppress(BlockingIOError):
            return reported_directory(os.read(self._report, READ_SIZE))
        return None

    def _release(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._stop_watching_exit()
        if self._process.returncode is None:
            self._end_family_now()
        if self._guard is not None:
            self._guard.forget(self._process.pid)
        self._close_all()

    def _close_all(self) -> None:
        if self._confinement is not None:
            self._confinement.close()
        self._descriptors.close_all()
