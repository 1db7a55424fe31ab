"""Decides what becomes of the changes of a held run, shows them to a person and applies them."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.held.applying import (
        AppliedChanges,
        apply_changes,
        settle_layer,
        undo_budget,
    )
    from agentscope_like.tool.builtin.held.held_commands import (
        ChangesResult,
        HeldCommand,
        HeldCommands,
    )
    from agentscope_like.tool.builtin.held.held_start import HeldStart
    from agentscope_like.tool.builtin.held.hidden_files import HiddenFiles, hidden_by_rules
    from agentscope_like.tool.builtin.held.holdable_command import (
        HoldableCommand,
        UndoableHoldableCommand,
    )
    from agentscope_like.tool.builtin.held.outcome import (
        HeldChanges,
        Outcome,
        PathReason,
        Verdict,
        judge_outcome,
        judge_under_all,
    )
    from agentscope_like.tool.builtin.held.question import HeldQuestion, held_question
    from agentscope_like.tool.builtin.held.temporary_directory import kept_by_checkpoints

__all__ = [
    "AppliedChanges",
    "ChangesResult",
    "HeldChanges",
    "HeldCommand",
    "HeldCommands",
    "HeldQuestion",
    "HeldStart",
    "HiddenFiles",
    "HoldableCommand",
    "Outcome",
    "PathReason",
    "UndoableHoldableCommand",
    "Verdict",
    "apply_changes",
    "held_question",
    "hidden_by_rules",
    "judge_outcome",
    "judge_under_all",
    "kept_by_checkpoints",
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
        "ChangesResult": "held_commands",
        "HeldStart": "held_start",
        "HiddenFiles": "hidden_files",
        "HoldableCommand": "holdable_command",
        "UndoableHoldableCommand": "holdable_command",
        "HeldQuestion": "question",
        "Outcome": "outcome",
        "PathReason": "outcome",
        "Verdict": "outcome",
        "apply_changes": "applying",
        "held_question": "question",
        "hidden_by_rules": "hidden_files",
        "judge_outcome": "outcome",
        "judge_under_all": "outcome",
        "kept_by_checkpoints": "temporary_directory",
        "settle_layer": "applying",
        "undo_budget": "applying",
    },
)
