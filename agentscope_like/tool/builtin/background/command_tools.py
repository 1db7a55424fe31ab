"""Defines the tools that wait for, read and stop background commands."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar

from typing_extensions import override

from agentscope_like.exception import ToolArgumentError
from agentscope_like.message import ToolChunk
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionDecision
from agentscope_like.state import AgentState
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.builtin.background.background_commands import (
    BackgroundCommand,
    BackgroundCommands,
)
from agentscope_like.tool.builtin.tool_results import failed, succeeded

__all__ = ["CommandOutput", "CommandStop", "CommandWait"]

DEFAULT_WAIT_MS = 60_000
MAX_WAIT_MS = 600_000

_MOST_TOLD_BYTES = 100_000
_MILLISECONDS = 1000

_ID = {"type": "string", "description": "The command's id, as Bash told it."}


class _CommandTool(ToolBase):
    """The base of the tools, which concern only commands that the session itself started.

    Args:
        commands: The background commands; the same object as that of `Bash`.
        middlewares: Layers around `call`.
    """

    is_concurrency_safe = True
    is_read_only = True
    is_state_injected = True
    touches_only_agent_state: ClassVar[bool] = True

    def __init__(
        self,
        commands: BackgroundCommands,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
    ) -> None:
        super().__init__(middlewares)
        self._commands = commands

    @override
    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Allow every call: starting the command was decided about."""
        del tool_input, context
        return PermissionDecision(
            PermissionBehavior.ALLOW,
            f"{self.name} concerns only commands that this session started.",
        )


class CommandWait(_CommandTool):
    """Waits for a background command and returns its new output (seed 000, 12)."""

    name = "CommandWait"
    description = (
        "Wait until a background command ends or the time is over; return what it has written "
        "since you were last told. What it writes meanwhile is shown to the user."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "command_id": _ID,
            "timeout": {
                "type": "integer",
                "default": DEFAULT_WAIT_MS,
                "minimum": 0,
                "maximum": MAX_WAIT_MS,
                "description": "Milliseconds to wait; the command goes on when they are over.",
            },
        },
        "required": ["command_id"],
    }

    async def call(
        self,
        command_id: str,
        timeout: int = DEFAULT_WAIT_MS,  # noqa: ASYNC109 - the name of the argument
        *,
        _agent_state: AgentState | None = None,
    ) -> ToolChunk:
        """Wait, and return the new output."""
        try:
            command = self._commands.find(_agent_state, command_id)
        except ToolArgumentError as error:
            return failed(error.message)
        await command.follower.follow(timeout / _MILLISECONDS)
        return await _told(command)


class CommandOutput(_CommandTool):
    """Returns the new output of a background command, or lists them all."""

    name = "CommandOutput"
    description = (
        "Show what a background command has written since you were last told, without waiting. "
        "offset: the byte to show it from instead, such as 0 for the beginning. Without a "
        "command_id, list the commands."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "command_id": _ID,
            "offset": {"type": "integer", "minimum": 0, "description": "The byte to begin with."},
        },
    }

    async def call(
        self,
        command_id: str | None = None,
        offset: int | None = None,
        *,
        _agent_state: AgentState | None = None,
    ) -> ToolChunk:
        """Return the output, or the list."""
        if command_id is None:
            listed = [one.summary for one in self._commands.listed(_agent_state)]
            return succeeded("\n".join(listed) or "There are no background commands.")
        try:
            command = self._commands.find(_agent_state, command_id)
        except ToolArgumentError as error:
            return failed(error.message)
        return await _told(command, offset)


class CommandStop(_CommandTool):
    """Ends a background command."""

    name = "CommandStop"
    description = "End a background command with all its processes; return its last output."
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {"command_id": _ID},
        "required": ["command_id"],
    }
    is_read_only = False

    async def call(self, command_id: str, *, _agent_state: AgentState | None = None) -> ToolChunk:
        """End it."""
        try:
            command = self._commands.find(_agent_state, command_id)
        except ToolArgumentError as error:
            return failed(error.message)
        await command.stop()
        return await _told(command)


async def _told(command: BackgroundCommand, offset: int | None = None) -> ToolChunk:
    """Return the output from an offset on, by default what was not told yet."""
    was_running = command.is_running  # asked first: what has ended writes nothing more
    start = command.told if offset is None else offset
    text, end = await asyncio.to_thread(command.log.read, start, _MOST_TOLD_BYTES)
    command.told = max(command.told, end)
    notes = [command.summary]
    if end < command.log.size:
        notes.append(f"There is more output: call CommandOutput with offset {end}.")
    elif command.log.lost:
        notes.append(f"The last {command.log.lost:,} bytes of output were not kept.")
    if not text:
        notes.append("Nothing new was written.")
    said = f"{text.rstrip()}\n\n" if text.strip() else ""
    return succeeded(
        said + "\n".join(f"[{note}]" for note in notes),
        {
            "command_id": command.id,
            "is_running": was_running,
            "exit_code": command.exit_code,
            "next_offset": end,
        },
    )
