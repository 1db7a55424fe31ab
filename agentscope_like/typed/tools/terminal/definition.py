"""Defines `TerminalTool`, and how its calls are decided."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from typing_extensions import override

from agentscope_like.exception import GrantError, ToolArgumentError
from agentscope_like.message import ToolChunk
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionRule,
    PreparedCall,
    never_waits,
)
from agentscope_like.sandbox.isolation import Confine
from agentscope_like.state import AgentState
from agentscope_like.tool import Workplace
from agentscope_like.tool.builtin.bash import Bash
from agentscope_like.tool.builtin.bash.shell_result import refuse_unsendable
from agentscope_like.typed.annotations import ToolAnnotations
from agentscope_like.typed.definition import ToolDefinition
from agentscope_like.typed.effects import Effects
from agentscope_like.typed.executor import ToolConversation
from agentscope_like.typed.judging import PreparedAction
from agentscope_like.typed.tools.terminal.action import ExecuteBashAction, TerminalAction
from agentscope_like.typed.tools.terminal.calls import (
    KeyCall,
    TerminalCall,
    TerminalCommands,
    TerminalFiles,
    TypedText,
)
from agentscope_like.typed.tools.terminal.judge import TerminalJudge
from agentscope_like.typed.tools.terminal.observation import (
    ExecuteBashObservation,
    TerminalMetadata,
    TerminalObservation,
)

if TYPE_CHECKING:
    from agentscope_like.typed.tools.terminal.impl import TerminalExecutor

__all__ = [
    "BashTool",
    "ExecuteBashAction",
    "ExecuteBashObservation",
    "TerminalAction",
    "TerminalConversation",
    "TerminalMetadata",
    "TerminalObservation",
    "TerminalTool",
]

_DESCRIPTION = """\
Runs a command with bash in a terminal and returns what it shows.
- Each command runs in a new bash. The working directory is kept from one call to the next, and so \
are exported variables that no program is known to read; functions, aliases and PATH are not.
- One program runs at a time. If it shows nothing new for a while, you get what there is and it \
goes on running: send an empty `command` to see more, text with `is_input` to answer it, `C-c` to \
interrupt it, `C-d` to end its input. A line break as input is Enter alone.
- `timeout` ends the command after so many seconds. `reset` ends what runs and starts anew.
- Processes that a command leaves in the background end with it.
- Of more than 30,000 characters of output, the first and last are shown."""


class TerminalConversation(ToolConversation, frozen=True):
    """The session of a call, and the command as it was decided.

    Attributes:
        command: The command; None for a key.
    """

    command: TerminalCall | None = None


class TerminalTool(ToolDefinition[TerminalAction, TerminalObservation]):
    """Runs commands on a terminal (seed 004).

    A command is decided as `Bash` decides it in the directory that the terminal is in: by the same
    checks, and by the rules for Bash as well as by its own. It is confined as Bash confines it.
    Text for a running program is a safety question, whatever the rules allow.

    Args:
        cwd: The directory that the first command starts in; by default, the process's own.
        confine: As for `Bash`.
        dangerous_files: As for `Bash`.
        dangerous_directories: As for `Bash`.
        **options: As for `ToolDefinition`.
    """

    name = "terminal"
    description = _DESCRIPTION
    annotations = ToolAnnotations(title="Terminal")
    is_policy_injected = True
    also_ruled_as: ClassVar[tuple[str, ...]] = ("Bash",)
    related_tools = Bash.related_tools

    def __init__(
        self,
        *,
        cwd: str | os.PathLike[str] | None = None,
        confine: Confine = "auto",
        dangerous_files: Sequence[str] | None = None,
        dangerous_directories: Sequence[str] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(cwd=cwd, **options)
        self.judge = TerminalJudge(
            self.name,
            cwd=self.cwd,
            confine=confine,
            dangerous_files=dangerous_files,
            dangerous_directories=dangerous_directories,
        )

    @classmethod
    @override
    def create(
        cls,
        conv_state: AgentState | None = None,
        *,
        working_dir: str | os.PathLike[str] | None = None,
        no_change_timeout_seconds: float | None = None,
        **params: Any,
    ) -> Sequence[Self]:
        """Return a terminal.

        Args:
            conv_state: The state of the session that it is for; it serves others as well, each
                with a directory, variables and a program of its own.
            working_dir: The directory that the first command starts in.
            no_change_timeout_seconds: Seconds without output after which a call returns while its
                program goes on.
            **params: As for the constructor.
        """
        from agentscope_like.typed.tools.terminal.impl import TerminalExecutor

        del conv_state
        tool = cls(cwd=working_dir, **params)
        tool.set_executor(TerminalExecutor(tool, quiet_seconds=no_change_timeout_seconds))
        return [tool]

    # Deciding

    @override
    def effects(self, action: TerminalAction) -> Effects | None:
        """Return the command, or nothing for a key."""
        return Effects(commands=() if action.is_key else (action.command,))

    @override
    async def prepare_call(  # type: ignore[override]
        self, tool_input: dict[str, Any], context: PermissionContext, session: object = None
    ) -> PreparedCall:
        """Return the call as it is read for one decision: a command, text for a program, a key."""
        action = self.action_from_arguments(tool_input)
        if action.is_key:
            key = KeyCall(self, tool_input, context)
            key.action = action
            return key
        state = session if isinstance(session, AgentState) else None
        terminal = self._terminal_executor().terminal(state)
        terminal.settle()
        kind = TypedText if action.is_input else TerminalCall
        given = {**tool_input, "command": action.command}
        call = await self.judge.command((self, TerminalTool), given, context, session, kind)
        call.bind(action, terminal.program_state if action.is_input else terminal.variables_state)
        if isinstance(call, TypedText):
            call.program = terminal.program
        return call

    @override
    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Return what Bash finds in the command; for input, a safety ASK."""
        call = await self.prepare_call(tool_input, context)
        return await (call.opinion() if isinstance(call, TerminalCall) else call.check())

    @override
    async def check_read_only(self, tool_input: dict[str, Any]) -> bool:
        """Return whether the command is proven to read only."""
        return await (await self.prepare_call(tool_input, PermissionContext())).only_reads()

    @override
    async def match_rule(self, rule_content: str | None, tool_input: dict[str, Any]) -> bool:
        """Return whether an allow rule of this content matches the whole command."""
        if rule_content is None:
            return True
        call = await self.prepare_call(tool_input, PermissionContext())
        return TerminalCommands((rule_content,), PermissionBehavior.ALLOW).match(call) is not None

    @override
    def validate_rule(self, rule_content: str) -> None:
        """Refuse patterns that cannot match any command.

        Raises:
            ConfigurationError: Says what is wrong with the pattern.
        """
        self.judge.validate_rule(rule_content)

    def compile_rules(  # type: ignore[override]
        self, contents: Sequence[str], behavior: PermissionBehavior
    ) -> TerminalCommands:
        """Return a matcher for the patterns of rules that say `behavior`.

        Raises:
            RuleError: One of the patterns cannot match any command.
        """
        self.judge.compile_rules(contents, behavior)  # says what is wrong
        return TerminalCommands(contents, behavior)

    @override
    def compile_related(self, rules: Sequence[PermissionRule]) -> TerminalFiles:  # type: ignore[override]
        """Return a matcher for deny or ask rules of the file tools.

        Raises:
            RuleError: One of the contents is no path pattern.
        """
        return TerminalFiles(rules)

    @override
    @never_waits
    async def generate_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
        """Return rules for the parts of the command that are not proven to read only."""
        call = await self.prepare_call(tool_input, PermissionContext())
        return call.own_suggestions() if isinstance(call, TerminalCall) else []

    @override
    @never_waits
    async def fallback_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
        """Return no rule: the command's own reading suggests what could be allowed."""
        del tool_input
        return []

    @override
    async def certain_failure(self, tool_input: dict[str, Any], state: AgentState) -> str | None:
        """Return why the call can only fail: a program is running, or none is."""
        action = self.action_from_arguments(tool_input)
        if not action.is_key:
            try:
                refuse_unsendable(action.command)
            except ToolArgumentError as error:
                return error.message
        return self._terminal_executor().terminal(state).objection(action)

    @override
    def workplace(self, state: AgentState) -> Workplace:
        """Return the directory that the session's next command starts in."""
        return Workplace(self.judge.shell(state).directory, is_on_host=True)

    # Running

    @override
    async def call(self, /, **kwargs: Any) -> ToolChunk:
        """Run the executor, in the run of a grant.

        Args:
            **kwargs: The arguments, with the session and the decided call.

        Raises:
            GrantError: No `Toolkit` runs it.
        """
        state, prepared = kwargs.get("_agent_state"), kwargs.get("_prepared_call")
        if not isinstance(prepared, TerminalCall | KeyCall) or prepared.tool is not self:
            raise GrantError(
                f"{self.name} was called without a decision: run it with `Toolkit.call_tool`, or "
                "call its executor, if no model is involved"
            )
        self._terminal_executor()
        if not isinstance(state, AgentState):
            state = AgentState()
        command = prepared if isinstance(prepared, TerminalCall) else None
        action, effects = prepared.action, self.effects(prepared.action)
        decided = PreparedAction(
            self, prepared.tool_input, prepared.context, action=action, effects=effects
        )
        if self._run is None:
            raise GrantError(f"{self.name} has no executor")
        return await self._run.run(action, TerminalConversation(state, decided, command))

    def _terminal_executor(self) -> TerminalExecutor:
        from agentscope_like.typed.tools.terminal.impl import TerminalExecutor

        if not isinstance(self.executor, TerminalExecutor):
            self.set_executor(TerminalExecutor(self))
        executor = self.executor
        if not isinstance(executor, TerminalExecutor):
            raise TypeError("the executor of a terminal is a TerminalExecutor")
        return executor


class BashTool(TerminalTool):
    """The terminal by the name that the seed gives it."""

    name = "execute_bash"
