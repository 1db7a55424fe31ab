"""Provides the Glob and Grep tools."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.search.glob import Glob
    from agentscope_like.tool.builtin.search.grep import Grep

__all__ = ["Glob", "Grep"]

__getattr__ = on_first_use(__name__, {"Glob": "glob", "Grep": "grep"})
