"""Works on child tasks: makes their agents, follows their replies, and keeps their results."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from contextlib import aclosing, closing, nullcontext
from pathlib import PurePosixPath
from typing import Any, TypeAlias

from agentscope_like.agent import Agent, AgentInput
from agentscope_like.delegation import Delegator, ResultFiles
from agentscope_like.event import (
    AgentEvent,
    ExternalExecutionResultEvent,
    RequireExternalExecutionEvent,
    RequireUserConfirmEvent,
    UserConfirmResultEvent,
    UserInterruptEvent,
)
from agentscope_like.exception import ConfigurationError, DeveloperOrientedException
from agentscope_like.journal import Journal
from agentscope_like.middleware import MiddlewareBase
from agentscope_like.profile import Account, Profile, WorkspacePolicy
from agentscope_like.runs.agent_run import AgentRun
from agentscope_like.runs.child_outcome import cancelled, end, failed, outcome
from agentscope_like.runs.inherited import InheritedPolicy, narrow_directories, refused_after
from agentscope_like.state import AgentState, ChildTask
from agentscope_like.tool import Toolkit

__all__ = ["ANSWERS", "AgentMaker", "ChildWorker", "is_visible"]

AgentMaker: TypeAlias = Callable[[Profile, AgentState | None, Account], Agent]
"""Returns the agent of a profile, which goes on from the state, or begins with one of its own.

