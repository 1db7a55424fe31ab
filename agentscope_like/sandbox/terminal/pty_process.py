"""Runs one program on a pseudo-terminal of its own, and ends it with all that came of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable

from agentscope_like.sandbox.host import OrphanGuard, ProcessFamily
from agentscope_like.sandbox.terminal.keeper import (
    EXITED,
    FAILED,
    LEFT,
)
from agentscope_like.sandbox.terminal.launch import Launch, ProgramStart
from agentscope_like.sandbox.terminal.screen import Screen

__all__ = ["PtyProcess"]

_READ_SIZE = 1 << 16
_MOST_REPORT_BYTES = 1 << 20
_POLL_SECONDS = 0.02
_ENDING_SECONDS = 8.0
_TYPING_SECONDS = 5.0
_LOOKING_SECONDS = 1.0
_FLOOD_SECONDS = 0.002
_NOT_STARTED = 127
_SIGNALLED = 128


class PtyProcess:
    """A program on a terminal of its own, in a session of its own.

    Its output is read by a thread, whoever asks for it, until all its processes have ended: those
    that it leaves in the background are ended soon after it. So they are when this object is
    closed, and, where there is a keeper, when this process is killed.

    Args:
        start: What is started.
        guard: Ends the program if this process is killed and there is no keeper.
        longest: Seconds until it is ended; None for no limit.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(
        self, start: ProgramStart, *, guard: OrphanGuard, longest: float | None = None
    ) -> None:
        self._lock = threading.RLock()
        self._listeners: list[Callable[[], None]] = []
        self._woken = 0
        self._screen = Screen()
        self._start = start
        self._guard = guard
        self._said = b""
        self._report = bytearray()
        self._status: int | None = None
        self._confined_status: int | None = None
        self._is_over = self._is_closing = self._timed_out = False
        self._last_output = self.started_at = time.monotonic()
        self._deadline = None if longest is None else self.started_at + longest
        self._launch = Launch(start)
        self._process = self._launch.process
        self._has_keeper = self._launch.has_keeper
        if not self._has_keeper:
            guard.watch(self._process.pid)
        self._family = ProcessFamily(None if self._has_keeper else self._process.pid, start.mark)
        self._thread = threading.Thread(target=self._follow, name="terminal", daemon=True)
        self._thread.start()

    # What is known of it

    @property
    def is_over(self) -> bool:
        """Return whether the program and all that came of it have ended."""
        return self._is_over

    @property
    def exit_status(self) -> int | None:
        """Return the exit status, 128 + N where signal N ended it; None while it is not known."""
        return self._status

    @property
    def has_run(self) -> bool:
        """Return whether it ran; it does not if it could not be confined."""
        confinement = self._start.confinement
        if confinement is None or self._confined_status is not None or self._is_closing:
            return True
        return self._status is not None and self._status > _SIGNALLED  # what confined it was ended

    @property
    def has_news(self) -> bool:
        """Return whether there is output that has not been shown."""
        with self._lock:
            return self._screen.has_news

    @property
    def pid(self) -> int:
        """Return the id of the process that was started here."""
        return self._process.pid

    @property
    def timed_out(self) -> bool:
        """Return whether it was ended since it had run for too long."""
        return self._timed_out

    @property
    def was_ended(self) -> bool:
        """Return whether it was ended from here."""
        return self._is_closing

    @property
    def objection(self) -> str | None:
        """Return why it could not be started, or None."""
        return self._line(FAILED)

    @property
    def left_background(self) -> bool:
        """Return whether processes in the background were ended when it had ended."""
        return self._line(LEFT) is not None

    @property
    def report(self) -> bytes:
        """Return what it wrote to its report, once it is over."""
        return bytes(self._report)

    def take(self) -> str:
        """Return the output that has not been shown."""
        with self._lock:
            return self._screen.take()

    # What is done to it

    async def wait(
        self, *, quiet: float | None, longest: float, prompted: float | None = None
    ) -> None:
        """Wait until the program is over, or `wake` is called.

        Args:
            quiet: Seconds without output that are enough; None if none are.
            longest: Seconds to wait at most.
            prompted: Seconds without output that are enough behind a line that has not ended, as
                behind a question; by default as for others.
        """
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def tell() -> None:
            if not changed.is_set():
                with contextlib.suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(changed.set)

        begun, woken = time.monotonic(), self._woken
        with self._lock:
            since = self._last_output if self._screen.has_news else begun
            self._listeners.append(tell)
        try:
            while True:
                changed.clear()
                until = begun + longest
                if quiet is not None:
                    shorter = prompted is not None and self._screen.is_within_line
                    enough = min(quiet, prompted or quiet) if shorter else quiet
                    until = min(until, max(since, self._last_output) + enough)
                left = until - time.monotonic()
                if self._is_over or self._woken != woken or left <= 0:
                    return
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(left):
                        await changed.wait()
        finally:
            with self._lock:
                self._listeners.remove(tell)

    def wake(self) -> None:
        """Have those who wait return."""
        self._woken += 1
        self._tell()

    def _tell(self) -> None:
        with self._lock:
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener()

    def type(self, data: bytes) -> bool:
        """Type text; return whether the program took all of it in time."""
        deadline = time.monotonic() + _TYPING_SECONDS
        while data and time.monotonic() < deadline:
            with self._lock:  # the descriptor is open as long as it is not over
                if self._is_over:
                    return False
                with contextlib.suppress(BlockingIOError):
                    data = data[os.write(self._launch.master, data) :]
            if data:
                time.sleep(_POLL_SECONDS)
        return not data

    def close(self) -> None:
        """End the program and everything that came of it; calling it again does nothing."""
        self._is_closing = True
        self._let_go()
        self._thread.join(_ENDING_SECONDS)
        if self._thread.is_alive():
            self._end_family()
            self._thread.join(_ENDING_SECONDS)

    def _let_go(self) -> None:
        """Have everything ended, by the keeper where there is one."""
        with self._lock:
            was_told = self._launch.let_go()
        if not (was_told or self._is_over or self._has_keeper):
            self._end_family()

    # While it runs

    def _follow(self) -> None:
        """Read all output until everything has ended."""
        try:
            with selectors.DefaultSelector() as selector:
                launch = self._launch
                for descriptor in (launch.master, launch.told, launch.output, launch.report):
                    if descriptor is not None:
                        selector.register(descriptor, selectors.EVENT_READ)
                while self._goes_on(selector):
                    self._take_ready(selector, self._patience())
                while selector.get_map() and self._take_ready(selector, 0):
                    pass
        finally:
            self._finish()

    def _goes_on(self, selector: selectors.BaseSelector) -> bool:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            self._deadline = None
            self._timed_out = self._is_closing = True
            self._let_go()
        if self._has_keeper:
            return self._launch.told in selector.get_map()
        return not self._ended_alone()

    def _patience(self) -> float:
        if not self._has_keeper:
            return _POLL_SECONDS
        if self._deadline is None:
            return _LOOKING_SECONDS
        return max(0.0, min(_LOOKING_SECONDS, self._deadline - time.monotonic()))

    def _take_ready(self, selector: selectors.BaseSelector, seconds: float) -> bool:
        """Read what there is; return whether there was any."""
        ready = selector.select(seconds)
        for key, _ in ready:
            if not self._take_from(key.fd):
                selector.unregister(key.fd)
        return bool(ready)

    def _take_from(self, descriptor: int) -> bool:
        """Read once; return whether more may come."""
        data, goes_on = _read(descriptor)
        if descriptor in (self._launch.master, self._launch.output) and data:
            with self._lock:
                if self._launch.output is not None:  # a terminal begins a line at its beginning
                    data = data.replace(b"\n", b"\r\n")
                self._screen.add(data)
                self._last_output = time.monotonic()
            self._tell()
            if len(data) >= _READ_SIZE:
                time.sleep(_FLOOD_SECONDS)  # the loop's thread is not to starve
        elif descriptor == self._launch.told:
            self._said += data
        elif len(self._report) < _MOST_REPORT_BYTES:
            self._report += data
        return goes_on

    def _ended_alone(self) -> bool:
        """Return whether the program has ended, and end what it left; for want of a keeper."""
        if self._process.poll() is None:
            return False
        if self._family.has_members():
            self._said += f"{LEFT}\n".encode()
            self._end_family()
        return True

    def _end_family(self) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if self._process.poll() is None:
                    os.killpg(self._process.pid, number)
            self._family.end(number, everyone=True)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(10 * _POLL_SECONDS)

    def _finish(self) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDING_SECONDS)
        if self._has_keeper and self._process.returncode != 0:
            self._family.end(signal.SIGKILL, everyone=True)  # the keeper was killed
        self._guard.forget(self._process.pid)
        if self._start.confinement is not None:
            self._confined_status = self._start.confinement.exit_status
        self._status = self._found_status()
        with self._lock:
            self._is_over = True
            self._launch.close()
        self._tell()

    def _found_status(self) -> int | None:
        if self._confined_status is not None:
            return self._confined_status
        if not self._has_keeper:
            code = self._process.returncode
            return None if code is None else code if code >= 0 else 128 - code
        exited = self._line(EXITED)
        if exited is not None and exited.isdigit():
            return int(exited)
        return _NOT_STARTED if self.objection is not None else None

    def _line(self, kind: str) -> str | None:
        """Return what a line of the keeper says, or None where there is no such line."""
        for line in self._said.decode("utf-8", "replace").splitlines():
            first, _, rest = line.partition(" ")
            if first == kind:
                return rest
        return None


def _read(descriptor: int) -> tuple[bytes, bool]:
    """Return what there is to read, as far as it is wanted at a time, and whether more may come."""
    pieces: list[bytes] = []
    size = 0
    while size < _READ_SIZE:
        try:
            piece = os.read(descriptor, _READ_SIZE - size)
        except BlockingIOError:
            return b"".join(pieces), True
        except OSError:  # nobody has the terminal open any more
            piece = b""
        if not piece:
            return b"".join(pieces), False
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces), True
