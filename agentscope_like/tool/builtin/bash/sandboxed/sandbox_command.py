"""Runs one command in a sandbox and streams its output."""

from __future__ import annotations

import asyncio
import shlex
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentscope_like.sandbox import SandboxHandle

__all__ = ["SandboxCommand"]

_SOONEST_LOOK = 0.01
_LATEST_LOOK = 0.2
_MOST_AT_ONCE = 1 << 20
_MOST_DIRECTORY = 4096
_ENDING_SECONDS = 10

# Reports the last directory of the shell behind its output, over a descriptor that the command
# does not know of. In front of the command's first line, so that its lines keep their numbers.
_TRAP = (
    """trap '{{ builtin printf "%s%s\\n" {mark} "$(builtin pwd -P)"; }} >&109 2>/dev/null' EXIT"""
)

_SCRIPT = """\
exec 2>&1 </dev/null 109>&1
cd -- {directory} 2>/dev/null || {{ printf '%s\\n' {mark}!; exit 1; }}
exec env {changes} bash --norc --noprofile -c -- {program}"""


class SandboxCommand:
    """A command that runs in a sandbox.

    Args:
        handle: The sandbox.
        command: The text that bash runs there.
        directory: Where it starts.
        environment: Variables to set; None removes one.
        timeout: The timeout in seconds.

    Attributes:
        status: Its exit status, once there is no more output; None after a timeout.
        directory: Its last directory; None if it did not report one.
        lost_directory: Whether it was not run, since the directory does not exist.
    """

    def __init__(
        self,
        handle: SandboxHandle,
        command: str,
        *,
        directory: str,
        environment: Mapping[str, str | None],
        timeout: float,
    ) -> None:
        self._handle = handle
        self._timeout = timeout
        self._report = _Report(uuid.uuid4().hex)
        program = f"{_TRAP.format(mark=self._report.mark)}; {command}"
        changes = [
            word for name, value in environment.items() if value is None for word in ("-u", name)
        ]
        changes += [f"{name}={value}" for name, value in environment.items() if value is not None]
        self._script = _SCRIPT.format(
            directory=shlex.quote(directory),
            mark=self._report.mark,
            changes=shlex.join(changes),
            program=shlex.quote(program),
        )
        self.status: int | None = None

    @property
    def directory(self) -> str | None:
        """Return its last directory."""
        return self._report.directory

    @property
    def lost_directory(self) -> bool:
        """Return whether it was not run."""
        return self._report.was_lost

    async def output(self) -> AsyncGenerator[str, None]:
        """Run it and yield its output, streamed if the sandbox supports that.

        Raises:
            IsolationError: It could not be isolated and was not run.
            SandboxConnectionError: The other host cannot be reached, or was lost meanwhile.
        """
        run = self._followed() if self._handle.supports_background else self._at_once()
        async with aclosing(run) as pieces:
            async for piece in pieces:
                if text := self._report.passed(piece):
                    yield text
        if text := self._report.rest():
            yield text

    async def _at_once(self) -> AsyncGenerator[str, None]:
        done = await self._handle.execute_command(self._script, timeout=self._timeout)
        self.status = None if done.timed_out else done.return_code
        yield done.stdout + done.stderr

    async def _followed(self) -> AsyncGenerator[str, None]:
        deadline = time.monotonic() + self._timeout
        task = await self._handle.start_background(self._script)
        try:
            async with aclosing(self._read(task, deadline)) as pieces:
                async for piece in pieces:
                    yield piece
        finally:
            await self._handle.cleanup_background(task)

    async def _read(self, task: str, deadline: float) -> AsyncGenerator[str, None]:
        handle = self._handle
        offset, timed_out, pause = 0, False, _SOONEST_LOOK
        while True:
            is_alive = await handle.is_background_alive(task)
            try:
                text, offset = await handle.read_background_output_range(
                    task, offset, _MOST_AT_ONCE
                )
            except NotImplementedError:
                async for piece in self._at_the_end(task, deadline):
                    yield piece
                return
            if text:
                pause = _SOONEST_LOOK
                yield text
            elif not is_alive:
                break
            if is_alive and time.monotonic() >= deadline:
                if timed_out:
                    break  # it does not end even so
                timed_out, deadline = True, time.monotonic() + _ENDING_SECONDS
                await handle.kill_background(task)
            elif not text:
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LATEST_LOOK)
        self.status = None if timed_out else await handle.get_background_exit_code(task)

    async def _at_the_end(self, task: str, deadline: float) -> AsyncIterator[str]:
        """Wait for the end; for a provider that cannot stream output."""
        handle = self._handle
        timed_out = False
        while not timed_out and await handle.is_background_alive(task):
            await asyncio.sleep(_LATEST_LOOK)
            timed_out = time.monotonic() >= deadline
        if timed_out:
            await handle.kill_background(task)
        yield await handle.read_background_output(task, _MOST_AT_ONCE)
        self.status = None if timed_out else await handle.get_background_exit_code(task)


class _Report:
    """Separates the shell's own report from the output of the command."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.directory: str | None = None
        self.was_lost = False
        self._waiting = ""
        self._is_reporting = False
        self._has_reported = False

    def passed(self, piece: str) -> str:
        """Return the command's part of the output, as far as it is certain."""
        self._waiting += piece
        if self._is_reporting:
            return self._reported()
        said, mark, rest = self._waiting.partition(self.mark)
        if mark:
            self._is_reporting, self._waiting = True, rest
            return said + self._reported()
        held = len(self.mark) - 1
        said, self._waiting = self._waiting[:-held], self._waiting[-held:]
        return said

    def rest(self) -> str:
        """Return the rest of the output at the end."""
        return "" if self._is_reporting else self._waiting

    def _reported(self) -> str:
        if not self._has_reported:
            line, end, rest = self._waiting.partition("\n")
            if not end:
                return ""
            self._has_reported = True
            self.was_lost = line == "!"
            if line.startswith("/") and len(line) < _MOST_DIRECTORY:
                self.directory = line
            self._waiting = rest
        said, self._waiting = self._waiting, ""
        return said
