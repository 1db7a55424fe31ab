"""Runs commands in the background, each for the session that started it."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from types import TracebackType
from typing import Self

from agentscope_like.exception import AgentOrientedException, ToolArgumentError
from agentscope_like.message import TextBlock, ToolChunk, ToolResultState
from agentscope_like.progress import OutputFollower
from agentscope_like.state import AgentState
from agentscope_like.tool.builtin.background.output_log import OutputLog
from agentscope_like.tool.builtin.tool_results import failed, succeeded

__all__ = ["BackgroundCommand", "BackgroundCommands"]

MAX_RUNNING = 16
"""How many commands of one session may run at once."""

MAX_KEPT = 32
"""How many commands of one session are remembered; the oldest ended ones are forgotten first."""

_SHOWN_COMMAND = 80

_log = logging.getLogger(__name__)


class BackgroundCommand:
    """A command in the background.

    Args:
        command: Its text.
        run: Runs it and yields its output; the last chunk says how it ended.

    Attributes:
        id: Its name for the model.
        told: The offset that its next output is told from.
        follower: Shows its output as the progress of whichever call waits for it.
        exit_code: Its exit status, once it has ended; None if it was ended or did not run.
        is_success: Whether it ended well.
        is_stopped: Whether it was ended by `stop`.
    """

    def __init__(self, command: str, run: AsyncGenerator[ToolChunk, None]) -> None:
        self.id = uuid.uuid4().hex[:8]
        self.command = command
        self.told = 0
        self.follower = OutputFollower(self, self.id)
        self.exit_code: int | None = None
        self.is_success = False
        self.is_stopped = False
        self.log = OutputLog()
        self._began_at = time.monotonic()
        # a context of its own: what it shows is no progress of the call that started it
        self._task = asyncio.create_task(self._follow(run), context=contextvars.Context())

    @property
    def is_running(self) -> bool:
        """Return whether it still runs."""
        return not self._task.done()

    @property
    def summary(self) -> str:
        """Return one line that says what it is and how it stands."""
        if self.is_running:
            state = f"running for {time.monotonic() - self._began_at:.0f} s"
        elif self.is_stopped:
            state = "stopped"
        else:
            state = "did not run" if self.exit_code is None else f"exit status {self.exit_code}"
        command = " ".join(self.command.split())
        shown = command if len(command) <= _SHOWN_COMMAND else f"{command[:_SHOWN_COMMAND]}..."
        return f"Command {self.id} ({state}): {shown}"

    async def stop(self) -> None:
        """End it with all its processes."""
        if self.is_running:
            self.is_stopped = True
            self._task.cancel()
            await asyncio.wait([self._task])

    async def ended(self, seconds: float) -> bool:
        """Wait for its end, and return whether it has ended."""
        await asyncio.wait([self._task], timeout=seconds)
        return not self.is_running

    # How `OutputFollower` reads it

    async def is_background_alive(self, task_id: str) -> bool:
        """Return whether it still runs."""
        del task_id
        return self.is_running

    async def read_background_output_range(
        self, task_id: str, offset: int, max_bytes: int = 1 << 20
    ) -> tuple[str, int]:
        """Return its output from an offset on, and the next offset."""
        del task_id
        return await asyncio.to_thread(self.log.read, offset, max_bytes)

    async def read_background_output(self, task_id: str, max_bytes: int = 65536) -> str:
        """Return the end of its output."""
        start = max(0, self.log.size - max_bytes)
        return (await self.read_background_output_range(task_id, start, max_bytes))[0]

    async def _follow(self, run: AsyncGenerator[ToolChunk, None]) -> None:
        try:
            async with aclosing(run) as chunks:
                async for chunk in chunks:
                    texts = [one.text for one in chunk.content if isinstance(one, TextBlock)]
                    await asyncio.to_thread(self.log.add, "".join(texts))
                    if chunk.is_last:
                        self.exit_code = chunk.metadata.get("exit_code")
                        self.is_success = chunk.state is ToolResultState.SUCCESS
        except AgentOrientedException as error:
            await asyncio.to_thread(self.log.add, error.message)
        except Exception as error:
            _log.warning("a background command failed", exc_info=True)
            text = f"{type(error).__name__}: {error}".rstrip(": ")
            await asyncio.to_thread(self.log.add, text)


class BackgroundCommands:
    """The background commands of a program; give one to `Bash` and to the tools that follow them.

    A session sees its own commands only. They end when they are stopped, when this is closed, and
    when the program ends. They are not part of what is saved.
    """

    def __init__(self) -> None:
        self._sessions: dict[str, dict[str, BackgroundCommand]] = {}
        self._closed = False

    async def start(
        self, session: AgentState | None, command: str, run: AsyncGenerator[ToolChunk, None]
    ) -> ToolChunk:
        """Start a command, and return the result of the call that starts it."""
        own = self._of(session)
        running = sum(one.is_running for one in own.values())
        if self._closed or running >= MAX_RUNNING:
            await run.aclose()
            return failed(
                f"{running} commands run in the background already: stop one with CommandStop."
                if not self._closed
                else "No command can be started in the background any more: the program ends."
            )
        started = BackgroundCommand(command, run)
        own[started.id] = started
        for one in [one for one in own.values() if not one.is_running][: len(own) - MAX_KEPT]:
            del own[one.id]
            one.log.close()
        return succeeded(
            f"Command {started.id} runs in the background. CommandWait waits for it, CommandOutput "
            "shows what it has written, CommandStop ends it.",
            {"command_id": started.id},
        )

    def find(self, session: AgentState | None, command_id: str) -> BackgroundCommand:
        """Return a command of the session.

        Raises:
            ToolArgumentError: The session has no such command.
        """
        own = self._of(session)
        if (found := own.get(command_id)) is not None:
            return found
        known = f" There are: {', '.join(own)}." if own else ""
        raise ToolArgumentError(
            f"There is no background command {command_id!r}; one that was started before the "
            f"program began anew has ended.{known}"
        )

    def listed(self, session: AgentState | None) -> list[BackgroundCommand]:
        """Return the commands of the session, oldest first."""
        return list(self._of(session).values())

    async def close(self) -> None:
        """End all commands and forget their output."""
        self._closed = True
        everyone = [one for own in self._sessions.values() for one in own.values()]
        await asyncio.gather(*(one.stop() for one in everyone))
        for one in everyone:
            one.log.close()
        self._sessions.clear()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    def _of(self, session: AgentState | None) -> dict[str, BackgroundCommand]:
        return self._sessions.setdefault("" if session is None else session.session_id, {})
