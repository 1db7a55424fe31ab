"""Defines the tools that commit a file of a workspace, and that finish its run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from typing_extensions import override

from agentscope_like.conversation import CommitSink
from agentscope_like.exception import DeveloperOrientedException, RecoverableToolError
from agentscope_like.message import ToolChunk
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.paths import Location, PathError
from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionDecision
from agentscope_like.workspace.run_control import RunControl
from agentscope_like.workspace.text_file import read_text
from agentscope_like.workspace.tools.workspace_tool import PATH, WorkspaceTool, done
from agentscope_like.workspace.workspace import Workspace

__all__ = ["Commit", "CommitError", "Finish"]

DEFAULT_ARTIFACT = "output/main.md"
"""What is committed where no path is given."""


class CommitError(DeveloperOrientedException):
    """The host could not publish a commit; whether it did is not known."""


class _EndingTool(WorkspaceTool):
    """A tool whose effect lies outside the workspace, so that it is asked about.

    Args:
        workspace: The workspace.
        control: The run.
        middlewares: Layers around `call`.
    """

    touches_only_agent_state = False

    def __init__(
        self,
        workspace: Workspace,
        control: RunControl,
        *,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
    ) -> None:
        super().__init__(workspace, middlewares=middlewares)
        self.control = control

    def refuse_after_finish(self) -> None:
        """Refuse a call after the run was finished.

        Raises:
            RecoverableToolError: It was.
        """
        if self.control.finished:
            raise RecoverableToolError(
                "agent.run_finished", "This run has been finished; the call was not executed."
            )


class Commit(_EndingTool):
    """Publishes a file of the workspace as the run's message (seed 001, "workspace.commit").

    Args:
        workspace: The workspace.
        control: The run.
        sink: Publishes the text.
        artifact: What is committed where no path is given.
        middlewares: Layers around `call`.
    """

    name = "workspace.commit"
    related_tools = ("Read", "Grep", "Glob")
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "path": PATH,
            "mode": {"type": "string", "enum": ["replace", "append"], "default": "replace"},
            "reason": {"type": ["string", "null"]},
        },
    }

    def __init__(
        self,
        workspace: Workspace,
        control: RunControl,
        sink: CommitSink,
        *,
        artifact: str = DEFAULT_ARTIFACT,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
    ) -> None:
        super().__init__(workspace, control, middlewares=middlewares)
        self._sink = sink
        self.default_path = artifact  # type: ignore[misc]
        self.description = (
            "Publishes a text file of your workspace as the message of this run. path: the file, "
            f"{artifact} by default. mode: `replace` (default) replaces what this run published, "
            "`append` adds to it. reason: why, in a few words."
        )

    @override
    def judge(
        self, location: Location | PathError, context: PermissionContext
    ) -> PermissionDecision:
        """Return PASSTHROUGH: what is published leaves the workspace, so a rule or person says."""
        del context
        shown = self.default_path if isinstance(location, PathError) else location.resolved
        return PermissionDecision(
            PermissionBehavior.PASSTHROUGH,
            f"{self.name} would publish `{self.shown(shown)}` as the message of this run. It asks "
            "because no rule allows it.",
        )

    async def call(
        self,
        path: str | None = None,
        mode: Literal["replace", "append"] = "replace",
        reason: str | None = None,
        _decision_basis: str | None = None,
    ) -> ToolChunk:
        """Publish the file.

        Raises:
            CommitError: The host failed; the run then fails.
        """
        self.refuse_after_finish()
        if mode not in ("replace", "append"):
            raise RecoverableToolError(
                "workspace.write_mode_invalid", f"mode is {mode!r}: give replace or append."
            )
        relative, text = await self.work(lambda: self._text(path, _decision_basis))
        try:
            await self._sink.commit(text, mode=mode, reason=reason, run_id=self.control.run_id)
        except Exception as error:
            raise CommitError(f"{relative} could not be committed: {error}") from error
        self.control.committed += 1
        metadata = {"path": relative, "mode": mode, "commits": self.control.committed}
        return done(f"Committed {relative} ({len(text):,} characters).", metadata)

    def _text(self, path: str | None, decided: str | None) -> tuple[str, str]:
        place = self.workspace.find(path or self.default_path, decided=decided)
        text = read_text(self.workspace, place).text
        if not text.strip():
            raise RecoverableToolError(
                "workspace.commit_empty", f"{place.relative} is empty: write it before the commit."
            )
        return place.relative, text


class Finish(_EndingTool):
    """Ends the run, and keeps what it changed in `persist/` (seed 001, "workspace.finish")."""

    name = "workspace.finish"
    description = (
        "Ends this run, when the work is done and, in a foreground run, committed. Files that you "
        "changed in persist/ are kept for later runs. reason: how it ended, in a few words."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {"reason": {"type": ["string", "null"]}},
    }
    related_tools = ()

    @override
    def judge(
        self, location: Location | PathError, context: PermissionContext
    ) -> PermissionDecision:
        """Return ALLOW, or PASSTHROUGH where files of `persist/` would be kept for later runs."""
        del location, context
        changed = self._changes()
        if not changed:
            return PermissionDecision(
                PermissionBehavior.ALLOW, f"{self.name} ends the agent's own run."
            )
        listed = ", ".join(f"`persist/{path}`" for path in sorted(changed)[:5])
        more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""  # noqa: PLR2004
        return PermissionDecision(
            PermissionBehavior.PASSTHROUGH,
            f"{self.name} would keep {listed}{more} for later runs. It asks because no rule "
            "allows it.",
        )

    @override
    def decision_basis(self, tool_input: dict[str, Any]) -> str | None:
        """Return what would be kept, so that a grant ends if it changes."""
        del tool_input
        return repr(sorted(self._changes().items(), key=lambda each: each[0]))

    async def call(
        self, reason: str | None = None, _decision_basis: str | None = None
    ) -> ToolChunk:
        """Keep the changes of `persist/`, and end the run.

        Raises:
            PersistError: They cannot be kept; the run then fails.
        """
        del _decision_basis
        self.refuse_after_finish()
        if self.control.foreground and not self.control.committed:
            raise RecoverableToolError(
                "agent.foreground_commit_required",
                "This run has to commit before it finishes: call workspace.commit first.",
            )
        persistent, directory = self.workspace.persistent, Path(self.workspace.directory)
        changed: dict[str, str | None] = {}
        if persistent is not None:
            changed = await self.work(lambda: persistent.promote(directory))
        self.control.finish(reason)
        kept = f" Kept {len(changed):,} changed files of persist/." if changed else ""
        return done(f"The run is finished.{kept}", {"kept": sorted(changed), "reason": reason})

    def _changes(self) -> dict[str, str | None]:
        persistent = self.workspace.persistent
        return {} if persistent is None else persistent.changes(Path(self.workspace.directory))
