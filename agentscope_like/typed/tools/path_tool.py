"""Defines the base of typed tools whose calls are about one path, as a built-in tool's are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from msgspec import Struct
from typing_extensions import override

from agentscope_like.message import ToolChunk, ToolResultState
from agentscope_like.paths import FileKind, PathError
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionRule,
    RuleMatch,
    rules_of,
)
from agentscope_like.tool.builtin.file_system import PathTool
from agentscope_like.tool.resources import DeclaredResources
from agentscope_like.typed.action import Action
from agentscope_like.typed.effects import Effects
from agentscope_like.typed.executor import ToolConversation, ToolExecutor
from agentscope_like.typed.judging import ActionPart, ActionRules, PreparedAction
from agentscope_like.typed.observation import Observation
from agentscope_like.typed.tools.ready_made import ReadyMadeTool

__all__ = ["PathActionTool", "PathExecutor", "PathWork", "chunk_fields", "decided_path"]

ActionT = TypeVar("ActionT", bound=Action)
ObservationT = TypeVar("ObservationT", bound=Observation)


class PathWork(Struct, frozen=True):
    """What an action is to the built-in tools.

    Attributes:
        tool: The tool that does the work.
        arguments: The arguments with the path.
        twins: Tools that could be called instead: what allows them allows the action.
    """

    tool: PathTool
    arguments: dict[str, Any]
    twins: tuple[PathTool, ...]

    @property
    def effects(self) -> Effects:
        """Return the path that is read, searched or written.

        Of a directory the tools show only what no rule forbids, and no credentials.
        """
        path = (self.tool.path_of(self.arguments),)
        if not self.tool.is_read_only:
            return Effects(writes=path)
        try:
            is_directory = self.tool.locate(self.arguments).kind is FileKind.DIRECTORY
        except PathError:
            is_directory = False
        return Effects(searches=path) if is_directory else Effects(reads=path)


class PathExecutor(ToolExecutor[ActionT, ObservationT]):
    """Works by means of built-in tools."""

    @abstractmethod
    def work_of(self, action: ActionT) -> PathWork:
        """Return what the action is to the built-in tools."""


class PathActionTool(ReadyMadeTool[ActionT, ObservationT]):
    """A ready-made tool whose calls are about one path each.

    They are decided as those of the built-in tools that could be called instead, by the same rules.

    Attributes:
        stands_for: The names of built-in tools; rules that deny or ask about one as a whole hold.
    """

    stands_for: ClassVar[tuple[str, ...]] = ()

    @override
    def effects(self, action: ActionT) -> Effects | None:
        """Return the path that is read or written; None with an executor of another kind."""
        if not isinstance(self.executor, PathExecutor):
            return None
        return self.executor.work_of(action).effects

    @override
    def declared_resources(self, action: ActionT) -> DeclaredResources | None:
        """Return the file that is changed; nothing is said of what only reads."""
        executor = self.executor if self.is_ready_made else None
        if not isinstance(executor, PathExecutor):
            return None
        work = executor.work_of(action)
        return work.tool.resources(work.arguments)

    @override
    async def prepare_call(
        self, tool_input: dict[str, Any], context: PermissionContext, session: object = None
    ) -> PreparedAction:
        """Return the action, its path located for one decision."""
        call = await super().prepare_call(tool_input, context, session)
        executor = self.executor if self.is_ready_made else None
        if call.effects is None or not isinstance(executor, PathExecutor):
            return call
        return _PreparedWork(call, executor.work_of(call.action).twins)

    @override
    def compile_related(self, rules: Sequence[PermissionRule]) -> ActionRules:
        """Return a matcher for deny or ask rules of the file tools.

        Raises:
            RuleError: One of the contents cannot be read.
        """
        return _RulesOfTwins(self.stands_for, rules)


class _PreparedWork(PreparedAction):
    """An action that is allowed where a built-in tool could do it instead."""

    def __init__(self, call: PreparedAction, twins: tuple[PathTool, ...]) -> None:
        super().__init__(
            call.tool,
            call.tool_input,
            call.context,
            action=call.action,
            effects=call.effects,
            parts=call.parts,
        )
        self._twins = twins

    @override
    async def _is_allowed(self, part: ActionPart, said: PermissionDecision) -> bool:
        if await super()._is_allowed(part, said):
            return True
        for twin in self._twins:
            found = await rules_of(twin, PermissionBehavior.ALLOW, self.context).find(part.call)
            if found is not None and found.certain:
                return True
        return False


class _RulesOfTwins(ActionRules):
    """Deny or ask rules of built-in tools; one about a tool that is stood for is whole."""

    def __init__(self, stands_for: Sequence[str], rules: Sequence[PermissionRule]) -> None:
        super().__init__(rules)
        whole = (r for r in rules if r.rule_content is None and r.tool_name in stands_for)
        self._stood_for = next(whole, None)

    @override
    def match(self, call: PreparedAction) -> RuleMatch | None:
        """Return the rule that matches the action, else one that may, else None."""
        whole = self._stood_for
        return super().match(call) if whole is None else RuleMatch(whole)


def decided_path(conversation: ToolConversation | None) -> str | None:
    """Return where the path led when the call was decided; None without a decision."""
    parts = () if conversation is None else conversation.prepared.parts
    return parts[0].call.basis() if parts else None


def chunk_fields(chunk: ToolChunk) -> dict[str, Any]:
    """Return the fields of an observation that says what a built-in tool's result says."""
    return {"content": tuple(chunk.content), "is_error": chunk.state is ToolResultState.ERROR}
