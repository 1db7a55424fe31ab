"""Holds a child's calls to what its parents allow as well."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable

from agentscope_like.exception import RecoverableToolError
from agentscope_like.permission import PermissionContext, PermissionDecision, PermissionEngine
from agentscope_like.state import AgentState, ChildTask
from agentscope_like.tool import CallRequest, DecisionLayer
from agentscope_like.tool.arguments import copied

__all__ = ["decided_under", "narrow_directories", "refused_after"]

_GoOn = Callable[[CallRequest], Awaitable[PermissionDecision]]


def decided_under(parent: AgentState) -> DecisionLayer:
    """Return a layer that decides each call under a parent's context too; the stricter one holds.

    The context is read anew for each decision. Rules that a person adds with an answer to a child
    are the child's alone.

    Args:
        parent: The state of the parent.
    """

    async def decided(request: CallRequest, go_on: _GoOn) -> PermissionDecision:
        await go_on(request)  # what is stricter of the two holds, as of every layer
        engine = PermissionEngine(parent.permission_context, request.state)
        return await engine.check_permission(request.tool, copied(request.arguments))

    return decided


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
