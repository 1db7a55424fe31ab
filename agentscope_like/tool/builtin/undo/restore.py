"""Defines `Restore`, the tool that makes files what they were at a checkpoint."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from msgspec.structs import replace
from typing_extensions import override

from agentscope_like.checkpoint import (
    CheckpointError,
    CheckpointStore,
    FileChange,
    FileDigest,
    FileVersion,
    Restoration,
    file_digest,
    file_version,
    recorded,
)
from agentscope_like.finished import finished
from agentscope_like.message import ToolChunk
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.paths import locate
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionRule,
)
from agentscope_like.state import AgentState
from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.file_system import explain
from agentscope_like.tool.builtin.files import PreviewingTool, Write, unified_diff
from agentscope_like.tool.builtin.tool_results import failed, succeeded
from agentscope_like.tool.builtin.undo.file_steps import FileStep, is_below_link, take_steps
from agentscope_like.tool.builtin.undo.restoration import (
    FileRulesOfRestorations,
    PreparedRestoration,
    RulesOfRestorations,
)
from agentscope_like.tool.builtin.undo.step_plan import check_parents, without_full_directories

__all__ = ["Restore"]

When = Literal["after", "before"]


_MOST_SHOWN = 20


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
            self.writer,
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

        def work() -> tuple[list[FileStep], int]:
            steps = self._plan(tool_input, _agent_state, decided)
            summary = f"Restored {len(steps):,} files as {when} checkpoint {checkpoint}."
            changes = [FileChange(step.path, step.now, step.wanted) for step in steps]
            session_id = self._session_of(_agent_state) or ""
            store = self._checkpoints
            with recorded(store, changes, session_id=session_id, summary=summary) as number:
                take_steps(steps)
            return steps, number

        try:
            steps, number = await finished(asyncio.to_thread(work))
        except FileToolError as error:
            return failed(error.message)
        paths = [step.path for step in steps]
        left = await asyncio.to_thread(self._unkept, tool_input, self._session_of(_agent_state))
        metadata = {
            "diff": "".join(self._diff(step) for step in steps),
            "file_paths": paths,
            "checkpoint": number,
        }
        return succeeded(
            f"Restored {self._listed(paths)} as {when} checkpoint {checkpoint}. "
            f"Checkpoint {number}.{self._told_left(left)}",
            metadata,
        )

    def _listed(self, paths: Sequence[str]) -> str:
        shown = ", ".join(map(self.writer.shown, paths[:_MOST_SHOWN]))
        more = len(paths) - _MOST_SHOWN
        return f"{shown} and {more:,} more" if more > 0 else shown

    def _told_left(self, paths: Sequence[str]) -> str:
        """Return the sentence about the files that stay as they are."""
        if not paths:
            return ""
        return f" What was not kept stays as it is: {self._listed(paths)}."

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
        base = _base(tool_input)
        try:
            if path:
                restorations = self._of_one(base, path, session_id)
            else:
                known = self._checkpoints.changed_after(base, session_id)
                kept = [each for each, is_kept in known.items() if is_kept] or list(known)
                restorations = self._checkpoints.restoration(base, kept, session_id=session_id)
        except CheckpointError as error:
            raise FileToolError(f"{error.message}.") from None
        if not restorations:
            what = path or "no file"
            raise FileToolError(f"Since checkpoint {number}, you have not changed {what}.")
        return restorations

    def _of_one(self, base: int, path: str, session_id: str | None) -> list[Restoration]:
        """Return what restores one path: the symlink of this name, or where it leads."""
        own = locate(path, directory=self.writer.cwd, follow=False).resolved
        led = self.writer.locate({"file_path": path}).resolved
        for each in dict.fromkeys((own, led)):
            found = self._checkpoints.restoration(base, [each], session_id=session_id)
            if found:
                return found
        return []

    def _unkept(self, tool_input: Mapping[str, Any], session_id: str | None) -> list[str]:
        """Return the files that a restoration of all leaves as they are."""
        if tool_input.get("file_path"):
            return []
        known = self._checkpoints.changed_after(_base(tool_input), session_id)
        return [path for path, is_kept in known.items() if not is_kept]

    def _plan(
        self,
        tool_input: Mapping[str, Any],
        state: AgentState | None,
        decided: Sequence[Restoration] | None = None,
    ) -> list[FileStep]:
        """Return what is to be done to the files.

        Raises:
            FileToolError: All are as wanted, or one was changed by others and not read since.
        """
        restorations = (
            self._restorations(tool_input, self._session_of(state)) if decided is None else decided
        )
        steps = []
        for each in restorations:
            now = self._version(each.path)
            wanted = _with_mode(each, now)
            if _is_as_wanted(now, wanted):
                continue
            digest = None if now is None else now.digest
            is_known = digest in (None, each.last, None if wanted is None else wanted.digest)
            if now is not None and not is_known and not self._has_seen(each.path, now, state):
                raise FileToolError(self._changed_by_others(each.path, now))
            steps.append(FileStep(each.path, now, wanted))
        check_parents(steps)
        steps = without_full_directories(steps)
        if not steps:
            raise FileToolError("All of the files are as they were then.")
        return steps

    def _version(self, path: str) -> FileVersion | FileDigest | None:
        """Return what a path is now; without its content if that is too large to be kept."""
        if is_below_link(path):
            return None
        try:
            is_large = os.lstat(path).st_size > self._checkpoints.most_file_bytes
        except OSError:
            is_large = False
        try:
            return file_digest(path) if is_large else file_version(path)
        except OSError as error:
            raise explain(error, path) from None

    def _changed_by_others(self, path: str, now: FileVersion | FileDigest) -> str:
        shown = self.writer.shown(path)
        if now.kind == "file":
            return f"{shown} was changed by others since: read it before you restore it."
        return (
            f"{shown} was changed by others since, and is a {now.kind} now: restore other files "
            "one by one, or ask the user."
        )

    def _has_seen(self, path: str, now: FileVersion | FileDigest, state: AgentState | None) -> bool:
        entry = None if state is None else state.tool_context.read_state.get(path)
        if entry is not None and entry.digest == now.digest:
            return True
        return self._seen_digest is not None and self._seen_digest(path) == now.digest

    def _diff(self, step: FileStep) -> str:
        shown = self.writer.shown(step.path)
        now, wanted = step.now, step.wanted
        if now is not None and wanted is not None and now.digest == wanted.digest:
            return f"--- {shown}\n+++ {shown}\n@@ mode {now.mode:o} to {wanted.mode:o} @@\n"
        try:
            return unified_diff(_text(now), _text(wanted), shown)
        except UnicodeDecodeError:
            return f"--- {shown}\n+++ {shown}\n@@ binary content @@\n"


def _base(tool_input: Mapping[str, Any]) -> int:
    """Return the checkpoint after which files are restored to what they were."""
    number = int(tool_input["checkpoint"])
    return number - 1 if tool_input.get("when", "after") == "before" else number


def _with_mode(
    restoration: Restoration, now: FileVersion | FileDigest | None
) -> FileVersion | None:
    """Return what a path is to be: permission bits that others changed since stay."""
    wanted = restoration.wanted
    if wanted is None or now is None or now.kind != wanted.kind:
        return wanted
    if wanted.kind == "link" or now.mode != restoration.last_mode:
        return replace(wanted, mode=now.mode)
    return wanted


def _is_as_wanted(now: FileVersion | FileDigest | None, wanted: FileVersion | None) -> bool:
    if now is None or wanted is None:
        return now is wanted
    return (now.digest, now.mode) == (wanted.digest, wanted.mode)


def _text(version: FileVersion | FileDigest | None) -> str:
    """Return a version as text.

    Raises:
        UnicodeDecodeError: It is no text, or too large.
    """
    if version is None:
        return ""
    if isinstance(version, FileDigest):
        raise UnicodeDecodeError("utf-8", b"", 0, 1, "too large to be shown")
    if version.kind == "directory":
        return "(a directory)\n"
    text = version.data.decode("utf-8")
    return f"(a link to {text})\n" if version.kind == "link" else text
