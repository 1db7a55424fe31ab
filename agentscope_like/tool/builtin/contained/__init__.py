"""Decides what becomes of the changes of a held run, shows them to a person and applies them."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.contained.applying import (
        AppliedChanges,
        apply_changes,
        settle_layer,
        undo_budget,
    )
    from agentscope_like.tool.builtin.contained.held_commands import (
        HeldCommand,
        HeldCommands,
        HeldEnd,
    )
    from agentscope_like.tool.builtin.contained.held_start import HeldStart
    from agentscope_like.tool.builtin.contained.holdable_command import (
        HoldableCommand,
        UndoableHoldableCommand,
    )
    from agentscope_like.tool.builtin.contained.outcome import (
        HeldChanges,
        Outcome,
        PathReason,
        Verdict,
        judge_outcome,
    )
    from agentscope_like.tool.builtin.contained.question import HeldQuestion, held_question

__all__ = [
    "AppliedChanges",
    "HeldChanges",
    "HeldCommand",
    "HeldCommands",
    "HeldEnd",
    "HeldQuestion",
    "HeldStart",
    "HoldableCommand",
    "Outcome",
    "PathReason",
    "UndoableHoldableCommand",
    "Verdict",
    "apply_changes",
    "held_question",
    "judge_outcome",
    "settle_layer",
    "undo_budget",
]

__getattr__ = on_first_use(
    __name__,
    {
        "AppliedChanges": "applying",
        "HeldChanges": "outcome",
        "HeldCommand": "held_commands",
        "HeldCommands": "held_commands",
        "HeldEnd": "held_commands",
        "HeldStart": "held_start",
        "HoldableCommand": "holdable_command",
        "UndoableHoldableCommand": "holdable_command",
        "HeldQuestion": "question",
        "Outcome": "outcome",
        "PathReason": "outcome",
        "Verdict": "outcome",
        "apply_changes": "applying",
        "held_question": "question",
        "judge_outcome": "outcome",
        "settle_layer": "applying",
        "undo_budget": "applying",
    },
)
