"""Decides what becomes of the changes of a held run, and shows them to a person."""

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
    from agentscope_like.tool.builtin.contained.question import HeldQuestion, held_question

__all__ = [
    "HeldChanges",
    "HeldQuestion",
    "Outcome",
    "PathReason",
    "Verdict",
    "held_question",
    "judge_outcome",
]

__getattr__ = on_first_use(
    __name__,
    {
        "HeldChanges": "outcome",
        "HeldQuestion": "question",
        "Outcome": "outcome",
        "PathReason": "outcome",
        "Verdict": "outcome",
        "held_question": "question",
        "judge_outcome": "outcome",
    },
)