It has tools of its own, which are closed when it ends or waits. Its calls are held to the profile
and taken from the account, which is given for tools that take characters from it.
"""

ANSWERS = (UserConfirmResultEvent, ExternalExecutionResultEvent, UserInterruptEvent)
"""Inputs that answer an agent which waits."""

_Question: TypeAlias = RequireUserConfirmEvent | RequireExternalExecutionEvent
_QUESTIONS = (RequireUserConfirmEvent, RequireExternalExecutionEvent)

_log = logging.getLogger(__name__)


class ChildWorker:
    """Works on the tasks that one agent gives to others.

    Args:
        delegator: That agent, and the others.
        make: Makes the agents of tasks.
        policies: Those of the agents above a child, under which each of its calls is decided.
        middleware: Returns the `Children` of a child's agent.
        results: Keeps the results in files.
        journal_of: Opens the journal of a task.
    """

    def __init__(
        self,
        delegator: Delegator,
        make: AgentMaker,
        policies: Sequence[InheritedPolicy],
        middleware: Callable[[ChildTask, Delegator], MiddlewareBase],
        results: ResultFiles | None,
        journal_of: Callable[[ChildTask], Journal] | None,
    ) -> None:
        self._delegator = delegator
        self._make = make
        self._policies = tuple(policies)
        self._middleware = middleware
        self._results = results
        self._journal_of = journal_of

    async def work(
        self,
        task: ChildTask,
        inputs: AgentInput,
        parent: AgentState,
        tell: Callable[[AgentEvent], None],
    ) -> None:
        """Work on a task until it ends or waits.

        Args:
            task: The task.
            inputs: What its agent is told, or the answer to what it waits for.
            parent: The state of the agent that gave the task.
            tell: Passes a question of the child on.

        Raises:
            DeveloperOrientedException: The agent refuses the answer; nothing was done.
        """
        status, task.status = task.status, "running"
        reply = _ChildStream(task, tell)
        try:
            with closing(self._journal_of(task)) if self._journal_of else nullcontext() as journal:
                run = self._run_of(task, parent, journal)
                try:
                    await reply.follow(run, inputs)
                finally:
                    await _finished(run.agent.close(), "closing the agent of a child task failed")
            if reply.result is not None and reply.result["status"] != "cancelled":
                await self._keep(task, reply.result)
        except asyncio.CancelledError:
            reply.result = reply.result or cancelled()
            raise
        except DeveloperOrientedException as error:
            if isinstance(inputs, ANSWERS) and not reply.has_begun:
                task.status = status
                raise
            reply.result = failed(error.message)
        except Exception as error:
            _log.warning("child task %s failed", task.id, exc_info=error)
            reply.result = failed(f"{type(error).__name__}: {error}")
        finally:
            if reply.result is not None:
                end(task, reply.result)
            elif task.status == "running":
                task.status = "waiting"

    def _run_of(self, task: ChildTask, parent: AgentState, journal: Journal | None) -> AgentRun:
        """Return the run of a task, held to what those above it may do."""
        target = self._delegator.agents.get(task.agent)
        if target is None:
            raise ConfigurationError(f"there is no agent {task.agent!r} any more")
        target = _within_limits(target, self._delegator.profile, task)
        account = Account(
            task.max_calls,
            target.tools.max_calls_per_tool,
            most_characters=target.skills.max_read_chars_per_run,
            within=self._delegator.account,
            spent=task.calls,
        )
        agent = self._make(target, task.state, account)
        if task.state is None:
            narrow_directories(agent.state.permission_context, parent.permission_context)
            task.state = agent.state
        agent.toolkit = self._limited(agent.toolkit, task)
        below = self._delegator.below(target, account)
        agent.middlewares = (*agent.middlewares, self._middleware(task, below))
        return AgentRun(agent, target, account=account, journal=journal, run_id=task.id)

    def _limited(self, toolkit: Toolkit, task: ChildTask) -> Toolkit:
        layers = [refused_after(task), *(policy.decide for policy in self._policies)]
        checks = [policy.run for policy in self._policies]
        return toolkit.limited(run_layers=checks).within_layers(layers)

    async def _keep(self, task: ChildTask, result: dict[str, Any]) -> None:
        if self._results is None:
            return
        try:
            result["files"] = await asyncio.to_thread(self._results.keep, task, result)
        except OSError as error:
            warnings = [*result.get("warnings", ()), f"The result could not be kept: {error}"]
            result["warnings"] = warnings


class _ChildStream:
    """One stream of a child's run."""

    def __init__(self, task: ChildTask, tell: Callable[[AgentEvent], None]) -> None:
        self._task = task
        self._tell = tell
        self.has_begun = False
        self.result: dict[str, Any] | None = None

    async def follow(self, run: AgentRun, inputs: AgentInput) -> None:
        """Listen to the run until it is over or waits."""
        try:
            async with aclosing(run.stream(inputs)) as events:
                async for event in events:
                    self.has_begun = True
                    self._task.calls = run.account.spent
                    if isinstance(event, _QUESTIONS):
                        self._tell(self._named(event))
            self.result = outcome(self._task, run)
        finally:
            self._task.calls = run.account.spent

    def _named(self, event: _Question) -> AgentEvent:
        path = [{"taskId": self._task.id, "agentId": self._task.agent}]
        path += event.metadata.get("child_tasks", [])
        return event.model_copy(update={"metadata": {**event.metadata, "child_tasks": path}})


def is_visible(policy: WorkspacePolicy, path: str) -> bool:
    """Return whether a path names something in a visible root of the workspace."""
    parts = PurePosixPath(path).parts
    return len(parts) > 1 and parts[0] in policy.visible_roots and ".." not in parts


def _within_limits(target: Profile, parent: Profile, task: ChildTask) -> Profile:
    """Return a child's profile with its task's rounds, and the roots that its parent has too."""
    own, above = target.workspace, parent.workspace
    visible = tuple(root for root in own.visible_roots if root in above.visible_roots)
    writable = tuple(r for r in visible if own.takes_writes(r) and above.takes_writes(r))
    return target.model_copy(
        update={
            "workspace": WorkspacePolicy(visible_roots=visible, writable_roots=writable),
            "tools": target.tools.model_copy(update={"max_rounds": task.max_rounds}),
        }
    )


async def _finished(work: Coroutine[Any, Any, None], failure: str) -> None:
    """Wait until the work has ended, even if this is cancelled meanwhile."""
    task = asyncio.create_task(work)
    was_cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            was_cancelled = error
    if (raised := task.exception()) is not None:
        _log.warning(failure, exc_info=raised)
    if was_cancelled is not None:
        raise was_cancelled
