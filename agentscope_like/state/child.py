"""Defines the child tasks of an agent, as they are kept in its state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from agentscope_like.message.block import new_id, now
from agentscope_like.permission.text import Facts, Text

if TYPE_CHECKING:
    from agentscope_like.state.agent import AgentState

__all__ = ["ChildContext", "ChildStatus", "ChildTask"]

ChildStatus: TypeAlias = Literal["running", "waiting", "completed", "failed", "cancelled"]
"""`waiting` is for an answer from outside; the last three are final."""

_FINAL = ("completed", "failed", "cancelled")


class ChildTask(BaseModel):
    """Work that an agent gave to another one.

    Attributes:
        agent: The profile of the agent that does it.
        reply_id: The reply of the parent that it belongs to, and ends with.
        brief: What it is to do: `objective`, and perhaps `title`, `context`, `expectedOutput`.
        max_rounds: The rounds that it may take.
        max_calls: The tool calls that it may make, its own children's included.
        calls: Those that it has made, by tool.
        status: Where it stands.
        result: What it returned, or what became of it; None while it works.
        is_reported: Whether the parent was told of the result.
        state: The agent's state; None once the task has ended.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid")

    id: str = Field(default_factory=lambda: f"task_{new_id()[:16]}")
    agent: Text
    reply_id: str
    brief: Facts
    max_rounds: int = Field(ge=1)
    max_calls: int = Field(ge=0)
    calls: dict[str, int] = Field(default_factory=dict)
    status: ChildStatus = "running"
    result: Facts | None = None
    is_reported: bool = False
    created_at: str = Field(default_factory=now)
    state: AgentState | None = None

    @property
    def is_over(self) -> bool:
        """Return whether the task has ended."""
        return self.status in _FINAL

    def owns(self, reply_id: str) -> bool:
        """Return whether this is a reply of the child, or of a child below it."""
        if self.state is None:
            return False
        return self.state.reply_id == reply_id or self.state.children.owner(reply_id) is not None


class ChildContext(BaseModel):
    """The child tasks that an agent has started, in order."""

    model_config = ConfigDict(defer_build=True, extra="forbid")

    tasks: list[ChildTask] = Field(default_factory=list)

    def of_reply(self, reply_id: str) -> list[ChildTask]:
        """Return the tasks that were started in a reply of the parent."""
        return [task for task in self.tasks if task.reply_id == reply_id]

    def open(self) -> Iterator[ChildTask]:
        """Yield the tasks that have not ended."""
        return (task for task in self.tasks if not task.is_over)

    def owner(self, reply_id: str) -> ChildTask | None:
        """Return the task whose agent, or a child below it, is in this reply."""
        return next((task for task in self.open() if task.owns(reply_id)), None)
