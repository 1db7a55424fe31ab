"""The agent's list of tasks."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agentscope_like.message.block import new_id, now
from agentscope_like.permission.text import Facts, Text

__all__ = ["Task", "TaskContext"]


class Task(BaseModel):
    """One piece of work, and which others it waits for.

    Attributes:
        blocks: Ids of the tasks that wait for this one.
        blocked_by: Ids of the tasks that this one waits for.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid")

    subject: Text
    description: Text
    metadata: Facts
    created_at: str = Field(default_factory=now)
    state: Literal["pending", "in_progress", "completed"] = "pending"
    id: str = Field(default_factory=new_id)
    owner: Text | None = None
    blocks: list[str] = Field(default_factory=list)
    blocked_by: list[str] = Field(default_factory=list)


class TaskContext(BaseModel):
    """All tasks of a session, in the order in which they were created."""

    model_config = ConfigDict(defer_build=True, extra="forbid")

    tasks: list[Task] = Field(default_factory=list)
    next_id: int = 1

    def find(self, task_id: str) -> Task | None:
        """Return the task of this id, or None."""
        return next((task for task in self.tasks if task.id == task_id), None)
