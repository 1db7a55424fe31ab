"""The walk over a tree: from commands to parts with effects."""

from __future__ import annotations

from agentscope_like.shell.walk.walk import Walk

__all__ = [
    "Walk",
]
