"""Provides `ThinkTool`."""

from agentscope_like.typed.tools.think.definition import (
    ThinkAction,
    ThinkObservation,
    ThinkTool,
)

__all__ = ["ThinkAction", "ThinkObservation", "ThinkTool"]
