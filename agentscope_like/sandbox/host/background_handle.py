"""The base of sandboxes with background tasks that this process follows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from agentscope_like.exception import ConfigurationError
from agentscope_like.sandbox.handle import SandboxHandle
from agentscope_like.sandbox.host.background import BackgroundTasks
from agentscope_like.sandbox.host.started_command import RunningCommand

__all__ = ["BackgroundHandle"]


class BackgroundHandle(SandboxHandle):
    """A sandbox with background tasks; a subclass starts commands and sets `_background`."""

    _background: BackgroundTasks | None = None

    @abstractmethod
    async def _start_in_background(
        self, command: str, workdir: str | None, env_vars: Mapping[str, str], output: int
    ) -> RunningCommand:
        """Start a command with this descriptor as its standard output and error."""

    async def close(self) -> None:
        """End all background tasks."""
        background, self._background = self._background, None
        if background is not None:
            await background.close()

    @property
    def supports_background(self) -> bool:
        """Return that commands can run in the background."""
        return True

    async def start_background(
        self,
        command: str,
        workdir: str | None = None,
        env_vars: Mapping[str, str] | None = None,
    ) -> str:
        """Start a command and return its task's id; see `SandboxHandle`."""

        async def start(output: int) -> RunningCommand:
            return await self._start_in_background(command, workdir, env_vars or {}, output)

        return await self._tasks.start(start)

    async def read_background_output(self, task_id: str, max_bytes: int = 65536) -> str:
        """Return the end of a task's output; see `SandboxHandle`."""
        return await self._tasks.tail(task_id, max_bytes)

    async def read_background_output_range(
        self, task_id: str, offset: int, max_bytes: int = 1 << 20
    ) -> tuple[str, int]:
        """Return a task's output from an offset on, and the next offset; see `SandboxHandle`."""
        return await self._tasks.range(task_id, offset, max_bytes)

    async def get_background_output_size(self, task_id: str) -> int:
        """Return the size of a task's output in bytes."""
        return await self._tasks.size(task_id)

    async def is_background_alive(self, task_id: str) -> bool:
        """Return whether a task still runs."""
        return self._tasks.is_alive(task_id)

    async def get_background_exit_code(self, task_id: str) -> int | None:
        """Return a task's exit status; None while it runs."""
        return self._tasks.exit_code(task_id)

    async def kill_background(self, task_id: str, force: bool = False) -> None:
        """End a task with all its child processes; see `SandboxHandle`."""
        await self._tasks.kill(task_id, force=force)

    async def cleanup_background(self, task_id: str) -> None:
        """End a task if it still runs, and forget it with its output."""
        await self._tasks.forget(task_id)

    @property
    def _tasks(self) -> BackgroundTasks:
        if self._background is None:
            raise ConfigurationError(
                "the sandbox is not ready: use it inside `async with`, or await `initialize()`"
            )
        return self._background
