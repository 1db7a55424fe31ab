"""Holds a child's calls to what its parents allow as well."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing
from typing import Any

from agentscope_like.exception import GrantError, RecoverableToolError
from agentscope_like.message import ApplyQuestion, ToolChunk, ToolResponse
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
)
from agentscope_like.state import AgentState, ChildTask
from agentscope_like.tool import CallRequest, DecisionLayer, Grant, HoldingTool, ToolBase
from agentscope_like.tool.arguments import copied

__all__ = ["InheritedPolicy", "narrow_directories", "refused_after"]

_GoOn = Callable[[CallRequest], Awaitable[PermissionDecision]]
_Items = AsyncGenerator[ToolChunk | ToolResponse, None]


class InheritedPolicy:
    """Decides a child's calls under a parent's context too; the stricter decision holds.

    The context is read anew for each decision. Rules that a person adds with an answer to a child
    are the child's alone.

    Args:
        parent: The state of the parent.
    """

    def __init__(self, parent: AgentState) -> None:
        self._parent = parent
        self._decided_by: dict[str, tuple[Any, ...]] = {}

    async def decide(self, request: CallRequest, go_on: _GoOn) -> PermissionDecision:
        """Return the decision under the parent's context; a layer never loosens another's."""
        await go_on(request)
        context = self._parent.permission_context
        self._decided_by[request.call.id] = context.policy_key
        engine = PermissionEngine(context, request.state)
        return await engine.check_permission(request.tool, copied(request.arguments))

    async def run(self, grant: Grant, state: AgentState, run: _Items) -> _Items:
        """Refuse a granted call if the parent's policy has changed since its decision.

        Raises:
            GrantError: It has.
        """
        del state
        context = self._parent.permission_context
        if grant.held_call is not None:
            grant.held_call.contexts.append(context)
        async with aclosing(run) as items:
            if grant.apply is not None:
                await self._check_changes(grant.tool, grant.apply)
            elif self._decided_by.pop(grant.call_id, None) != context.policy_key:
                raise GrantError("the permission context of a parent has changed: decide again")
            async for item in items:
                yield item

    async def _check_changes(self, tool: ToolBase, question: ApplyQuestion) -> None:
        """Refuse the changes of a held run that the parent's policy denies.

        Raises:
            GrantError: It does.
        """
        if isinstance(tool, HoldingTool):
            decision = await tool.judge_changes(question, self._parent)
            if decision.behavior is not PermissionBehavior.DENY:
                return
        raise GrantError("the policy of a parent does not let the changes be applied")


def refused_after(task: ChildTask) -> DecisionLayer:
    """Return a layer that refuses calls after the task has returned its result.

    Args:
        task: The task.
    """

    async def decided(request: CallRequest, go_on: _GoOn) -> PermissionDecision:
        if task.result is not None:
            raise RecoverableToolError(
                "agent.task_already_finished",
                "this task has returned its result: this call did not run",
            )
        return await go_on(request)

    return decided


def narrow_directories(context: PermissionContext, parent: PermissionContext) -> None:
    """Leave a child those of its working directories that lie in its parent's, and the reverse.

    Where either names none, or they have nothing in common, the child keeps its own: what the
    parent's context does not cover is asked about anyway.
    """
    own, above = context.working_directories, parent.working_directories
    narrowed = {path: one for path, one in own.items() if _lies_in(path, above)}
    narrowed |= {path: one for path, one in above.items() if _lies_in(path, own)}
    if narrowed:
        context.working_directories = narrowed


def _lies_in(path: str, directories: Iterable[str]) -> bool:
    real = os.path.realpath(path)
    return any(
        os.path.commonpath([real, root]) == root for root in map(os.path.realpath, directories)
    )
