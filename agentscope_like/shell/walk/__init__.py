"""Walks the tree of a command line and turns commands into parts with effects."""

from __future__ import annotations

from agentscope_like.shell.walk.walk import MAX_PARTS, Walk

__all__ = ["MAX_PARTS", "Walk"]
