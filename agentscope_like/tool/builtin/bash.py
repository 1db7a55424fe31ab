"""The tool that runs shell commands."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, ClassVar

from agentscope_like.message.chunk import ToolChunk
from agentscope_like.middleware.base import ToolMiddlewareBase
from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionDecision
from agentscope_like.permission.shell import CommandAnalysis, analyze
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.builtin.git_environment import git_environment, git_places
from agentscope_like.tool.builtin.shell import MAX_TIMEOUT_MS, Shell

__all__ = ["Bash"]

DEFAULT_TIMEOUT_MS = 120_000


class Bash(ToolBase):
    """Runs shell commands."""

    name = "Bash"
    description = (
        "Runs a command with bash and returns what it writes to standard output and standard "
        "error, in order, and its exit status if that is not 0.\n"
        "- The working directory is kept from one call to the next; variables and functions are "
        "not.\n"
        "- There is no terminal and no input: a program that asks a question gets no answer.\n"
        "- Processes left in the background end with the call.\n"
        "- Of more than 30,000 characters of output, the first and last are shown; the whole is "
        "then in a file that is named."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "What bash runs."},
            "description": {
                "type": "string",
                "description": "What the command does, in five to ten words, for the user.",
            },
            "timeout": {
                "type": "integer",
                "default": DEFAULT_TIMEOUT_MS,
                "maximum": MAX_TIMEOUT_MS,
                "minimum": 0,
                "description": "Milliseconds until the command is ended; 0 is the maximum.",
            },
        },
        "required": ["command"],
    }
    is_concurrency_safe = False
    is_read_only = False

    def __init__(
        self,
        cwd: str | os.PathLike[str] | None = None,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
    ) -> None:
        super().__init__(middlewares)
        self._shell = Shell(cwd)

    @property
    def cwd(self) -> str:
        """Return the absolute directory that the next command starts in."""
        return self._shell.directory

    def decision_basis(self, tool_input: dict[str, Any]) -> str | None:
        """Return the directory that the command would run in."""
        del tool_input
        return self.cwd

    def _analysis(self, tool_input: dict[str, Any]) -> CommandAnalysis:
        return analyze(tool_input["command"], directory=self.cwd)

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Allow what only reads."""
        if self._analysis(tool_input).read_only:
            return PermissionDecision(PermissionBehavior.ALLOW, "It only reads.")
        return PermissionDecision(PermissionBehavior.PASSTHROUGH, "")

    async def check_read_only(self, tool_input: dict[str, Any]) -> bool:
        """Return whether the command is proven to read only."""
        return self._analysis(tool_input).read_only

    async def call(  # type: ignore[override] # an async generator, as ToolBase allows
        self,
        command: str,
        description: str = "",
        timeout: int = DEFAULT_TIMEOUT_MS,  # noqa: ASYNC109 - named by the contract
    ) -> AsyncGenerator[ToolChunk, None]:
        """Run the command.

        A command that ends with status 0 is a success, every other an error whose text ends with
        the status. A proven read runs with the programs that a git repository names switched off.

        Args:
            command: What `bash --norc --noprofile -c` runs, as it is.
            description: For the user alone.
            timeout: Milliseconds until it is ended.

        Yields:
            Output as it comes; the last chunk has `exit_code`, `duration` in seconds, `directory`,
            `timed_out` and `output_file` in its metadata.
        """
        del description
        analysis = self._analysis({"command": command})
        extra = None
        if analysis.read_only and (places := git_places(analysis)):
            extra = partial(git_environment, places=places)
        run = self._shell.run(command, timeout_ms=timeout, extra_environment=extra)
        async with aclosing(run) as stream:
            async for chunk in stream:
                yield chunk
