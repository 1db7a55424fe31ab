"""Decides what becomes of what a held run changed."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.contained.outcome import (
        HeldChanges,
        Outcome,
        PathReason,
        Verdict,
        judge_outcome,
    )

__all__ = ["HeldChanges", "Outcome", "PathReason", "Verdict", "judge_outcome"]

__getattr__ = on_first_use(
    __name__,
    {
        "HeldChanges": "outcome",
        "Outcome": "outcome",
        "PathReason": "outcome",
        "Verdict": "outcome",
        "judge_outcome": "outcome",
    },
)
