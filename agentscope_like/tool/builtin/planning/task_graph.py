"""Changes the list of tasks, and keeps dependencies symmetric and free of cycles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from agentscope_like.exception import ToolArgumentError
from agentscope_like.state import Task, TaskContext

__all__ = ["Link", "add_task", "check_links", "delete_task", "find_task", "link", "release"]

Link: TypeAlias = tuple[Task, Task]
"""A task, and one that waits for it."""


def find_task(context: TaskContext, task_id: str) -> Task:
    """Return the task with this id, which may be written as `#1` as well.

    Raises:
        ToolArgumentError: There is none; the message lists the ids.
    """
    task = context.find(task_id) or context.find(task_id.strip().removeprefix("#"))
    if task is None:
        listed = ", ".join(f"#{task.id}" for task in context.tasks) or "none"
        raise ToolArgumentError(f"There is no task {task_id!r}. Tasks: {listed}.")
    return task


def add_task(
    context: TaskContext, subject: str, description: str, metadata: Mapping[str, Any]
) -> Task:
    """Add a task and return it; ids count up and are never reused."""
    while context.find(str(context.next_id)) is not None:
        context.next_id += 1
    task = Task(
        id=str(context.next_id), subject=subject, description=description, metadata=dict(metadata)
    )
    context.next_id += 1
    context.tasks.append(task)
    return task


def delete_task(context: TaskContext, task: Task) -> list[Task]:
    """Remove the task and every link to it; return the tasks that no longer wait."""
    freed = release(context, task)
    for other in context.tasks:
        _drop(other.blocks, task.id)
    context.tasks.remove(task)
    return freed


def release(context: TaskContext, task: Task) -> list[Task]:
    """Remove the links of tasks that wait for this one; return those that no longer wait."""
    task.blocks.clear()
    waited = [other for other in context.tasks if _drop(other.blocked_by, task.id)]
    return [other for other in waited if not other.blocked_by]


def check_links(context: TaskContext, links: Sequence[Link]) -> None:
    """Refuse links that would make a task wait for itself, directly or through others.

    Raises:
        ToolArgumentError: Names the tasks that would wait for each other in a circle.
    """
    waiting = {task.id: list(task.blocks) for task in context.tasks}
    for blocker, blocked in links:
        if blocker is blocked:
            raise ToolArgumentError(f"#{blocked.id} cannot wait for itself; nothing was changed.")
        first, *others = [f"#{task_id}" for task_id in _waiters(waiting, blocked.id, blocker.id)]
        if others:
            raise ToolArgumentError(
                f"#{blocked.id} cannot wait for #{blocker.id}: {first} waits for "
                f"{', which waits for '.join(others)}. Nothing was changed."
            )
        waiting[blocker.id].append(blocked.id)


def link(blocker: Task, blocked: Task) -> None:
    """Let one task wait for another, unless it does already."""
    if blocked.id not in blocker.blocks:
        blocker.blocks.append(blocked.id)
    if blocker.id not in blocked.blocked_by:
        blocked.blocked_by.append(blocker.id)


def _waiters(waiting: Mapping[str, Sequence[str]], first: str, last: str) -> list[str]:
    """Return the chain of dependencies from `last` down to `first`, or `last` alone."""
    waits_for: dict[str, str] = {}
    queue = [first]
    for task_id in queue:
        for waiter in waiting.get(task_id, ()):
            if waiter not in waits_for:
                waits_for[waiter] = task_id
                queue.append(waiter)
    chain = [last]
    while chain[-1] in waits_for and chain[-1] != first:
        chain.append(waits_for[chain[-1]])
    return chain


def _drop(ids: list[str], task_id: str) -> bool:
    if task_id not in ids:
        return False
    ids.remove(task_id)
    return True
