"""Defines the tools for an agent's list of tasks: create, get, list and update."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from agentscope_like.exception import ToolArgumentError
from agentscope_like.message import TextBlock, ToolChunk, ToolResultState
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
)
from agentscope_like.state import AgentState, Task
from agentscope_like.tool.base import ParamsBase, ToolBase
from agentscope_like.tool.builtin.planning.task_graph import (
    Link,
    add_task,
    check_links,
    delete_task,
    find_task,
    link,
    release,
)

__all__ = ["TaskCreate", "TaskGet", "TaskList", "TaskUpdate"]


class _CreateParams(ParamsBase):
    subject: str
    description: str
    metadata: dict[str, Any] | None = None


class _GetParams(ParamsBase):
    task_id: str


class _ListParams(ParamsBase):
    pass


class _UpdateParams(ParamsBase):
    task_id: str
    subject: str | None = None
    description: str | None = None
    add_blocks: list[str] | None = None
    status: Literal["pending", "in_progress", "completed", "deleted"] | None = None
    add_blocked_by: list[str] | None = None
    owner: str | None = None
    metadata: dict[str, Any] | None = None


class _TaskTool(ToolBase):
    """The base of the four tools, which change only the agent's own list of tasks."""

    is_concurrency_safe = True
    is_read_only = False
    is_state_injected = True
    touches_only_agent_state: ClassVar[bool] = True

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Allow every call (seed 002, "Plan Tools")."""
        del tool_input, context
        return PermissionDecision(
            PermissionBehavior.ALLOW, f"{self.name} touches only the agent's own list of tasks."
        )


class TaskCreate(_TaskTool):
    """Adds a task to the list."""

    name = "TaskCreate"
    description = (
        "Add a task to your task list, to plan and track work of several steps.\n"
        "subject: what to do, in a few words. description: what is needed and when it is done. "
        "metadata: any further facts, as an object.\n"
        "The new task is pending, and waits for no other; use TaskUpdate to change that."
    )
    input_schema = _CreateParams.model_json_schema()

    async def call(
        self,
        _agent_state: AgentState,
        subject: str,
        description: str,
        metadata: dict[str, Any] | None = None,
    ) -> ToolChunk:
        """Add the task; the result names its id."""
        if not subject.strip():
            return _refusal("A task needs a subject: say in a few words what is to be done.")
        task = add_task(_agent_state.tasks_context, subject, description, metadata or {})
        return _result(f"Created task #{task.id}: {task.subject}")


class TaskGet(_TaskTool):
    """Shows one task."""

    name = "TaskGet"
    description = "Show one task of your task list in full. task_id: its id, such as 1."
    input_schema = _GetParams.model_json_schema()
    is_read_only = True

    async def call(self, task_id: str, _agent_state: AgentState) -> ToolChunk:
        """Return everything about the task."""
        try:
            return _result(_in_full(find_task(_agent_state.tasks_context, task_id)))
        except ToolArgumentError as error:
            return _refusal(error.message)


class TaskList(_TaskTool):
    """Shows all tasks."""

    name = "TaskList"
    description = (
        "Show your task list: id, status, subject and owner of each task, and the open tasks that "
        "it waits for. Work next on a pending task that waits for none."
    )
    input_schema = _ListParams.model_json_schema()
    is_read_only = True

    async def call(self, _agent_state: AgentState) -> ToolChunk:
        """Return one line for each task."""
        tasks = _agent_state.tasks_context.tasks
        return _result("\n".join(_in_short(task) for task in tasks) or "There are no tasks.")


class TaskUpdate(_TaskTool):
    """Changes one task."""

    name = "TaskUpdate"
    description = (
        "Change one task of your task list; what you leave out stays as it is.\n"
        "task_id: its id. status: `in_progress` when you begin, `completed` only when it is wholly "
        "done (tasks that waited for it no longer do), `deleted` to remove it. add_blocks: ids of "
        "tasks that must wait for this one. add_blocked_by: ids of tasks that this one must wait "
        "for. subject, description: new texts. owner: who works on it. metadata: an object that is "
        "merged in; null deletes a key."
    )
    input_schema = _UpdateParams.model_json_schema()

    async def call(
        self,
        _agent_state: AgentState,
        task_id: str,
        subject: str | None = None,
        description: str | None = None,
        add_blocks: list[str] | None = None,
        status: Literal["pending", "in_progress", "completed", "deleted"] | None = None,
        add_blocked_by: list[str] | None = None,
        owner: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> ToolChunk:
        """Change the task; if a part of the change is refused, change nothing."""
        tasks = _agent_state.tasks_context
        try:
            task = find_task(tasks, task_id)
            if status == "deleted":
                return _result(f"Deleted task #{task.id}." + _freed(delete_task(tasks, task)))
            links = [(task, find_task(tasks, other)) for other in add_blocks or ()]
            links += [(find_task(tasks, other), task) for other in add_blocked_by or ()]
            states = {one.id: one.state for one in tasks.tasks} | {task.id: status or task.state}
            links, notes = _open_links(links, states)
            check_links(tasks, links)
            if subject is not None and not subject.strip():
                raise ToolArgumentError("A task needs a subject; leave it out to keep it.")
        except ToolArgumentError as error:
            return _refusal(error.message)
        changed = _set_fields(
            task, subject=subject, description=description, owner=owner, state=status
        )
        if metadata is not None:
            _merge(task.metadata, metadata)
        freed = _freed(release(tasks, task)) if status == "completed" else ""
        for blocker, blocked in links:
            link(blocker, blocked)
        if not (changed or metadata or links or notes):
            return _result(f"Nothing to change was given for task #{task.id}.")
        return _result(" ".join([f"Updated {_in_short(task)}.{freed}", *notes]))


def _open_links(links: Sequence[Link], states: Mapping[str, str]) -> tuple[list[Link], list[str]]:
    """Return the links to create, and notes on links to completed tasks, which are not needed."""
    open_, notes = [], []
    for blocker, blocked in links:
        if states[blocker.id] != "completed" or blocker is blocked:
            open_.append((blocker, blocked))
        else:
            notes.append(f"#{blocked.id} need not wait for #{blocker.id}, which is completed.")
    return open_, notes


def _set_fields(task: Task, **given: str | None) -> bool:
    changed = {name: value for name, value in given.items() if value is not None}
    for name, value in changed.items():
        setattr(task, name, value)
    return bool(changed)


def _merge(known: dict[str, Any], given: dict[str, Any]) -> None:
    for key, value in given.items():
        if value is None:
            known.pop(key, None)
        else:
            known[key] = value


def _freed(tasks: Sequence[Task]) -> str:
    open_ = [f"#{task.id}" for task in tasks if task.state != "completed"]
    return f" Waiting for nothing now: {', '.join(open_)}." if open_ else ""


def _in_short(task: Task) -> str:
    owner = f" (owner: {task.owner})" if task.owner else ""
    waits = f", waits for {_ids(task.blocked_by)}" if task.blocked_by else ""
    return f"#{task.id} [{task.state}] {task.subject}{owner}{waits}"


def _in_full(task: Task) -> str:
    lines = [_in_short(task), f"Description: {task.description}"]
    if task.blocks:
        lines.append(f"Blocks: {_ids(task.blocks)}")
    if task.metadata:
        lines.append(f"Metadata: {json.dumps(task.metadata, ensure_ascii=False, default=str)}")
    return "\n".join(lines)


def _ids(task_ids: Sequence[str]) -> str:
    return ", ".join(f"#{task_id}" for task_id in task_ids)


def _result(text: str) -> ToolChunk:
    return ToolChunk(content=[TextBlock(text=text)])


def _refusal(text: str) -> ToolChunk:
    return ToolChunk(content=[TextBlock(text=text)], state=ToolResultState.ERROR)
