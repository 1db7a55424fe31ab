"""Defines the base class of the tools on a workspace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from typing_extensions import override

from agentscope_like.message import TextBlock, ToolChunk, ToolResultState
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.paths import Location, PathError
from agentscope_like.permission import (
    PathRules,
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionRule,
    RuleMatch,
)
from agentscope_like.tool.builtin.file_system import PathTool, PreparedPath
from agentscope_like.workspace.workspace import Workspace

__all__ = ["PATH", "WorkspaceTool", "done"]

ResultT = TypeVar("ResultT")

PATH: dict[str, Any] = {"type": ["string", "null"], "default": None}
"""The schema of a path that may be left out."""


class WorkspaceTool(PathTool):
    """A tool on one workspace, which is the agent's own: only a deny rule stops its calls.

    Rules are path patterns relative to the workspace, and those of the file tools that forbid hold
    as well.

    Args:
        workspace: The workspace.
        middlewares: Layers around `call`.
    """

    is_concurrency_safe = False
    is_read_only = False
    touches_only_agent_state: ClassVar[bool] = True
    related_tools: tuple[str, ...] = ("Write", "Edit")
    default_path: ClassVar[str] = "."

    def __init__(
        self, workspace: Workspace, *, middlewares: Sequence[ToolMiddlewareBase] | None = None
    ) -> None:
        super().__init__(cwd=workspace.directory, middlewares=middlewares)
        self.workspace = workspace

    @override
    def path_of(self, tool_input: Mapping[str, Any]) -> str:
        """Return the path in the arguments, so that a leading `~` is a name."""
        path = str(tool_input.get("path") or self.default_path)
        return path if path.startswith("/") else f"./{path}"

    @override
    def working_directories(self, context: PermissionContext) -> tuple[Location, ...]:
        """Return the workspace, which the patterns of rules are relative to."""
        del context
        return self._own_directory()

    @override
    def judge(
        self, location: Location | PathError, context: PermissionContext
    ) -> PermissionDecision:
        """Return ALLOW: the call changes nothing but the agent's own workspace."""
        del location, context
        return PermissionDecision(
            PermissionBehavior.ALLOW, f"{self.name} touches only the agent's own workspace."
        )

    def compile_related(self, rules: Sequence[PermissionRule]) -> _FileRules:
        """Return a matcher for deny or ask rules of the file tools that name files.

        A rule about all of a tool, such as one that denies Write, leaves the workspace alone.

        Raises:
            RuleError: One of the contents is no path pattern.
        """
        named = [rule for rule in rules if rule.rule_content is not None]
        return _FileRules(self, PathRules(named, compile=self._files.index) if named else None)

    def directories_of_files(self, context: PermissionContext) -> tuple[Location, ...]:
        """Return the directories that the patterns of the file tools are relative to."""
        return super().working_directories(context)

    async def work(self, work: Callable[[], ResultT]) -> ResultT:
        """Do blocking work in a thread; a write that has begun ends."""
        return await self._files.work(lambda *_: work())


class _FileRules:
    """Rules of the file tools, for the file of a call on the workspace."""

    def __init__(self, tool: WorkspaceTool, rules: PathRules | None) -> None:
        self._tool = tool
        self._rules = rules

    def match(self, call: PreparedPath) -> RuleMatch | None:
        """Return the rule that matches the file, or None."""
        location = call.location
        if self._rules is None or isinstance(location, PathError):
            return None
        directories = self._tool.directories_of_files(call.context)
        rule = self._rules.match(location, directories)
        return None if rule is None else RuleMatch(rule)


def done(text: str, metadata: dict[str, Any], note: str = "") -> ToolChunk:
    """Return the result of a successful call; a note follows its text on a line of its own."""
    return ToolChunk(
        content=[TextBlock(text=f"{text}\n{note}" if note else text)],
        state=ToolResultState.SUCCESS,
        metadata=metadata,
    )
