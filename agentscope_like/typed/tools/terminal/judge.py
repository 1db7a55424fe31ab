"""Judges the commands of a terminal as `Bash` does, and confines them so."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from agentscope_like.permission import PermissionContext
from agentscope_like.permission.command import PreparedCommand
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolBase
from agentscope_like.tool.builtin.bash import Bash
from agentscope_like.tool.builtin.bash.environment import runs_unasked, unasked_environment
from agentscope_like.tool.builtin.bash.host_shell import Shell
from agentscope_like.typed.tools.terminal.calls import TerminalCall

if TYPE_CHECKING:
    from agentscope_like.sandbox.isolation import Profile, Scope
    from agentscope_like.sandbox.secret_wall import CoveredRun
    from agentscope_like.tool.builtin.bash.command_shell import ExtraEnvironment

__all__ = ["Boundary", "TerminalJudge"]


class Boundary(Struct, frozen=True):
    """What a command runs within.

    Attributes:
        scope: What it may do; None if commands are not confined.
        profile: Its confinement; None for none.
        covered: The credentials that are hidden from it.
        extra: Returns the variables of a command that runs without approval; None for another.
        leave: Is called once when the command has ended, by any thread.
    """

    scope: Scope | None
    profile: Profile | None
    covered: CoveredRun | None
    extra: ExtraEnvironment | None
    leave: Callable[[], None]

    @property
    def has_streams_of_bash(self) -> bool:
        """Return whether the command has no input, and a pipe for its output.

        What is proven of a command is proven for these streams: on a terminal, `nohup` writes a
        file. Where the kernel enforces what was decided, and where a person or a rule allowed the
        command, it has the terminal.
        """
        return self.extra is not None and self.profile is None

    @property
    def kind(self) -> str:
        """Return how the command is confined, for the result."""
        return "off" if self.scope is None else self.scope.kind.value


class TerminalJudge(Bash):
    """`Bash`, asked in the name of a terminal: it decides and confines, and runs nothing.

    Args:
        name: The terminal's name, under which sessions keep its directory.
        **options: As for `Bash`.
    """

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(**options)
        self.name = name

    async def command(
        self,
        asked: tuple[ToolBase, type[ToolBase]],
        tool_input: dict[str, Any],
        context: PermissionContext,
        session: object,
        kind: type[TerminalCall],
    ) -> TerminalCall:
        """Return a command of the terminal, read for one decision.

        Args:
            asked: The terminal, and its class.
            tool_input: The arguments of the call.
            context: What is permitted.
            session: The state of the agent; None without a session.
            kind: What is returned.
        """
        return await self._prepared(
            tool_input, context, session, decides=True, asked=asked, kind=kind
        )

    def shell(self, session: AgentState | None) -> Shell:
        """Return the shell that the session's next command starts in."""
        shell = self._shell_of(session)
        if not isinstance(shell, Shell):
            raise TypeError("a terminal runs on this host")
        return shell

    def move(self, session: AgentState | None, directory: str) -> None:
        """Have the session's next command start in a directory."""
        if session is None:
            self._shell = self._shell.at(directory)
        elif self.shell(session).directory != directory:
            session.tool_context.directories[self.name] = directory

    def start_over(self, session: AgentState | None) -> None:
        """Have the session's next command start where the first one did."""
        if session is None:
            self._shell = self._shell.at(None)
        else:
            session.tool_context.directories.pop(self.name, None)

    async def boundary(self, call: PreparedCommand) -> Boundary:
        """Return what a decided command runs within; leave it when the command has ended."""
        call.begin_run()
        scope = await self._confiner.scope(call)
        extra = partial(unasked_environment, call) if await runs_unasked(call) else None
        covered = await self._confiner.cover(call, scope)
        profile = None if scope is None else scope.profile
        return Boundary(
            scope=scope,
            profile=profile if covered is None else covered.profile,
            covered=covered,
            extra=extra,
            leave=partial(self._confiner.ran, scope, covered),
        )
