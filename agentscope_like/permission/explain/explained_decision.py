"""Holds a decision about a call with the facts that explain it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from agentscope_like.permission.decision import DecisionRow, PermissionDecision
from agentscope_like.permission.rule import PermissionRule
from agentscope_like.shell import CommandAnalysis

__all__ = ["ROW_WORDS", "ExplainedDecision"]

ROW_WORDS: Mapping[DecisionRow, str] = {
    DecisionRow.DENY_RULE: "a deny rule matches it",
    DecisionRow.TOOL_DENIES: "the tool itself denies it",
    DecisionRow.NOT_READ_ONLY: "explore mode runs only calls proven to read only",
    DecisionRow.SAFETY_CHECK: "a safety check requires a person's approval",
    DecisionRow.ASK_RULE: "an ask rule matches it, or a deny rule may",
    DecisionRow.READ_ONLY: "it is proven to read only",
    DecisionRow.TOOL_ALLOWS: "the tool itself allows it",
    DecisionRow.ALLOW_RULE: "an allow rule matches it",
    DecisionRow.HELD: "nothing forbids it, and it can run held: a Toolkit runs it on a layer",
    DecisionRow.NOTHING_MATCHED: "no rule or check applies, so the mode decides",
}
"""The rows of the decision table (docs/design/decisions.md) in words."""


class ExplainedDecision(Struct, frozen=True):
    """Why a call was decided as it was, and what would allow it.

    Attributes:
        decision: The decision.
        tool_name: The tool.
        tool_input: The arguments that were decided upon.
        analysis: How a command line was read; None for other tools.
        without: Pieces of the command without which it would be allowed, each tried.
        wider: Rules that would allow it and open its operands, each tried. No question offers them,
            since more than the person saw would run.
        uncovered: An allow rule that matches the call and does not cover all of it, and why.
        held: What comes of the call where commands run held; empty if that was not looked at, or is
            the same.
    """

    decision: PermissionDecision
    tool_name: str
    tool_input: Mapping[str, Any]
    analysis: CommandAnalysis | None = None
    without: tuple[str, ...] = ()
    wider: tuple[PermissionRule, ...] = ()
    uncovered: tuple[PermissionRule, str] | None = None
    held: str = ""

    @property
    def row_words(self) -> str | None:
        """Return the row of the decision table in words, or None for a tool's own opinion."""
        return None if self.decision.row is None else ROW_WORDS[self.decision.row]

    @property
    def uncovered_words(self) -> str:
        """Return which allow rule does not cover the call, and why; empty if none matches."""
        if self.uncovered is None:
            return ""
        rule, reason = self.uncovered
        return f"`{rule}` (from {rule.source}) does not cover it: {reason}"

    @property
    def suggested_rules(self) -> tuple[PermissionRule, ...]:
        """Return the rules under which the same call would be allowed."""
        return tuple(self.decision.suggested_rules or ())
