"""Defines `Bash`, the tool that runs shell commands."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, TypeVar

from typing_extensions import override

from agentscope_like.exception import ConfigurationError, IsolationError, ToolArgumentError
from agentscope_like.finished import finished
from agentscope_like.lazy_property import lazy_property
from agentscope_like.message import ApplyQuestion, ToolChunk
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.paths import SensitiveNames
from agentscope_like.permission import (
    PatternError,
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionRule,
    PreparedCall,
    RuleError,
    never_waits,
)
from agentscope_like.permission.command import (
    CommandRules,
    PreparedCommand,
    compile_command,
)
from agentscope_like.sandbox.isolation import Confine
from agentscope_like.shell import (
    CommandAnalysis,
    Surroundings,
    analyze,
    plain_read,
    steered,
)
from agentscope_like.shell.expand import may_ask_for_root
from agentscope_like.state import AgentState
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.builtin.bash.confiner import Confiner
from agentscope_like.tool.builtin.bash.environment import runs_unasked, unasked_environment
from agentscope_like.tool.builtin.bash.host_shell import Shell
from agentscope_like.tool.builtin.bash.shell_result import MAX_BACKGROUND_MS, MAX_TIMEOUT_MS
from agentscope_like.tool.builtin.bash.start_directory import place_of
from agentscope_like.tool.held_call import DroppedChanges, HeldCall
from agentscope_like.tool.workplace import Workplace

if TYPE_CHECKING:
    from agentscope_like.checkpoint import CheckpointStore
    from agentscope_like.permission.command import FileRules
    from agentscope_like.sandbox import SandboxHandle
    from agentscope_like.sandbox.isolation import Scope
    from agentscope_like.tool.builtin.background import BackgroundCommands
    from agentscope_like.tool.builtin.bash.command_shell import CommandShell
    from agentscope_like.tool.builtin.bash.containment import Containment
    from agentscope_like.tool.builtin.second_reader import SecondReader, SecondReaderName
    from agentscope_like.tool.held_call import KeptFiles

__all__ = ["Bash", "Contain"]

Contain: TypeAlias = Literal["off", "on"]
"""Whether commands that would ask run held."""

PreparedCommandT = TypeVar("PreparedCommandT", bound=PreparedCommand)

DEFAULT_TIMEOUT_MS = 120_000
_MOST_OUTPUTS = 200
_NOT_CONTAINED = "this Bash was made without `contain`"

_IN_BACKGROUND = (
    "- With `run_in_background`, a command goes on while you do other things, until it ends, "
    "CommandStop ends it, or the program that runs you ends. Its directory is its own. CommandWait "
    "and CommandOutput show what it writes."
)


class Bash(ToolBase):
    """Runs shell commands (seed 002, "Bash").

    A command is analyzed once for all checks and rules. Proven reads are allowed; in ACCEPT_EDITS
    and DONT_ASK so are edits inside the working directories. A dangerous or sensitive command is a
    safety ASK that no allow rule can prevent.

    Rules are command patterns: `npm run:*` matches any command that begins with these words, `*`
    within a word matches any characters, and any other pattern matches the whole command. Deny and
    ask rules of the file tools also apply to a command's effects on files.

    Args:
        dangerous_files: File names whose change always asks, in any directory. Sensitive paths with
            more than a name (`/etc`) are not affected by this. By default, the names of the table
            of sensitive paths.
        dangerous_directories: Names of directories below which every change asks.
        cwd: The directory that the first command starts in; also the working directory for edits if
            the context names none. By default, the process's own.
        middlewares: Layers around `call`.
        backend: The sandbox where commands run; by default they run on this host. Decisions are
            then about the sandbox's files, and the sandbox confines the commands.
        additional_dangerous_files: Names to add to `dangerous_files`.
        additional_dangerous_directories: Names to add to `dangerous_directories`.
        confine: Whether the kernel confines a command to what was decided: "auto" if bubblewrap
            works; "require" always, so that nothing runs if it does not work; or "off".
        second_reader: Another parser that must find the same commands before any of them is allowed
            without a rule; None for none.
        background: Where commands run that the model starts with `run_in_background`; by default,
            it cannot. They are decided about and confined as all others.
        outputs: The directory of whole outputs that are too long to show, such as one beside the
            saved session that names them; by default one that is removed with the tool.
        contain: "on" to run a command held that would otherwise be asked about, if the kernel can
            hold it: on a layer over the working directories, without a network. What it changed is
            judged, and asked about, afterwards. Only a `Toolkit` does so; for all others, such a
            call asks.
        layers: The folder of the layers; by default in the user's state directory.
        checkpoints: Keeps the files that a command says it changes, as they were before; whoever is
            asked about a command of which that is not known is told. None to keep nothing.

    Raises:
        ConfigurationError: `cwd` is not a directory, `confine` or `contain` is unknown, `confine`
            is "require" or `contain` "on" with a backend, `contain` is "on" with `confine` "off",
            or the second reader is unknown or not installed.
    """

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
    is_state_injected = True
    is_policy_injected = True
    is_call_injected = True
    is_held_call_injected = True
    related_tools = ("Write", "Edit", "Read", "Grep", "Glob")

    def __init__(
        self,
        dangerous_files: Sequence[str] | None = None,
        dangerous_directories: Sequence[str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
        backend: SandboxHandle | None = None,
        *,
        additional_dangerous_files: Sequence[str] = (),
        additional_dangerous_directories: Sequence[str] = (),
        confine: Confine = "auto",
        contain: Contain = "off",
        layers: str | os.PathLike[str] | None = None,
        second_reader: SecondReaderName | None = None,
        background: BackgroundCommands | None = None,
        outputs: str | os.PathLike[str] | None = None,
        checkpoints: CheckpointStore | None = None,
    ) -> None:
        super().__init__(middlewares)
        if backend is not None and checkpoints is not None:
            raise ConfigurationError(
                "checkpoints are of files of this host: leave `checkpoints` or the backend out"
            )
        self.checkpoints = checkpoints
        self._background = background
        if background is not None:
            self.description = f"{self.description}\n{_IN_BACKGROUND}"
            self.input_schema = _with_background(self.input_schema)  # type: ignore[misc]
        self._sensitive = SensitiveNames.of(
            dangerous_files,
            dangerous_directories,
            additional_dangerous_files,
            additional_dangerous_directories,
        )
        self._shell: CommandShell = (
            Shell(cwd, outputs) if backend is None else _shell_in(backend, cwd)
        )
        if self._shell.has_to_look_up:
            self.prepare_decision = self._prepare
        self._confiner = Confiner(confine)
        self._second_reader = None if second_reader is None else _second_reader(second_reader)
        self._backend = backend
        if backend is not None and confine == "require":
            raise ConfigurationError(
                "a command in a sandbox is confined by the sandbox, not to what was decided about "
                'it: leave `confine="require"` out, or the backend'
            )
        self.contain: Contain = contain
        self._containment = self._contained(contain, layers)

    def _contained(self, contain: str, layers: str | os.PathLike[str] | None) -> Containment | None:
        if contain not in ("off", "on"):
            raise ConfigurationError(f'`contain` is {contain!r}: it is "off" or "on"')
        if contain == "off":
            return None
        if self._backend is not None:
            raise ConfigurationError(
                "no layer is put over the files of a sandbox, which holds its commands itself: "
                'leave `contain="on"` out, or the backend'
            )
        if self.confine == "off":
            raise ConfigurationError(
                'commands cannot be held without confinement: leave `confine="off"` out, or '
                '`contain="on"`'
            )
        from agentscope_like.tool.builtin.bash.containment import (  # most hold no commands
            Containment,
            default_store,
            with_escalation,
        )

        self.input_schema = with_escalation(self.input_schema)  # type: ignore[misc]
        store = default_store() if layers is None else Path(os.path.abspath(layers))
        return Containment(store, self.checkpoints)

    @property
    def dangerous_files(self) -> tuple[str, ...]:
        """Return the file names whose change always asks, in any directory."""
        return self._sensitive.all_files

    @property
    def dangerous_directories(self) -> tuple[str, ...]:
        """Return the names of directories below which every change asks."""
        return self._sensitive.all_directories

    @property
    def confine(self) -> Confine:
        """Return whether commands are confined to what was decided."""
        return self._confiner.confine

    @property
    def cwd(self) -> str:
        """Return the absolute directory that commands outside of a session start in next."""
        return self._shell.directory

    def cwd_of(self, session: AgentState) -> str:
        """Return the absolute directory that the session's next command starts in."""
        return self._shell_of(session).directory

    def _shell_of(self, session: object) -> CommandShell:
        if not isinstance(session, AgentState):
            return self._shell
        return self._shell.at(session.tool_context.directories.get(self.name))

    def analysis(
        self, tool_input: Mapping[str, Any], session: AgentState | None = None
    ) -> CommandAnalysis:
        """Return the analysis of a call's command, for the directory of the session.

        If a second reader is configured and has not been asked, nothing is proven.
        """
        shell = self._shell_of(session)
        analysis = _read(tool_input["command"], shell, shell)
        if self._second_reader is not None:
            analysis = self._second_reader.known(analysis)
        return steered(analysis, lambda: shell.surroundings((), self._sensitive))

    async def prepare_call(
        self, tool_input: dict[str, Any], context: PermissionContext, session: object = None
    ) -> PreparedCommand:
        """Return the command, prepared for one decision in a session."""
        kind = self._kind_of_command()
        call = await self._prepared(tool_input, context, session, decides=True, kind=kind)
        call.private = () if self._kept_files is None else self._kept_files.private
        if self._containment is not None:
            await self._containment.look(call)  # type: ignore[arg-type]  # of its kind
        return call

    def _kind_of_command(self) -> type[PreparedCommand]:
        if self._containment is not None:
            return self._containment.kind
        if self.checkpoints is None:
            return PreparedCommand
        from agentscope_like.tool.builtin.command_checkpoint import (  # few have checkpoints
            UndoableCommand,
        )

        return UndoableCommand

    async def _prepared(
        self,
        tool_input: dict[str, Any],
        context: PermissionContext,
        session: object,
        *,
        decides: bool = False,
        asked: tuple[ToolBase, type[ToolBase]] | None = None,
        kind: type[PreparedCommandT] = PreparedCommand,  # type: ignore[assignment]
    ) -> PreparedCommandT:
        """Return the command; without `decides`, for a run that nobody has decided about.

        Args:
            tool_input: The arguments of the call.
            context: What is permitted.
            session: The state of the agent; None without a session.
            decides: Whether what files give rise to is looked for, as each decision does.
            asked: Another tool that runs the command, and its class; by default this one.
            kind: The class of what is returned.
        """
        tool, owner = asked or (self, Bash)
        shell, working = self._shell_of(session), context.directories
        made: list[Surroundings] = []

        def surroundings() -> Surroundings:
            if not made:
                made.append(shell.surroundings(working, self._sensitive))
            return made[0]

        def surroundings_now() -> Surroundings:
            return self._shell_of(session).surroundings(context.directories, self._sensitive)

        command, reader = tool_input["command"], self._second_reader
        plain = plain_read(command) if decides and reader is None else None
        programs = None if plain is None else shell.programs_of(plain, working)
        if programs is not None:
            directory = shell.directory
            analyses = partial(_agreed, command, directory)
        else:
            plain = None
            read = _read(command, shell, surroundings())
            directory = read.directory
            found = read if reader is None else await reader.checked(read)
            programs = await shell.programs(found, working)
            analyses = partial(_both, read, steered(found, surroundings))
        return kind(
            tool,
            tool_input,
            context,
            owner=owner,
            directory=directory,
            analyses=analyses,
            surroundings=surroundings,
            surroundings_now=surroundings_now,
            place_of=_no_place if session is None or self._backend is not None else place_of,
            programs=programs,
            checked=partial(shell.checked, working) if decides else None,
            aliases=shell.git_aliases,
            plain=plain,
        )

    async def _prepare(
        self, tool_input: dict[str, Any], context: PermissionContext, session: object
    ) -> None:
        """Look up the files that a decision needs, unless the decision itself collects them."""
        if not self._shell.has_to_look_up:
            return
        tables = (context.table(PermissionBehavior.DENY), context.table(PermissionBehavior.ASK))
        rules = [
            rule for table in tables for name in self.related_tools for rule in table.get(name, ())
        ]
        engine = PermissionEngine(context, session)
        await self._shell_of(session).look_up(
            lambda: engine.check_permission(self, tool_input), rules
        )

    @override
    def workplace(self, state: AgentState) -> Workplace:
        """Return the directory that the session's next command starts in."""
        return Workplace(self.cwd_of(state), is_on_host=self._backend is None)

    @override
    def kept_files(self) -> KeptFiles | None:
        """Return what held commands left, their layers and the checkpoints; None without any."""
        return self._kept_files

    @lazy_property
    def _kept_files(self) -> KeptFiles | None:
        if self._containment is not None:
            return self._containment.kept_files
        if self.checkpoints is None:
            return None
        from agentscope_like.tool.builtin.held import kept_by_checkpoints  # few have them

        return kept_by_checkpoints(self.checkpoints)

    @override
    def decision_basis(self, tool_input: dict[str, Any]) -> str | None:
        """Return the directory that the command would run in."""
        del tool_input
        return self.cwd

    @override
    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Return a safety ASK for danger, ALLOW for proven reads and edits, or PASSTHROUGH.

        A command with words known only at run time is also a safety ASK if a deny rule may match
        it; so is a command that may run code from its words.
        """
        return await (await self.prepare_call(tool_input, context)).opinion()

    @override
    async def check_read_only(self, tool_input: dict[str, Any]) -> bool:
        """Return whether the command is proven to read only."""
        return (await self.prepare_call(tool_input, PermissionContext())).analysis.read_only

    @override
    async def match_rule(self, rule_content: str | None, tool_input: dict[str, Any]) -> bool:
        """Return whether an allow rule of this content matches the whole command."""
        if rule_content is None:
            return True
        call = await self.prepare_call(tool_input, PermissionContext())
        return CommandRules((rule_content,), PermissionBehavior.ALLOW).match(call) is not None

    @override
    def validate_rule(self, rule_content: str) -> None:
        """Refuse patterns that cannot match any command.

        Raises:
            ConfigurationError: Says what is wrong with the pattern.
        """
        try:
            compile_command(rule_content)
        except PatternError as error:
            raise ConfigurationError(f"rule {self.name}({rule_content}): {error}") from None

    def compile_rules(self, contents: Sequence[str], behavior: PermissionBehavior) -> CommandRules:
        """Return a matcher for the patterns of rules that say `behavior`.

        Raises:
            RuleError: One of the patterns cannot match any command.
        """
        try:
            return CommandRules(contents, behavior)
        except PatternError as error:
            raise RuleError(f"{behavior.value} rule for {self.name}: {error}") from None

    def compile_related(self, rules: Sequence[PermissionRule]) -> FileRules:
        """Return a matcher for deny or ask rules of the file tools.

        Raises:
            RuleError: One of the contents is no path pattern.
        """
        from agentscope_like.permission.command import FileRules  # most need none

        return FileRules(rules, compile=self._shell.index)

    @override
    @never_waits
    async def generate_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
        """Return rules for the parts of the command that are not proven to read only."""
        call = await self.prepare_call(tool_input, PermissionContext())
        return call.own_suggestions()

    @override
    async def call(
        self,
        command: str,
        description: str = "",
        timeout: int = DEFAULT_TIMEOUT_MS,
        run_in_background: bool = False,
        escalate: bool = False,
        escalate_reason: str = "",
        *,
        _agent_state: AgentState | None = None,
        _permission_context: PermissionContext | None = None,
        _prepared_call: PreparedCall | None = None,
        _held_call: HeldCall | None = None,
    ) -> AsyncGenerator[ToolChunk, None]:
        """Run the command.

        Exit status 0 is a success; any other is an error whose text ends with the status. A command
        that runs without approval, a proven read or an accepted edit, runs without secrets and with
        the programs disabled that a git repository names. Its confinement follows from its effects
        and the mode.

        Args:
            command: The text that `bash --norc --noprofile -c` runs.
            description: For the user alone.
            timeout: The timeout in milliseconds; of no account in the background.
            run_in_background: Whether to return at once; needs `background`.
            escalate: Whether it is to run on the host; of no account once that is decided.
            escalate_reason: Why, for the person who was asked.
            _permission_context: The permission context of the session.
            _prepared_call: The call as prepared for its decision; prepared now if there is none.
            _held_call: The order to run it held; None to run it as it is.

        Yields:
            Output as it arrives. The metadata of the last chunk has `exit_code`, `duration` in
            seconds, `directory`, `timed_out`, `output_file`, `confinement` (a `ScopeKind`,
            "sandbox", "held" or "off"); `held` if it ran held; `violation` if it tried more than
            was decided; and `covered_secrets` if credentials may have been hidden from it.
        """
        del description, escalate, escalate_reason
        call = _prepared_call
        if not isinstance(call, PreparedCommand) or call.read.command != command:
            context = _permission_context or PermissionContext()
            call = await self._prepared(
                {"command": command}, context, _agent_state, kind=self._kind_of_command()
            )
        call.begin_run()
        shell = self._shell_of(_agent_state)
        if run_in_background and self._background is not None:
            run = self._run(call, shell, timeout_ms=MAX_BACKGROUND_MS, in_background=True)
            yield await self._background.start(_agent_state, command, run)
            return
        if _held_call is None:
            run = self._run(call, shell, timeout_ms=timeout)
            stream_of_run = self._recorded(call, run, _agent_state)
        else:
            stream_of_run = self._held(call, shell, _held_call, _agent_state, timeout_ms=timeout)
        try:
            async with aclosing(stream_of_run) as stream:
                async for chunk in stream:
                    _remember_output(chunk, _agent_state)
                    yield chunk
        finally:
            if _agent_state is not None and shell.directory != call.directory:
                _agent_state.tool_context.directories[self.name] = shell.directory

    async def _held(
        self,
        call: PreparedCommand,
        shell: CommandShell,
        held_call: HeldCall,
        session: AgentState | None,
        *,
        timeout_ms: int,
    ) -> AsyncGenerator[ToolChunk, None]:
        """Run a prepared command held."""
        if self._containment is None or not isinstance(shell, Shell):
            raise IsolationError("this command cannot be held: Bash was made without `contain`")
        context = call.context if session is None else session.permission_context
        run = self._containment.run(call, shell, held_call, context, session, timeout_ms=timeout_ms)
        try:
            async with aclosing(run) as stream:
                async for chunk in stream:
                    if chunk.is_last:
                        chunk.metadata["confinement"] = "held"
                    yield chunk
        finally:
            self._confiner.changed()

    async def holding_objection(self, session: AgentState) -> str | None:
        """Return why no command of a session runs held, or None; empty if `contain` is off."""
        if self._containment is None:
            return ""
        shell = self._shell_of(session)
        around = shell.surroundings(session.permission_context.directories, self._sensitive)
        return await self._containment.objection(around)

    async def judge_changes(self, question: ApplyQuestion, state: AgentState) -> PermissionDecision:
        """Return whether what a held command changed may be applied; see `HoldingTool`."""
        if self._containment is None:
            return PermissionDecision(PermissionBehavior.DENY, _NOT_CONTAINED)
        return await self._containment.judge(question, state)

    async def apply_changes(
        self, question: ApplyQuestion, state: AgentState
    ) -> AsyncGenerator[ToolChunk, None]:
        """Apply what a held command changed; see `HoldingTool`."""
        if self._containment is None:
            raise IsolationError(_NOT_CONTAINED)
        chunk, directory = await self._containment.apply(question, state)
        self._confiner.changed()
        if directory:
            state.tool_context.directories[self.name] = directory
        yield chunk

    async def drop_changes(self, question: ApplyQuestion, state: AgentState) -> DroppedChanges:
        """Drop what a held command changed; see `HoldingTool`."""
        del state
        if self._containment is None:
            return DroppedChanges(objection=_NOT_CONTAINED)
        return await self._containment.drop(question)

    async def held_output(self, question: ApplyQuestion) -> str:
        """Return what a held command printed, if it is still known."""
        return "" if self._containment is None else await self._containment.output(question)

    async def held_difference(self, question: ApplyQuestion, state: AgentState) -> str:
        """Return the unified diff of what a held command changed; see `HoldingTool`."""
        return (
            "" if self._containment is None else await self._containment.difference(question, state)
        )

    async def _recorded(
        self,
        call: PreparedCommand,
        run: AsyncGenerator[ToolChunk, None],
        session: AgentState | None,
    ) -> AsyncGenerator[ToolChunk, None]:
        """Run a command between the beginning and the end of its checkpoint, if it has one."""
        if self.checkpoints is None or call.analysis.read_only:
            async with aclosing(run) as stream:
                async for chunk in stream:
                    yield chunk
            return
        from agentscope_like.tool.builtin.command_checkpoint import (  # few have checkpoints
            CommandCheckpoint,
            UndoableCommand,
        )

        if not isinstance(call, UndoableCommand):
            raise TypeError("a command with checkpoints was prepared without them")
        session_id = "" if session is None else session.session_id
        kept = CommandCheckpoint(self.checkpoints, session_id, call)
        await asyncio.to_thread(kept.begin)
        last: ToolChunk | None = None
        try:
            async with aclosing(run) as stream:
                async for chunk in stream:
                    if chunk.is_last:
                        last = chunk
                    else:
                        yield chunk
        finally:
            number = await finished(asyncio.to_thread(kept.end))
        if last is not None:
            last.metadata.update(checkpoint=number, undo=kept.undo)
            yield last

    async def _run(
        self,
        call: PreparedCommand,
        shell: CommandShell,
        *,
        timeout_ms: int,
        in_background: bool = False,
    ) -> AsyncGenerator[ToolChunk, None]:
        """Run a prepared command in a shell, confined to what was decided."""
        scope = None if self._backend is not None else await self._confiner.scope(call)
        if self._containment is not None and scope is not None:
            scope = self._containment.scope_of_read(call, scope)
        if self._kept_files is not None and scope is not None:
            from agentscope_like.sandbox.isolation import without_paths

            scope = without_paths(scope, self._kept_files.private)
        extra = None
        if await runs_unasked(call):
            extra = partial(unasked_environment, call)
        async with self._confiner.covered(call, scope) as covered:
            profile = None if scope is None else scope.profile
            run = shell.run(
                call.read.command,
                timeout_ms=timeout_ms,
                extra_environment=extra,
                profile=profile if covered is None else covered.profile,
                covered=covered,
                in_background=in_background,
                place=call.place,
            )
            began_ns = _file_time_ns()
            try:
                async with aclosing(run) as stream:
                    async for chunk in stream:
                        if chunk.is_last:
                            chunk.metadata["confinement"] = self._confinement(scope)
                        yield chunk
            finally:
                if self._containment is not None and scope is not None:
                    await self._containment.host_ran(scope, began_ns)

    def _confinement(self, scope: Scope | None) -> str:
        if self._backend is not None:
            return "sandbox"
        return "off" if scope is None else scope.kind.value


def _with_background(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with the parameter that starts a command in the background."""
    told = "Whether to return at once while the command goes on."
    parameter = {"type": "boolean", "default": False, "description": told}
    return {**schema, "properties": {**schema["properties"], "run_in_background": parameter}}


