"""Provides `GlobTool`."""

from agentscope_like.typed.tools.glob.definition import (
    GlobAction,
    GlobObservation,
    GlobTool,
)

__all__ = ["GlobAction", "GlobObservation", "GlobTool"]
