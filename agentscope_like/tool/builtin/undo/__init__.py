"""Provides the tools that list checkpoints and restore files."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.undo.checkpoints import Checkpoints
    from agentscope_like.tool.builtin.undo.restore import Restore
    from agentscope_like.tool.builtin.undo.settling import settle_restorations

__all__ = ["Checkpoints", "Restore", "settle_restorations"]

__getattr__ = on_first_use(
    __name__,
    {"Checkpoints": "checkpoints", "Restore": "restore", "settle_restorations": "settling"},
)
