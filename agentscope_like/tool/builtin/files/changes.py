"""Changes to files by Write and Edit: planned, shown before they are made, then made."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from stat import S_IMODE
from typing import Any

from msgspec import Struct
from typing_extensions import override

from agentscope_like.message import ToolChunk
from agentscope_like.paths import Location, PathError
from agentscope_like.permission import PermissionBehavior, PermissionEngine
from agentscope_like.state import AgentState, ReadState
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.file_system import (
    FileContent,
    Files,
    WritingTool,
    explain,
)
from agentscope_like.tool.builtin.files.read import Read
from agentscope_like.tool.builtin.files.read_record import remember
from agentscope_like.tool.builtin.files.text_diff import unified_diff
from agentscope_like.tool.builtin.tool_results import CancelCheck, failed, succeeded
from agentscope_like.tool.resources import DeclaredResources

__all__ = ["ChangingTool", "Plan", "PreviewingTool"]


class Plan(Struct, frozen=True):
    """What a call would make of a file; nothing has been written.

    Attributes:
        location: The file.
        before: What the file is; None where it does not exist.
        data: What it would be.
        old: The text before.
        new: The text after.
        summary: One sentence for the model, once it is done.
        occurrences: How many places change.
    """

    location: Location
    before: FileContent | None
    data: bytes
    old: str
    new: str
    summary: str
    occurrences: int = 1


class PreviewingTool(ToolBase):
    """A tool that shows what a call would change before it is made."""

    @abstractmethod
    async def preview(self, tool_input: Mapping[str, Any], state: AgentState | None) -> str:
        """Return the differences that the call would make to files, in the unified format.

        Args:
            tool_input: The arguments of the call.
            state: The agent's state, which knows what was read.

        Raises:
            FileToolError: The call can only fail; the message says why.
        """


class ChangingTool(WritingTool, PreviewingTool):
    """A tool that plans a change of one file, so that it can be shown before it is made."""

    @abstractmethod
    def plan(
        self,
        files: Files,
        location: Location,
        tool_input: Mapping[str, Any],
        read_state: ReadState | None,
    ) -> Plan:
        """Return what the call would make of the file; blocks while it reads.

        Raises:
            FileToolError: The call can only fail; the message tells the model why.
        """

    def made(self, plan: Plan, after: FileContent) -> None:
        """Note a change that was made; called where the file was written, in its thread.

        Args:
            plan: The change.
            after: What the file is now.
        """

    @override
    async def preview(self, tool_input: Mapping[str, Any], state: AgentState | None) -> str:
        """Return the difference that the call would make to the file, in the unified format.

        Args:
            tool_input: The arguments of the call.
            state: The agent's state, which knows what was read.

        Raises:
            FileToolError: The call can only fail; the message says why.
        """

        def work(files: Files, _: CancelCheck) -> str:
            location = self.located(files, tool_input, None)
            plan = self.plan(files, location, tool_input, _read_state(state))
            return self._diff(plan)

        return await self._files.work(work)

    @override
    def resources(self, tool_input: dict[str, Any]) -> DeclaredResources | None:
        """Return the file, which the call needs for itself; for a sandbox's files nothing is said.

        Args:
            tool_input: The arguments of the call.
        """
        if self.backend is not None:  # where a path leads there cannot be told at once
            return None
        try:
            return DeclaredResources(keys=(f"file:{self.locate(tool_input).resolved}",))
        except PathError:
            return None  # it only fails

    @override
    async def certain_failure(self, tool_input: dict[str, Any], state: AgentState) -> str | None:
        """Return why the call can only fail, where the file may be read unasked."""
        reader = Read(cwd=self.cwd, backend=self.backend)
        if self.seen_files is not None:
            reader.see_kept_files(self.seen_files)
        reading = await PermissionEngine(state.permission_context, state).check_permission(
            reader, {"file_path": self.path_of(tool_input)}
        )
        if reading.behavior is not PermissionBehavior.ALLOW:
            return None
        try:
            await self.preview(tool_input, state)
        except FileToolError as error:
            return error.message
        return None

    async def change(
        self, tool_input: Mapping[str, Any], state: AgentState | None, decided: str | None
    ) -> ToolChunk:
        """Make the change, note what the file is now, and answer.

        Args:
            tool_input: The arguments of the call.
            state: The agent's state; without it nothing is known to have been read.
            decided: Where the path led when the call was decided about.

        Returns:
            The answer, its metadata `diff`, `file_path`, `occurrences` (contract) and, where there
            are checkpoints, `checkpoint`; or why not.
        """

        def work(files: Files, cancel_check: CancelCheck) -> tuple[Plan, FileContent, int | None]:
            location = self.located(files, tool_input, decided)
            plan = self.plan(files, location, tool_input, _read_state(state))
            with self._recorded(plan, state) as checkpoint_id:
                after = _write(files, plan, cancel_check)
            self.made(plan, after)
            return plan, after, checkpoint_id

        try:
            plan, after, checkpoint_id = await self._files.work(work)
        except FileToolError as error:
            return failed(error.message)
        entry = after.entry(plan.location.resolved)
        if state is not None:
            remember(state, entry)
        metadata: dict[str, Any] = {
            "diff": self._diff(plan),
            "file_path": entry.file_path,
            "occurrences": plan.occurrences,
        }
        if checkpoint_id is None:
            return succeeded(plan.summary, metadata)
        told = f"{plan.summary} Checkpoint {checkpoint_id}."
        return succeeded(told, {**metadata, "checkpoint": checkpoint_id})

    def _recorded(self, plan: Plan, state: AgentState | None) -> AbstractContextManager[int | None]:
        """Return what keeps the file as it was around the change, if there are checkpoints."""
        if self.checkpoints is None or not self._files.is_on_host(plan.location):
            return nullcontext()
        from agentscope_like.checkpoint import FileChange, FileVersion, recorded  # few keep them

        before = None
        if plan.before is not None:
            before = FileVersion(plan.before.data, S_IMODE(plan.before.status.st_mode))
        after = FileVersion(plan.data) if before is None else FileVersion(plan.data, before.mode)
        return recorded(
            self.checkpoints,
            [FileChange(plan.location.resolved, before, after)],
            session_id="" if state is None else state.session_id,
            summary=plan.summary,
        )

    def _diff(self, plan: Plan) -> str:
        return unified_diff(plan.old, plan.new, self.shown(plan.location.resolved))


def _read_state(state: AgentState | None) -> ReadState | None:
    return None if state is None else state.tool_context.read_state


def _write(files: Files, plan: Plan, cancel_check: CancelCheck) -> FileContent:
    """Write the file anew, or put the data in the place of the file that the plan is about.

    Raises:
        FileToolError: It is no longer that file, may not be written, or the system refuses.
    """
    location, before = plan.location, plan.before
    if before is not None and not before.status.st_mode & 0o222:
        raise FileToolError(
            f"{location.written} is read-only. Make it writable first (chmod u+w), or ask the user."
        )
    try:
        if before is None:
            return files.create(location, plan.data, cancel_check)
        return files.replace(location, plan.data, before, cancel_check)
    except OSError as error:
        raise explain(error, location.written) from None
