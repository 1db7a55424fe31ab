"""`Bash`: the tool that runs shell commands."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from typing_extensions import override

from agentscope_like.exception import ConfigurationError
from agentscope_like.message import ToolChunk
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.permission import (
    PatternError,
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionRule,
    RuleError,
)
from agentscope_like.permission.command import (
    EDITING_RUNS,
    CommandRules,
    compile_command,
    find_danger,
    suggest_patterns,
    why_not_an_edit,
)
from agentscope_like.permission.moment import MOMENT
from agentscope_like.permission.protocol import never_waits
from agentscope_like.permission.rules import rules_of
from agentscope_like.sandbox.isolation import Confine
from agentscope_like.shell import CommandAnalysis, Place, SensitiveNames, Surroundings, analyze
from agentscope_like.shell.expand import may_ask_for_root
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.builtin.bash.confiner import Confiner
from agentscope_like.tool.builtin.bash.hardened_environment import runs_unasked, unasked_environment
from agentscope_like.tool.builtin.bash.host_shell import Shell
from agentscope_like.tool.builtin.bash.shell_result import MAX_TIMEOUT_MS

if TYPE_CHECKING:
    from agentscope_like.permission.command import FileRules
    from agentscope_like.sandbox import SandboxHandle
    from agentscope_like.sandbox.isolation import Scope
    from agentscope_like.tool.builtin.bash.command_shell import CommandShell
    from agentscope_like.tool.builtin.second_reader import SecondReader, SecondReaderName

__all__ = ["Bash"]

DEFAULT_TIMEOUT_MS = 120_000

_MOST_DOUBTS = 2

_MAY_BE_DENIED = (
    "Some words of this command are not known before it runs, and a deny rule may speak of what "
    "they turn out to be."
)
_MAY_RUN_DENIED = (
    "This command may run what stands in its words, and a deny rule speaks of what that would be."
)
_ONLY_READS = PermissionDecision(PermissionBehavior.ALLOW, "It only reads.")
_ONLY_EDITS = PermissionDecision(
    PermissionBehavior.ALLOW, "It only edits files inside the working directories."
)


class Bash(ToolBase):
    """Runs shell commands (seed 002, "Bash").

    What a command does is read from its text, once; every check and every rule goes by that one
    reading. Proven reads are allowed; in ACCEPT_EDITS and DONT_ASK so are edits inside the working
    directories. What is dangerous or sensitive is a safety ASK that no allow rule silences.

    Rules are command patterns: `npm run:*` is any command that begins with these words, `*` within
    a word any characters of it, and all else the whole command. Deny and ask rules of the file
    tools speak of what a command does to files as well.

    Args:
        dangerous_files: File names whose change always asks, wherever they are. Paths that are
            known to be sensitive by more than a name (`/etc`) stay so whatever is given. By
            default, the names of the table of sensitive paths.
        dangerous_directories: Names of directories below which every change asks.
        cwd: The directory that the first command starts in, and the one that edits are accepted in
            where the context names no working directory; by default, the process's own.
        middlewares: Layers around `call`.
        backend: The sandbox where commands run; by default they run on this host. Decisions are
            then about the sandbox's files, and the sandbox is what confines the commands.
        additional_dangerous_files: Names to add to `dangerous_files`.
        additional_dangerous_directories: Names to add to `dangerous_directories`.
        confine: Whether the kernel keeps a command to what was decided about it: "auto" where
            bubblewrap works, "require" always, so that nothing runs where it does not work, or
            "off".
        second_reader: Another parser that has to find the same commands in a text before anything
            of it is allowed without a rule; None for none.

    Raises:
        ConfigurationError: `cwd` is no directory, `confine` is none of these words, or "require"
            beside a backend, or the second reader is unknown or not installed.
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
    is_policy_injected = True
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
        second_reader: SecondReaderName | None = None,
    ) -> None:
        super().__init__(middlewares)
        self._sensitive = SensitiveNames(
            files=None if dangerous_files is None else tuple(dangerous_files),
            directories=None if dangerous_directories is None else tuple(dangerous_directories),
            extra_files=tuple(additional_dangerous_files),
            extra_directories=tuple(additional_dangerous_directories),
        )
        self._shell: CommandShell = Shell(cwd) if backend is None else _shell_in(backend, cwd)
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

    @property
    def dangerous_files(self) -> tuple[str, ...]:
        """Return the file names whose change always asks, wherever they are."""
        return self._sensitive.all_files

    @property
    def dangerous_directories(self) -> tuple[str, ...]:
        """Return the names of directories below which every change asks."""
        return self._sensitive.all_directories

    @property
    def confine(self) -> Confine:
        """Return whether commands are confined to what was decided about them."""
        return self._confiner.confine

    @property
    def cwd(self) -> str:
        """Return the absolute directory that the next command starts in."""
        return self._shell.directory

    def analysis(self, tool_input: Mapping[str, Any]) -> CommandAnalysis:
        """Return the reading of a call's command, where it would run now.

        Where a second reader is to be asked and has not been, nothing is proven of it.
        """
        analysis = self._read(tool_input)
        return analysis if self._second_reader is None else self._second_reader.known(analysis)

    async def _analysis(
        self, command: str, surroundings: Surroundings | None = None
    ) -> CommandAnalysis:
        analysis = analyze(command, **self._place(command, surroundings))
        if self._second_reader is None:
            return analysis
        return await self._second_reader.checked(analysis)

    def _read(self, tool_input: Mapping[str, Any]) -> CommandAnalysis:
        """Return what the strict reader alone makes of a command: rules that forbid go by it."""
        return analyze(tool_input["command"], **self._place(tool_input["command"]))

    def _place(self, command: str, surroundings: Surroundings | None = None) -> Place:
        """Return where a command would run now, of which its surroundings know the most."""
        moment = MOMENT.get() if self._backend is None else None  # one may yet find its home
        known = surroundings or (moment and moment.get(self)) or self._shell
        work_tree = self._shell.work_tree if may_ask_for_root(command) else None
        return Place(directory=known.directory, home=known.home, work_tree=work_tree)

    async def _prepare(self, tool_input: dict[str, Any], context: PermissionContext) -> None:
        """Look up the files that a decision is about, unless that is what it is made for."""
        if not self._shell.has_to_look_up:
            return
        tables = (context.table(PermissionBehavior.DENY), context.table(PermissionBehavior.ASK))
        rules = [
            rule for table in tables for name in self.related_tools for rule in table.get(name, ())
        ]
        engine = PermissionEngine(context)
        await self._shell.look_up(lambda: engine.check_permission(self, tool_input), rules)

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

        A command with words that are not known before it runs is a safety ASK as well where a deny
        rule may come to speak of it, and so is one that may run what stands in its words.
        """
        surroundings = None if self._backend is None else self._surroundings(context)
        analysis = await self._analysis(tool_input["command"], surroundings)
        if analysis.read_only and analysis.names_no_file:
            return _ONLY_READS  # wherever it runs
        surroundings = surroundings or self._surroundings(context)
        if analysis.has_globs:  # files to look for
            return await asyncio.to_thread(self._opinion, analysis, surroundings, context)
        return self._opinion(analysis, surroundings, context)

    def _opinion(
        self, analysis: CommandAnalysis, surroundings: Surroundings, context: PermissionContext
    ) -> PermissionDecision:
        if danger := find_danger(analysis, surroundings):
            return _safety_ask(danger.message, danger.reason)
        if analysis.read_only:
            return _ONLY_READS
        if self._may_be_denied(analysis, context):
            known = all(None not in part.argv for part in analysis.parts)
            return _safety_ask(
                _MAY_RUN_DENIED if known else _MAY_BE_DENIED, "a deny rule may match"
            )
        reason = None
        if context.mode in EDITING_RUNS:
            reason = why_not_an_edit(analysis, surroundings)
            if reason is None:
                return _ONLY_EDITS
        return PermissionDecision(
            PermissionBehavior.PASSTHROUGH, _not_harmless(analysis, reason), decision_reason=reason
        )

    @override
    async def check_read_only(self, tool_input: dict[str, Any]) -> bool:
        """Return whether the command is proven to read only."""
        return (await self._analysis(tool_input["command"])).read_only

    @override
    async def match_rule(self, rule_content: str | None, tool_input: dict[str, Any]) -> bool:
        """Return whether an allow rule of this content speaks of the command as a whole."""
        if rule_content is None:
            return True
        await self._analysis(tool_input["command"])
        rules = self._rules((rule_content,), PermissionBehavior.ALLOW)
        return rules.match(tool_input, None) is not None

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
            return self._rules(contents, behavior)
        except PatternError as error:
            raise RuleError(f"{behavior.value} rule for {self.name}: {error}") from None

    def compile_related(self, rules: Sequence[PermissionRule]) -> FileRules:
        """Return a matcher for deny or ask rules of the file tools.

        Raises:
            RuleError: One of the contents is no path pattern.
        """
        from agentscope_like.permission.command import FileRules  # most need none

        return FileRules(
            rules,
            read=self._read,
            surroundings=self._surroundings,
            compile=self._shell.compile,
        )

    @override
    @never_waits
    async def generate_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
        """Return rules for the parts of the command that are not proven to read only."""
        analysis = self.analysis(tool_input)
        return [
            PermissionRule(
                tool_name=self.name,
                rule_content=pattern,
                behavior=PermissionBehavior.ALLOW,
                source="suggestion",
            )
            for pattern in suggest_patterns(analysis)
        ]

    def _rules(self, contents: Sequence[str], behavior: PermissionBehavior) -> CommandRules:
        read = self.analysis if behavior is PermissionBehavior.ALLOW else self._read
        return CommandRules(contents, behavior, read=read, surroundings=self._surroundings)

    def _surroundings(self, context: PermissionContext | None) -> Surroundings:
        working = () if context is None else context.directories
        moment = MOMENT.get()
        if moment is None:
            return self._shell.surroundings(working, self._sensitive)
        known: Surroundings | None = moment.get(self)
        if known is None or known.working != working:
            known = moment[self] = self._shell.surroundings(working, self._sensitive)
        return known

    def _may_be_denied(self, analysis: CommandAnalysis, context: PermissionContext) -> bool:
        if all(part.read_only and None not in part.argv for part in analysis.parts):
            return False
        rules = rules_of(self, PermissionBehavior.DENY, context)
        matcher = None if rules is None else rules.matcher
        return isinstance(matcher, CommandRules) and matcher.may_match(analysis)

    @override
    async def call(
        self,
        command: str,
        description: str = "",
        timeout: int = DEFAULT_TIMEOUT_MS,
        *,
        _permission_context: PermissionContext | None = None,
    ) -> AsyncGenerator[ToolChunk, None]:
        """Run the command.

        A command that ends with status 0 is a success, every other an error whose text ends with
        the status. What nobody is asked about, a proven read or an accepted edit, runs with the
        programs that a git repository names switched off, and without secrets.
        What a command can touch follows from what is known of it and from the mode.

        Args:
            command: What `bash --norc --noprofile -c` runs, as it is.
            description: For the user alone.
            timeout: Milliseconds until it is ended.
            _permission_context: What the session permits.

        Yields:
            Output as it comes; the last chunk has `exit_code`, `duration` in seconds, `directory`,
            `timed_out`, `output_file`, `confinement` (a `ScopeKind`, "sandbox" or "off") and, where
            it tried more than was decided, `violation` in its metadata, and
            where credentials may have been kept from it, `covered_secrets`.
        """
        del description
        analysis = await self._analysis(command)
        surroundings = self._surroundings(_permission_context)
        scope = None
        if self._backend is None:
            scope = await self._confiner.scope(analysis, surroundings, _permission_context)
        extra = None
        if await runs_unasked(analysis, surroundings, _permission_context):
            extra = partial(unasked_environment, analysis)
        async with self._confiner.covered(analysis, surroundings, scope) as covered:
            profile = None if scope is None else scope.profile
            run = self._shell.run(
                command,
                timeout_ms=timeout,
                extra_environment=extra,
                profile=profile if covered is None else covered.profile,
                covered=covered,
            )
            async with aclosing(run) as stream:
                async for chunk in stream:
                    if chunk.is_last:
                        chunk.metadata["confinement"] = self._confinement(scope)
                    yield chunk

    def _confinement(self, scope: Scope | None) -> str:
        if self._backend is not None:
            return "sandbox"
        return "off" if scope is None else scope.kind.value


def _shell_in(backend: SandboxHandle, cwd: str | os.PathLike[str] | None) -> CommandShell:
    from agentscope_like.tool.builtin.bash.sandbox_shell import SandboxShell  # most need none

    return SandboxShell(backend, None if cwd is None else os.fspath(cwd))


def _second_reader(name: SecondReaderName) -> SecondReader:
    from agentscope_like.tool.builtin.second_reader import SecondReader  # most have none

    return SecondReader(name)


def _safety_ask(message: str, reason: str) -> PermissionDecision:
    return PermissionDecision(
        PermissionBehavior.ASK, message, decision_reason=reason, bypass_immune=True
    )


def _not_harmless(analysis: CommandAnalysis, reason: str | None) -> str:
    """Return what is not known to be harmless, in a sentence or two."""
    messages = dict.fromkeys(doubt.message.rstrip(".") for doubt in analysis.all_doubts)
    told = "; ".join(list(messages)[:_MOST_DOUBTS]) or "It does nothing that could be proven"
    more = len(messages) - _MOST_DOUBTS
    told += f" (and {more} more)" if more > 0 else ""
    told = f"Not known to be harmless: {told}."
    return told if reason is None or reason in messages else f"{told} No plain edit: {reason}."
