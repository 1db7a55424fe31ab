"""Defines `TaskTrackerTool`, with which a model keeps a list of tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from typing_extensions import override

from agentscope_like.state import AgentState
from agentscope_like.typed.action import Action
from agentscope_like.typed.annotations import ToolAnnotations
from agentscope_like.typed.observation import Observation
from agentscope_like.typed.tools.ready_made import OwnStateTool

__all__ = ["TaskItem", "TaskTrackerAction", "TaskTrackerObservation", "TaskTrackerTool"]


class TaskItem(BaseModel):
    """One task of the list."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    title: str = Field(min_length=1, description="What to do, in a few words.")
    notes: str = Field(default="", description="What else there is to know.")
    status: Literal["todo", "in_progress", "done"] = Field(
        default="todo", description="How far it is."
    )


class TaskTrackerAction(Action):
    """Shows the list, or replaces it."""

    command: Literal["view", "plan"] = Field(
        default="view", description="`view` shows the list; `plan` replaces it by `task_list`."
    )
    task_list: tuple[TaskItem, ...] = Field(
        default=(), description="The whole list, for `plan`; what is left out is removed."
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.command == "view" and self.task_list:
            raise ValueError("`view` takes no `task_list`; use `plan` to replace the list")
        titles = [task.title for task in self.task_list]
        if len(set(titles)) != len(titles):
            raise ValueError("two tasks of `task_list` have one title: give each its own")
        return self


class TaskTrackerObservation(Observation):
    """The list as it is now.

    Attributes:
        task_list: The tasks.
    """

    task_list: tuple[TaskItem, ...] = ()


class TaskTrackerTool(OwnStateTool[TaskTrackerAction, TaskTrackerObservation]):
    """Keeps the session's list of tasks, the same that TaskCreate and its sisters keep."""

    description = (
        "Keeps the list of your tasks, for work of several steps. `plan` replaces the whole list: "
        "give every task that is to stay, with its status, and one that is `in_progress`. `view` "
        "shows the list."
    )
    annotations = ToolAnnotations(
        title="Task list",
        readOnlyHint=False,
        destructiveHint=False,
        idempotentHint=True,
        openWorldHint=False,
    )

    @classmethod
    @override
    def create(cls, conv_state: AgentState | None = None, **params: Any) -> Sequence[Self]:
        """Return the tool."""
        from agentscope_like.typed.tools.task_tracker.impl import TaskTrackerExecutor

        return [cls(executor=TaskTrackerExecutor(conv_state), **params)]
