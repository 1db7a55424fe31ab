"""Defines `Restore`, the tool that makes files what they were at a checkpoint."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from msgspec import Struct
from typing_extensions import override

from agentscope_like.checkpoint import (
    CheckpointError,
    CheckpointStore,
    FileChange,
    FileVersion,
    Restoration,
    file_version,
    recorded,
)
from agentscope_like.finished import finished
from agentscope_like.message import ToolChunk
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionRule,
)
from agentscope_like.sandbox.files import (
    create_whole_file,
    remove_whole_file,
    replace_whole_file,
)
from agentscope_like.state import AgentState
from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.file_system import explain, open_parent
from agentscope_like.tool.builtin.files import PreviewingTool, Write, unified_diff
from agentscope_like.tool.builtin.tool_results import failed, succeeded
from agentscope_like.tool.builtin.undo.restoration import (
    FileRulesOfRestorations,
    PreparedRestoration,
    RulesOfRestorations,
)

__all__ = ["Restore"]

When = Literal["after", "before"]


class _Step(Struct, frozen=True):
    """What is done to one file."""

    path: str
    now: FileVersion | None
    wanted: FileVersion | None


class Restore(PreviewingTool):
    """Makes one file, or all that the session changed, what they were at a checkpoint.

    It is a write like any other, of each of the files, and itself a checkpoint.

    Args:
        checkpoints: Where they are kept.
        session_id: Whose changes are undone; by default, those of the session that calls.
        seen_digest: Returns the SHA-256 of the version of a file that the agent has seen besides
            those of Read; None if it has seen none.
        cwd: The base of relative paths.
        middlewares: Layers around `call`.
        dangerous_files: As for `Write`.
        dangerous_directories: As for `Write`.
    """

    name = "Restore"
    description = (
        "Makes files what they were right after a checkpoint, or, with when=`before`, right "
        "before it; Checkpoints lists them. file_path: only this file; without it, every file that "
        "you changed since. A file that others changed since has to be read first. The restoration "
        "is a checkpoint too, so it can be undone."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "checkpoint": {"type": "integer", "minimum": 1, "description": "Its number."},
            "file_path": {"type": ["string", "null"], "description": "The one file to restore."},
            "when": {"type": "string", "enum": ["after", "before"], "default": "after"},
        },
        "required": ["checkpoint"],
    }
    is_concurrency_safe = False
    is_read_only = False
    is_state_injected = True
    is_call_injected = True
    related_tools = ("Write", "Edit")

    def __init__(
        self,
        checkpoints: CheckpointStore,
        *,
        session_id: str | None = None,
        seen_digest: Callable[[str], str | None] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
        dangerous_files: Sequence[str] | None = None,
        dangerous_directories: Sequence[str] | None = None,
    ) -> None:
        super().__init__(middlewares)
        self.writer = Write(dangerous_files, dangerous_directories, cwd=cwd)
        self._checkpoints = checkpoints
        self._session_id = session_id
        self._seen_digest = seen_digest

    async def prepare_call(
        self, tool_input: dict[str, Any], context: PermissionContext, session: object = None
    ) -> PreparedRestoration:
        """Return the restoration, prepared for one decision."""
        session_id = self._session_of(session)
        return await asyncio.to_thread(
            PreparedRestoration,
            self,
            tool_input,
            context,
            lambda: self._restorations(tool_input, session_id),
        )

    @override
    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Return the strictest opinion of writing each of the files."""
        return await (await self.prepare_call(tool_input, context)).check()

    @override
    async def match_rule(self, rule_content: str | None, tool_input: dict[str, Any]) -> bool:
        """Return whether every file matches the pattern."""
        if rule_content is None:
            return True
        call = await self.prepare_call(tool_input, PermissionContext())
        rules = self.compile_rules((rule_content,), PermissionBehavior.ALLOW)
        return rules.match(call) is not None

    @override
    def validate_rule(self, rule_content: str) -> None:
        """Refuse patterns that cannot be compiled.

        Raises:
            ConfigurationError: Says what is wrong with the pattern.
        """
        self.writer.validate_rule(rule_content)

    def compile_rules(
        self, contents: Sequence[str], behavior: PermissionBehavior
    ) -> RulesOfRestorations:
        """Return a matcher for the patterns of rules that say `behavior`.

        Raises:
            RuleError: One of the patterns cannot be compiled.
        """
        return RulesOfRestorations(self.writer.compile_rules(contents, behavior), behavior)

    def compile_related(self, rules: Sequence[PermissionRule]) -> FileRulesOfRestorations:
        """Return a matcher for deny or ask rules of Write and Edit.

        Raises:
            RuleError: One of the contents is no path pattern.
        """
        return FileRulesOfRestorations(rules)

    @override
    async def certain_failure(self, tool_input: dict[str, Any], state: AgentState) -> str | None:
        """Return why the call can only fail: there is nothing to do, or a file is not known."""
        try:
            await asyncio.to_thread(self._plan, tool_input, state)
        except FileToolError as error:
            return error.message
        return None

    @override
    async def preview(self, tool_input: Mapping[str, Any], state: AgentState | None) -> str:
        """Return the differences that the call would make to its files.

        Args:
            tool_input: The arguments of the call.
            state: The agent's state, which knows what was read.

        Raises:
            FileToolError: The call can only fail; the message says why.
        """
        steps = await asyncio.to_thread(self._plan, tool_input, state)
        return "".join(self._diff(step) for step in steps)

    @override
    async def call(
        self,
        checkpoint: int,
        file_path: str | None = None,
        when: When = "after",
        *,
        _agent_state: AgentState | None = None,
        _prepared_call: PreparedRestoration | None = None,
    ) -> ToolChunk:
        """Restore the files, in the order of their paths, each of them atomically.

        Args:
            checkpoint: The number of the checkpoint.
            file_path: Only this file.
            when: Whether right after the checkpoint or right before it.
            _agent_state: Knows what was read; without it no file that others changed is restored.
            _prepared_call: The restoration as it was decided about.

        Raises:
            CheckpointError: What the files were cannot be kept; nothing is changed then.
        """
        tool_input = {"checkpoint": checkpoint, "file_path": file_path, "when": when}
        decided = None if _prepared_call is None else _prepared_call.restorations

        def work() -> tuple[list[_Step], int]:
            steps = self._plan(tool_input, _agent_state, decided)
            summary = f"Restored {len(steps):,} files as {when} checkpoint {checkpoint}."
            changes = [FileChange(step.path, step.now, step.wanted) for step in steps]
            session_id = self._session_of(_agent_state) or ""
            store = self._checkpoints
            with recorded(store, changes, session_id=session_id, summary=summary) as number:
                for step in steps:
                    _make(step)
            return steps, number

        try:
            steps, number = await finished(asyncio.to_thread(work))
        except FileToolError as error:
            return failed(error.message)
        paths = [step.path for step in steps]
        shown = ", ".join(map(self.writer.shown, paths))
        metadata = {
            "diff": "".join(self._diff(step) for step in steps),
            "file_paths": paths,
            "checkpoint": number,
        }
        return succeeded(
            f"Restored {shown} as {when} checkpoint {checkpoint}. Checkpoint {number}.", metadata
        )

    def _session_of(self, session: object) -> str | None:
        if self._session_id is not None:
            return self._session_id
        return session.session_id if isinstance(session, AgentState) else None

    def _restorations(
        self, tool_input: Mapping[str, Any], session_id: str | None
    ) -> list[Restoration]:
        """Return what is to be restored.

        Raises:
            FileToolError: There is no such checkpoint of the session, or nothing has changed.
        """
        number, path = int(tool_input["checkpoint"]), tool_input.get("file_path")
        found = self._checkpoints.get(number)
        if found is None or (session_id is not None and found.session_id != session_id):
            raise FileToolError(
                f"There is no checkpoint {number}: Checkpoints lists what there is."
            )
        paths = None
        if path:
            paths = [self.writer.locate({"file_path": path}).resolved]
        base = number - 1 if tool_input.get("when", "after") == "before" else number
        try:
            restorations = self._checkpoints.restoration(base, paths, session_id=session_id)
        except CheckpointError as error:
            raise FileToolError(f"{error.message}.") from None
        if not restorations:
            what = path or "no file"
            raise FileToolError(f"Since checkpoint {number}, you have not changed {what}.")
        return restorations

    def _plan(
        self,
        tool_input: Mapping[str, Any],
        state: AgentState | None,
        decided: Sequence[Restoration] | None = None,
    ) -> list[_Step]:
        """Return what is to be done to the files.

        Raises:
            FileToolError: All are as wanted, or one was changed by others and not read since.
        """
        restorations = (
            self._restorations(tool_input, self._session_of(state)) if decided is None else decided
        )
        steps = []
        for each in restorations:
            now = _version(each.path)
            digest = None if now is None else now.digest
            if digest == (None if each.wanted is None else each.wanted.digest):
                continue
            if digest not in (None, each.last) and not self._has_seen(each.path, digest, state):
                raise FileToolError(
                    f"{self.writer.shown(each.path)} was changed by others since: read it before "
                    "you restore it."
                )
            steps.append(_Step(each.path, now, each.wanted))
        if not steps:
            raise FileToolError("All of the files are as they were then.")
        return steps

    def _has_seen(self, path: str, digest: str | None, state: AgentState | None) -> bool:
        entry = None if state is None else state.tool_context.read_state.get(path)
        if entry is not None and entry.digest == digest:
            return True
        return self._seen_digest is not None and self._seen_digest(path) == digest

    def _diff(self, step: _Step) -> str:
        shown = self.writer.shown(step.path)
        try:
            return unified_diff(_text(step.now), _text(step.wanted), shown)
        except UnicodeDecodeError:
            return f"--- {shown}\n+++ {shown}\n@@ binary content @@\n"


def _text(version: FileVersion | None) -> str:
    return "" if version is None else version.data.decode("utf-8")


def _version(path: str) -> FileVersion | None:
    try:
        return file_version(path)
    except OSError as error:
        raise explain(error, path) from None


def _make(step: _Step) -> None:
    """Make one file what is wanted, if it is still what it was.

    Raises:
        FileToolError: It is another one by now, or the system refuses.
    """
    now, wanted = step.now, step.wanted
    made: list[str] | None = [] if now is None else None
    try:
        with open_parent(step.path, made=made) as (directory, name):
            if now is None:
                if wanted is not None:
                    mode = wanted.mode
                    create_whole_file(name, directory, wanted.data, cancel_check=_go_on, mode=mode)
                return
            status = os.stat(name, dir_fd=directory, follow_symlinks=False)
            identity = (status.st_dev, status.st_ino)
            if wanted is None:
                remove_whole_file(name, directory, identity=identity, digest=now.digest)
                return
            replace_whole_file(
                name,
                directory,
                wanted.data,
                identity=identity,
                digest=now.digest,
                cancel_check=_go_on,
            )
    except OSError as error:
        raise explain(error, step.path) from None


def _go_on() -> None:
    """Check nothing: a file that is begun is made."""
