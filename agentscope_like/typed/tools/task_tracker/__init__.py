"""Provides `TaskTrackerTool`."""

from agentscope_like.typed.tools.task_tracker.definition import (
    TaskItem,
    TaskTrackerAction,
    TaskTrackerObservation,
    TaskTrackerTool,
)

__all__ = ["TaskItem", "TaskTrackerAction", "TaskTrackerObservation", "TaskTrackerTool"]
