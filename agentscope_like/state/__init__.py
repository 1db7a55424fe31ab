"""What is saved of an agent so that it can go on later, elsewhere."""

from agentscope_like.state.agent import (
    AgentState,
    ChildContext,
    ChildStatus,
    ChildTask,
    ReplyContext,
)
from agentscope_like.state.read import ReadCacheEntry, ReadState, ToolContext
from agentscope_like.state.task import Task, TaskContext

__all__ = [
    "AgentState",
    "ChildContext",
    "ChildStatus",
    "ChildTask",
    "ReadCacheEntry",
    "ReadState",
    "ReplyContext",
    "Task",
    "TaskContext",
    "ToolContext",
]
