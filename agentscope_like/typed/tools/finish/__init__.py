"""Provides `FinishTool`."""

from agentscope_like.typed.tools.finish.definition import (
    FinishAction,
    FinishObservation,
    FinishTool,
)

__all__ = ["FinishAction", "FinishObservation", "FinishTool"]