def _remember_output(chunk: ToolChunk, session: AgentState | None) -> None:
    """Record the file of the whole output in the session, so that it is read back unasked."""
    path = chunk.metadata.get("output_file")
    if session is not None and isinstance(path, str):
        outputs = session.tool_context.outputs
        outputs[:] = [*outputs[1 - _MOST_OUTPUTS :], os.path.realpath(path)]


def _file_time_ns() -> int:
    """Return the time on the clock that files get their times from."""
    return time.clock_gettime_ns(getattr(time, "CLOCK_REALTIME_COARSE", time.CLOCK_REALTIME))


def _no_place(directory: str) -> str:
    """Return nothing: outside of a session no grant is bound to the directory."""
    del directory
    return ""


def _read(command: str, shell: CommandShell, place: Surroundings | CommandShell) -> CommandAnalysis:
    """Return the analysis of a command for where the shell would run it now."""
    work_tree = shell.work_tree if may_ask_for_root(command) else None
    return analyze(command, directory=place.directory, home=place.home, work_tree=work_tree)


def _both(
    read: CommandAnalysis, analysis: CommandAnalysis
) -> tuple[CommandAnalysis, CommandAnalysis]:
    return read, analysis


def _agreed(command: str, directory: str) -> tuple[CommandAnalysis, CommandAnalysis]:
    """Return the analyses of a plain line, of which nothing depends on where home is.

    Raises:
        ToolArgumentError: It does not prove what was proven at a glance, so nothing may run.
    """
    read = analyze(command, directory=directory)
    if not (read.read_only and read.names_no_file):
        raise ToolArgumentError(
            "The full analysis of this command does not prove that it only reads, though a quicker "
            "one did. Nothing has run; please report this command."
        )
    return read, read


def _shell_in(backend: SandboxHandle, cwd: str | os.PathLike[str] | None) -> CommandShell:
    from agentscope_like.tool.builtin.bash.sandboxed import SandboxShell  # most need none

    return SandboxShell(backend, None if cwd is None else os.fspath(cwd))


def _second_reader(name: SecondReaderName) -> SecondReader:
    from agentscope_like.tool.builtin.second_reader import SecondReader  # most have none

    return SecondReader(name)
