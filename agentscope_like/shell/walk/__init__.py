"""Walks the tree of a command line and turns commands into parts with effects."""

from __future__ import annotations

from agentscope_like.shell.walk.walk import Walk
from agentscope_like.shell.walk.walk_base import MAX_PARTS

__all__ = ["MAX_PARTS", "Walk"]
