"""Decides what becomes of the changes of a held run, and shows them to a person."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.contained.held_commands import (
        HeldCommand,
        HeldCommands,
        HeldEnd,
    )
    from agentscope_like.tool.builtin.contained.held_start import HeldStart
    from agentscope_like.tool.builtin.contained.hidden_files import HiddenFiles, hidden_by_rules
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
    "HeldChanges",
    "HeldCommand",
    "HeldCommands",
    "HeldEnd",
    "HeldQuestion",
    "HeldStart",
    "HiddenFiles",
    "HoldableCommand",
    "Outcome",
    "PathReason",
    "UndoableHoldableCommand",
    "Verdict",
    "held_question",
    "hidden_by_rules",
    "judge_outcome",
]

__getattr__ = on_first_use(
    __name__,
    {
        "HeldChanges": "outcome",
        "HeldCommand": "held_commands",
        "HeldCommands": "held_commands",
        "HeldEnd": "held_commands",
        "HeldStart": "held_start",
        "HiddenFiles": "hidden_files",
        "HoldableCommand": "holdable_command",
        "UndoableHoldableCommand": "holdable_command",
        "HeldQuestion": "question",
        "Outcome": "outcome",
        "PathReason": "outcome",
        "Verdict": "outcome",
        "held_question": "question",
        "hidden_by_rules": "hidden_files",
        "judge_outcome": "outcome",
    },
)
