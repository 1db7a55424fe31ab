"""Shows and replaces the list of tasks in the agent's state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from typing_extensions import override

from agentscope_like.state import AgentState, Task, TaskContext
from agentscope_like.tool.builtin.planning import add_task, delete_task, release
from agentscope_like.typed.executor import ToolConversation, ToolExecutor
from agentscope_like.typed.tools.task_tracker.definition import (
    TaskItem,
    TaskTrackerAction,
    TaskTrackerObservation,
)

__all__ = ["TaskTrackerExecutor"]

Status = Literal["todo", "in_progress", "done"]
State = Literal["pending", "in_progress", "completed"]

_STATES: Mapping[Status, State] = {
    "todo": "pending",
    "in_progress": "in_progress",
    "done": "completed",
}
_STATUSES: Mapping[State, Status] = {state: status for status, state in _STATES.items()}


class TaskTrackerExecutor(ToolExecutor[TaskTrackerAction, TaskTrackerObservation]):
    """Works on the list of the session that calls.

    Args:
        state: The state of the agent, where the executor is called outside of a session.
    """

    inline = True

    def __init__(self, state: AgentState | None = None) -> None:
        self._state = AgentState() if state is None else state

    @override
    def __call__(
        self, action: TaskTrackerAction, conversation: ToolConversation | None = None
    ) -> TaskTrackerObservation:
        """Show the list, after it was replaced if that was asked for."""
        state = self._state if conversation is None else conversation.state
        tasks = state.tasks_context
        if action.command == "plan":
            _replace(tasks, action.task_list)
        listed = tuple(_item(task) for task in tasks.tasks)
        text = "\n".join(map(_line, listed)) or "There are no tasks. Use `plan` to list some."
        return TaskTrackerObservation.from_text(text, task_list=listed)


def _replace(context: TaskContext, wanted: tuple[TaskItem, ...]) -> None:
    """Make the list what is wanted; a task that keeps its title keeps its id and its links."""
    titles = {item.title for item in wanted}
    known: dict[str, Task] = {}
    for task in list(context.tasks):
        if task.subject not in titles or task.subject in known:
            delete_task(context, task)
        else:
            known[task.subject] = task
    for item in wanted:
        task = known.get(item.title) or add_task(context, item.title, item.notes, {})
        known[item.title] = task
        task.description, task.state = item.notes, _STATES[item.status]
        if task.state == "completed":
            release(context, task)
    context.tasks[:] = [known[item.title] for item in wanted]


def _item(task: Task) -> TaskItem:
    return TaskItem(title=task.subject, notes=task.description, status=_STATUSES[task.state])


def _line(item: TaskItem) -> str:
    notes = f" ({item.notes})" if item.notes else ""
    return f"[{item.status}] {item.title}{notes}"
