"""Runs a command to its end and returns its output."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack

from agentscope_like.exception import IsolationError
from agentscope_like.sandbox.host.capture import Capture
from agentscope_like.sandbox.host.started_command import GRACE_SECONDS, RunningCommand, with_reason
from agentscope_like.sandbox.result import CommandResult

__all__ = ["TIMED_OUT", "run_to_end", "timeout_note"]

TIMED_OUT = -1
"""`CommandResult.return_code` of a command whose time was up."""

_READ_BYTES = 1 << 16
_MOST_AT_THE_END = 1 << 20

Start = Callable[[int, int], Awaitable[RunningCommand]]
"""Starts a command with these descriptors as its standard output and error."""


class _Pipe:
    """One output stream of a command, read as it arrives."""

    def __init__(self, owner: ExitStack) -> None:
        self.capture = Capture()
        self.ended = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._end, write_end = os.pipe()
        self._write_end: int | None = write_end
        owner.callback(self._close)
        os.set_blocking(self._end, False)
        self._loop.add_reader(self._end, self._read)

    def hand_over(self) -> int:
        """Return the end that the command writes to."""
        if self._write_end is None:
            raise RuntimeError("The pipe has been handed over already.")
        return self._write_end

    def forget(self) -> None:
        """Close this process's copy of the command's end."""
        if self._write_end is not None:
            os.close(self._write_end)
            self._write_end = None

    def drain(self) -> None:
        """Read what is left in the pipe, without waiting for surviving processes."""
        most = _MOST_AT_THE_END
        while most > 0 and not self.ended.is_set() and (count := self._read()):
            most -= count

    def _read(self) -> int:
        try:
            data = os.read(self._end, _READ_BYTES)
        except BlockingIOError:
            return 0
        if not data:
            self._loop.remove_reader(self._end)
            self.ended.set()
        self.capture.add(data)
        return len(data)

    def _close(self) -> None:
        self.forget()
        self._loop.remove_reader(self._end)
        os.close(self._end)


async def run_to_end(start: Start, timeout: float) -> CommandResult:
    """Run a command until it and all its child processes have ended; return its result.

    Args:
        start: Starts it.
        timeout: Seconds until it is ended; its output until then is returned.

    Raises:
        IsolationError: It could not be isolated and did not run.
    """
    started_at = time.monotonic()
    with ExitStack() as owner:
        out, err = _Pipe(owner), _Pipe(owner)
        try:
            running = await start(out.hand_over(), err.hand_over())
        except IsolationError as error:
            raise _explained(error, err) from error
        out.forget()
        err.forget()
        try:
            status = await _status(running, timeout)
            if status is not None:
                await _quiet(out, err)
            await running.end(grace=GRACE_SECONDS)
        except IsolationError as error:
            raise _explained(error, err) from error
        finally:
            running.end_now()
        out.drain()
        err.drain()
        notes = [running.note] if running.note else []
        if status is None:
            notes.append(timeout_note(timeout))
        return CommandResult(
            success=status == 0,
            stdout=out.capture.text(),
            stderr=_annotated(err.capture.text(), notes),
            return_code=TIMED_OUT if status is None else status,
            execution_time=time.monotonic() - started_at,
            timed_out=status is None,
        )


def timeout_note(timeout: float) -> str:
    """Return the note for the result of a command that timed out."""
    return f"ended after its timeout of {timeout:g} s; what it did until then stands"


async def _status(running: RunningCommand, timeout: float) -> int | None:
    """Return the exit status, or None after a timeout."""
    try:
        async with asyncio.timeout(timeout):
            return await running.wait()
    except TimeoutError:
        return None


async def _quiet(*pipes: _Pipe) -> None:
    """Wait for the last output, at most for the grace period of surviving processes."""
    try:
        async with asyncio.timeout(GRACE_SECONDS):
            for pipe in pipes:
                await pipe.ended.wait()
    except TimeoutError:
        return


def _explained(error: IsolationError, err: _Pipe) -> IsolationError:
    err.drain()
    return with_reason(error, err.capture.text())


def _annotated(text: str, notes: list[str]) -> str:
    added = "\n".join(f"[{note}]" for note in notes)
    if not added:
        return text
    return f"{text}\n{added}" if text and not text.endswith("\n") else text + added
