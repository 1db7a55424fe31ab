"""Provides the tools with which a model manages its tasks and the tools that it sees."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.planning.expand_tools import EXPANDER, ToolExpandTools
    from agentscope_like.tool.builtin.planning.reset_tools import ResetTools
    from agentscope_like.tool.builtin.planning.task_graph import add_task, delete_task, release
    from agentscope_like.tool.builtin.planning.task_tools import (
        TaskCreate,
        TaskGet,
        TaskList,
        TaskUpdate,
    )

__all__ = [
    "EXPANDER",
    "ResetTools",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskUpdate",
    "ToolExpandTools",
    "add_task",
    "delete_task",
    "release",
]

__getattr__ = on_first_use(
    __name__,
    {
        "EXPANDER": "expand_tools",
        "ResetTools": "reset_tools",
        "TaskCreate": "task_tools",
        "TaskGet": "task_tools",
        "TaskList": "task_tools",
        "TaskUpdate": "task_tools",
        "ToolExpandTools": "expand_tools",
        "add_task": "task_graph",
        "delete_task": "task_graph",
        "release": "task_graph",
    },
)
