"""Provides `GrepTool`."""

from agentscope_like.typed.tools.grep.definition import (
    GrepAction,
    GrepObservation,
    GrepTool,
)

__all__ = ["GrepAction", "GrepObservation", "GrepTool"]
