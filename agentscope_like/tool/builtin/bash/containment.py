"""Runs commands of Bash held, and answers for what they changed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agentscope_like.exception import IsolationError
from agentscope_like.finished import finished
from agentscope_like.message import (
    ApplyQuestion,
    DataBlock,
    TextBlock,
    ToolChunk,
    ToolResultState,
)
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionMode,
)
from agentscope_like.permission.command import PreparedCommand
from agentscope_like.sandbox.held import HeldEnd, RefusalKind, find_refusal
from agentscope_like.sandbox.isolation import Scope, ScopeKind
from agentscope_like.shell import Surroundings
from agentscope_like.state import AgentState
from agentscope_like.tool.builtin.bash.environment import secret_names
from agentscope_like.tool.builtin.bash.host_shell import Shell, still_there
from agentscope_like.tool.builtin.bash.shell_result import NO_OUTPUT, not_confined
from agentscope_like.tool.builtin.held import (
    ChangesResult,
    HeldCommand,
    HeldCommands,
    HeldStart,
    HiddenFiles,
    HoldableCommand,
    UndoableHoldableCommand,
    Verdict,
    hidden_by_rules,
)
from agentscope_like.tool.held_call import DroppedChanges, HeldCall, KeptFiles

if TYPE_CHECKING:
    from agentscope_like.checkpoint import CheckpointStore

__all__ = ["Containment", "default_store", "with_escalation"]

_FORBIDDEN = "the policy forbids it"
_ESCALATION = {
    "escalate": {
        "type": "boolean",
        "default": False,
        "description": (
            "Whether a person is asked to run the command on the host itself, with its network and "
            "all files. Only where a result says that a held run refused what is needed."
        ),
    },
    "escalate_reason": {
        "type": "string",
        "maxLength": 300,
        "description": "Why it has to run on the host, for the person.",
    },
}


class Containment:
    """Holds the commands of one `Bash`.

    Args:
        store: The folder of all layers.
        checkpoints: Keeps what files were before commands change them, if anything does.
    """

    def __init__(self, store: Path, checkpoints: CheckpointStore | None = None) -> None:
        self._commands = HeldCommands(store, checkpoints)
        self.kind = HoldableCommand if checkpoints is None else UndoableHoldableCommand

    @property
    def kept_files(self) -> KeptFiles:
        """Return what held commands left in `/tmp` and `/var/tmp`, and where layers are kept."""
        return self._commands.temporary

    async def look(self, call: HoldableCommand) -> None:
        """Find out whether commands can run held where this one runs."""
        call.place_objection = await self.objection(call.surroundings)
        if call.place_objection is None and call.context.deny_rules:
            hidden = await asyncio.to_thread(_hidden, call.context, call.surroundings)
            call.place_objection = hidden.objection or None

    async def objection(self, around: Surroundings) -> str | None:
        """Return why no command can run held in these surroundings, or None."""
        start = await asyncio.to_thread(os.path.realpath, around.directory)
        return await self._commands.objection(_directories(around), start, around.home)

    async def run(
        self,
        call: PreparedCommand,
        shell: Shell,
        held_call: HeldCall,
        context: PermissionContext,
        session: AgentState | None,
        *,
        timeout_ms: int,
    ) -> AsyncGenerator[ToolChunk, None]:
        """Run a command held, and yield its output and then what became of its changes.

        Args:
            call: The command.
            shell: Runs it.
            held_call: Asks a person about its changes.
            context: The policy of the moment.
            session: The state of the agent, if any.
            timeout_ms: Its timeout in milliseconds.
        """
        try:
            contexts = [context, *held_call.contexts]
            begun = asyncio.to_thread(self._begin, call.surroundings, contexts)
            command = await finished(begun, undo=HeldCommand.close)
        except IsolationError as error:
            yield not_confined(error.message)
            return
        said: list[str] = []
        try:
            run = shell.run(
                call.read.command,
                timeout_ms=timeout_ms,
                extra_environment=_without_secrets,
                place=call.place,
                held=command.start,
            )
            async with aclosing(run) as stream:
                async for chunk in stream:
                    said += [each.text for each in chunk.content if isinstance(each, TextBlock)]
                    if chunk.is_last and "exit_code" in chunk.metadata:
                        output = "".join(said).removesuffix(NO_OUTPUT)
                        await _tell_refusal(chunk, command.start, call, output, context)
                        end = await _ended(
                            command, contexts, session, chunk, call.read.command, output
                        )
                        _tell(chunk, end, held_call)
                        if end.directory is not None:
                            shell.move(await asyncio.to_thread(still_there, end.directory, ""))
                    yield chunk
        except BaseException:  # nobody can be asked about it any more
            command.drop()
            raise
        finally:
            await finished(asyncio.to_thread(command.close))

    def _begin(self, around: Surroundings, contexts: Sequence[PermissionContext]) -> HeldCommand:
        """Make the layer of a command; blocks.

        Raises:
            IsolationError: It cannot be made, or what rules deny to read cannot be hidden.
        """
        hide: list[str] = []
        for context in contexts:
            hidden = _hidden(context, around)
            if hidden.objection:
                raise IsolationError(hidden.objection)
            hide += hidden.paths
        return self._commands.begin(_directories(around), home=around.home or "", hide=hide)

    async def host_ran(self, scope: Scope, since_ns: int) -> None:
        """Note that a command ran on the host, and may have written to its `/tmp`.

        Args:
            scope: What it could do.
            since_ns: When it began, on the clock of file times.
        """
        if scope.kind is not ScopeKind.READ:
            await finished(asyncio.to_thread(self._commands.temporary.host_ran, since_ns))

    def scope_of_read(self, call: PreparedCommand, scope: Scope) -> Scope:
        """Return the scope of a proven read, which sees what held commands left in `/tmp`."""
        if scope.kind is not ScopeKind.READ or scope.profile is None:
            return scope
        named = {each.path for each in call.analysis.effects if each.path is not None}
        found = {
            mount.mount_path: mount
            for path in sorted(named)
            for mount in self._commands.temporary.mounts(path)
        }
        if not found:
            return scope
        mounts = (*scope.profile.mounts, *found.values())
        return replace(scope, profile=replace(scope.profile, mounts=mounts))

    async def judge(self, question: ApplyQuestion, state: AgentState) -> PermissionDecision:
        """Return whether the changes of a run may be applied now; DENY if not."""
        try:
            command = await self._found(question)
        except IsolationError as error:
            return PermissionDecision(PermissionBehavior.DENY, f"{error.message}.")
        try:
            if command.applied is not None:
                return PermissionDecision(PermissionBehavior.ALLOW, question.title)
            outcome, _ = await command.judged([state.permission_context], state)
        except IsolationError as error:
            return PermissionDecision(PermissionBehavior.DENY, f"{error.message}.")
        finally:
            await finished(asyncio.to_thread(command.close))
        if outcome.verdict is Verdict.DROP:
            reason = outcome.reasons[0] if outcome.reasons else None
            message = (
                "the policy forbids it" if reason is None else f"{reason.path}: {reason.because}"
            )
            return PermissionDecision(PermissionBehavior.DENY, message)
        asks = outcome.verdict is Verdict.ASK
        behavior = PermissionBehavior.ASK if asks else PermissionBehavior.ALLOW
        return PermissionDecision(behavior, question.title)

    async def apply(self, question: ApplyQuestion, state: AgentState) -> tuple[ToolChunk, str]:
        """Apply the changes of a run, unless the policy or the files have changed since.

        Returns:
            What became of them, and the directory that the next command starts in; empty if that
            has not changed.
        """
        try:
            command = await self._found(question)
        except IsolationError as error:
            return _not_applied(error.message, and_now="")
        try:
            if (found := command.applied) is None:
                outcome, held = await command.judged([state.permission_context], state)
                if outcome.verdict is Verdict.DROP:
                    command.drop()
                    return _not_applied(_FORBIDDEN)
                end = await command.apply(held, state)
            else:
                end = found
                command.drop()
        except IsolationError as error:
            command.drop()
            return _not_applied(error.message)
        finally:
            await finished(asyncio.to_thread(command.close))
        is_fine = end.is_applied and not question.exit_status
        state_of_call = ToolResultState.SUCCESS if is_fine else ToolResultState.ERROR
        directory = await asyncio.to_thread(still_there, end.directory, "")
        chunk = _chunk(end, state_of_call, after=command.output)
        return chunk, directory

    async def drop(self, question: ApplyQuestion) -> DroppedChanges:
        """Drop the changes of a run."""
        try:
            command = await self._found(question)
        except IsolationError as error:
            return DroppedChanges(objection=f"{error.message}.")
        command.drop()
        await finished(asyncio.to_thread(command.close))
        if (found := command.applied) is None:
            return DroppedChanges(command.output)
        return DroppedChanges(command.output, f"An earlier yes was carried out: {found.text}")

    async def difference(self, question: ApplyQuestion, state: AgentState) -> str:
        """Return the unified diff of the text files that a run changed; empty if it is gone."""
        try:
            command = await self._found(question)
        except IsolationError:
            return ""
        try:
            outcome, held = await command.judged([state.permission_context], state)
            shown = await asyncio.to_thread(command.question, held, outcome)
            return shown.difference
        except IsolationError:
            return ""
        finally:
            await finished(asyncio.to_thread(command.close))

    async def _found(self, question: ApplyQuestion) -> HeldCommand:
        """Find the command again that a question is about.

        Raises:
            IsolationError: Its layer is no longer there.
        """
        finding = asyncio.to_thread(self._commands.find, question)
        return await finished(finding, undo=HeldCommand.close)

    async def output(self, question: ApplyQuestion) -> str:
        """Return what a run printed; empty if that is no longer known."""
        try:
            command = await self._found(question)
        except IsolationError:
            return ""
        await finished(asyncio.to_thread(command.close))
        return command.output


def _hidden(context: PermissionContext, around: Surroundings) -> HiddenFiles:
    """Return what deny rules keep from held commands; looks at files where there are any."""
    return hidden_by_rules(context, _directories(around), home=around.home or "/")


async def _tell_refusal(
    chunk: ToolChunk,
    start: HeldStart | None,
    call: PreparedCommand,
    output: str,
    context: PermissionContext,
) -> None:
    """Add to the last chunk of a run what the run was refused."""
    if start is None:
        return
    end = HeldEnd(
        command=call.read.command,
        output=output,
        status=chunk.metadata["exit_code"],
        directories=tuple(_directories(call.surroundings)),
        home=call.surroundings.home or "/",
        opened=start.opened,
        hidden=start.hide,
        attempts=start.attempts,
    )
    refusal = await asyncio.to_thread(find_refusal, end)
    if refusal is None or (refusal.kind is RefusalKind.HIDDEN and start.opened):
        return  # credentials that it opened are told already
    nobody_asked = PermissionMode(context.mode).properties.otherwise == "deny"
    _add_note(chunk, refusal.message if nobody_asked else refusal.text)
    chunk.metadata["refused"] = {"kind": refusal.kind.value, "detail": refusal.detail}


async def _ended(
    command: HeldCommand,
    contexts: Sequence[PermissionContext],
    session: AgentState | None,
    chunk: ToolChunk,
    text: str,
    output: str,
) -> ChangesResult:
    """Return what becomes of the changes of a command that has ended."""
    facts = chunk.metadata
    try:
        return await command.end(
            contexts,
            session,
            command=text,
            output=output,
            exit_status=facts["exit_code"],
            directory=facts["directory"],
        )
    except (IsolationError, OSError) as error:
        chunk.state = ToolResultState.ERROR
        return ChangesResult(f"It ran held: nothing of it was kept, since {error}.", Verdict.DROP)


def _tell(chunk: ToolChunk, end: ChangesResult, held_call: HeldCall) -> None:
    """Add to the last chunk of a run what became of its changes."""
    chunk.metadata["held"] = _facts(end)
    if end.question is not None:
        held_call.ask(end.question)
        chunk.state = ToolResultState.RUNNING
        return
    if end.verdict is Verdict.DROP and chunk.state is ToolResultState.SUCCESS:
        chunk.state = ToolResultState.DENIED
    if end.text:
        _add_note(chunk, end.text)


def _add_note(chunk: ToolChunk, text: str) -> None:
    texts = [block.text for block in chunk.content if isinstance(block, TextBlock)]
    chunk.content.append(TextBlock(text=_note(text, after="".join(texts))))


def _note(text: str, *, after: str) -> str:
    """Return a note on a line of its own, after a text."""
    return f"[{text}]" if not after or after.endswith("\n") else f"\n[{text}]"


def _facts(end: ChangesResult) -> dict[str, Any]:
    return {
        "verdict": end.verdict.value,
        "changed": end.changed,
        "applied": end.is_applied,
        "checkpoint": end.checkpoint,
        "undo": end.undo,
    }


def _not_applied(
    reason: str, *, and_now: str = " The files are as before."
) -> tuple[ToolChunk, str]:
    end = ChangesResult(f"Not applied: {reason}.{and_now}", Verdict.DROP)
    return _chunk(end, ToolResultState.ERROR, after=""), ""


def _chunk(end: ChangesResult, state: ToolResultState, *, after: str) -> ToolChunk:
    """Return the last chunk of a call whose changes were asked about, after what it printed."""
    content: list[TextBlock | DataBlock] = []
    if end.text:
        content.append(TextBlock(text=_note(end.text, after=after)))
    return ToolChunk(content=content, state=state, metadata={"held": _facts(end)})


def _directories(around: Surroundings) -> list[str]:
    return [each.resolved for each in around.working_directories]


def _without_secrets(inherited: dict[str, str], _keys: object) -> dict[str, str]:
    return dict.fromkeys(secret_names(inherited), "")


def default_store() -> Path:
    """Return the folder of layers, unless another one is given."""
    state = os.environ.get("XDG_STATE_HOME", "")
    top = Path(state) if state.startswith("/") else Path.home() / ".local" / "state"
    return top / "agentscope-like" / "layers"


def with_escalation(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return Bash's schema with the parameters that ask for the host."""
    return {**schema, "properties": {**schema["properties"], **_ESCALATION}}
