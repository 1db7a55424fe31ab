"""Runs commands in the background and keeps their output in files of this host."""

from __future__ import annotations

import asyncio
import codecs
import os
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress

from agentscope_like.exception import IsolationError, ToolArgumentError
from agentscope_like.sandbox.host.started_command import GRACE_SECONDS, RunningCommand, with_reason

__all__ = ["BackgroundTasks", "complete_length"]

_TERMINATION_SECONDS = 2.0
_LONGEST_CHARACTER = 4
_LONGEST_REASON = 4096

Start = Callable[[int], Awaitable[RunningCommand]]
"""Starts a command with this descriptor as its standard output and error."""


class _Task:
    """A started command, the task that waits for its end, and its log."""

    def __init__(self, running: RunningCommand, log: str) -> None:
        self.running = running
        self.log = log
        self.waiter = asyncio.create_task(self._wait())

    @property
    def is_alive(self) -> bool:
        """Return whether it still runs."""
        return not self.waiter.done()

    async def end(self, grace: float) -> None:
        """End it, and wait until its end is known."""
        await self.running.end(grace=grace)
        with suppress(Exception):
            await asyncio.shield(self.waiter)

    async def _wait(self) -> int:
        try:
            return await self.running.wait()
        finally:
            await self.running.end(grace=GRACE_SECONDS)


class BackgroundTasks:
    """The background tasks of one sandbox.

    Args:
        directory: Where logs are written, hidden from commands.
    """

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._tasks: dict[str, _Task] = {}

    async def start(self, start: Start) -> str:
        """Start a command and return its task's id.

        Raises:
            IsolationError: It could not be isolated and was not run; the message says why.
        """
        task_id = uuid.uuid4().hex
        log = os.path.join(self._directory, f"{task_id}.log")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        descriptor = await asyncio.to_thread(os.open, log, flags, 0o600)
        running: RunningCommand | None = None
        try:
            running = await start(descriptor)
        except IsolationError as error:
            said = await asyncio.to_thread(_read, log, 0, _LONGEST_REASON)
            raise with_reason(error, said.decode(errors="replace")) from error
        finally:
            os.close(descriptor)
            if running is None:
                await asyncio.to_thread(os.unlink, log)
        self._tasks[task_id] = _Task(running, log)
        return task_id

    async def tail(self, task_id: str, max_bytes: int) -> str:
        """Return the end of a task's output."""
        log = self._task(task_id).log
        size = await asyncio.to_thread(os.path.getsize, log)
        data = await asyncio.to_thread(_read, log, max(size - max_bytes, 0), max_bytes)
        return data.decode(errors="replace" if size <= max_bytes else "ignore")

    async def range(self, task_id: str, offset: int, max_bytes: int) -> tuple[str, int]:
        """Return a task's output from an offset on, in whole characters, and the next offset."""
        if offset < 0:
            raise ToolArgumentError(f"The offset {offset} is negative: begin with 0.")
        task = self._task(task_id)
        may_go_on = task.is_alive
        most = max(max_bytes, _LONGEST_CHARACTER)
        data = await asyncio.to_thread(_read, task.log, offset, most)
        if may_go_on or len(data) == most:
            data = data[: complete_length(data)]
        return data.decode(errors="replace"), offset + len(data)

    async def size(self, task_id: str) -> int:
        """Return the size of a task's output in bytes."""
        return await asyncio.to_thread(os.path.getsize, self._task(task_id).log)

    def is_alive(self, task_id: str) -> bool:
        """Return whether a task still runs."""
        return self._task(task_id).is_alive

    def exit_code(self, task_id: str) -> int | None:
        """Return a task's exit status; None while it runs.

        Raises:
            IsolationError, SandboxConnectionError: What kept it from having one.
        """
        task = self._task(task_id)
        return None if task.is_alive else task.waiter.result()

    async def kill(self, task_id: str, *, force: bool) -> None:
        """End a task."""
        await self._task(task_id).end(0 if force else _TERMINATION_SECONDS)

    async def forget(self, task_id: str) -> None:
        """End a task and remove its output."""
        task = self._task(task_id)
        await task.end(_TERMINATION_SECONDS)
        del self._tasks[task_id]
        with suppress(FileNotFoundError):
            await asyncio.to_thread(os.unlink, task.log)

    async def close(self) -> None:
        """End all tasks."""
        tasks = list(self._tasks.values())
        self._tasks.clear()
        try:
            await asyncio.gather(*(task.end(GRACE_SECONDS) for task in tasks))
        finally:
            for task in tasks:
                task.running.end_now()

    def _task(self, task_id: str) -> _Task:
        task = self._tasks.get(task_id)
        if task is None:
            known = ", ".join(self._tasks) or "none"
            raise ToolArgumentError(
                f"This sandbox has no background task {task_id!r}: it was never started here, or "
                f"has been cleaned up. Its tasks: {known}."
            )
        return task


def complete_length(data: bytes) -> int:
    """Return the length of the data without a UTF-8 character that is cut at its end."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    decoder.decode(data)
    waiting, _ = decoder.getstate()
    return len(data) - len(waiting)


def _read(path: str, offset: int, count: int) -> bytes:
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read(count)
