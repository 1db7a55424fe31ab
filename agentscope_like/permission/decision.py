"""What was decided about one call, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from agentscope_like.permission.mode import PermissionBehavior
from agentscope_like.permission.rule import PermissionRule
from agentscope_like.permission.text import printable

__all__ = ["DecisionRow", "PermissionDecision"]


class DecisionRow(IntEnum):
    """The row of the decision table (docs/design/decisions.md) that settled a call."""

    DENY_RULE = 1
    TOOL_DENIES = 2
    NOT_READ_ONLY = 3
    SAFETY_CHECK = 4
    ASK_RULE = 5
    READ_ONLY = 6
    TOOL_ALLOWS = 7
    ALLOW_RULE = 8
    NOTHING_MATCHED = 9


@dataclass(frozen=True, slots=True)
class PermissionDecision:
    """An immutable decision.

    A tool's `check_permissions` returns one of its own; the engine's answer carries `row` as well.

    Attributes:
        behavior: ALLOW, DENY or ASK; from a tool also PASSTHROUGH, "I have no opinion".
        message: One or two sentences for the person, or for the model when denied.
        decision_reason: What was found, in a few words.
        updated_input: The arguments that were decided upon, where a decision layer changed them.
        suggested_rules: Rules under which the same call would have been allowed, each tried.
        bypass_immune: Whether this ASK is a safety check that no allow rule can silence.
        row: The row of the decision table that settled it.
        rule: The rule that settled it, where one did.
    """

    behavior: PermissionBehavior
    message: str
    decision_reason: str | None = None
    updated_input: dict[str, Any] | None = None
    suggested_rules: list[PermissionRule] | None = None
    bypass_immune: bool = False
    row: DecisionRow | None = None
    rule: PermissionRule | None = None

    def __post_init__(self) -> None:
        """Take a behaviour given as text for what it says, and texts so that they can be stored."""
        if not isinstance(self.behavior, PermissionBehavior):
            object.__setattr__(self, "behavior", PermissionBehavior(self.behavior))
        message, reason = self.message, self.decision_reason
        if not message.isascii():
            object.__setattr__(self, "message", printable(message))
        if reason is not None and not reason.isascii():
            object.__setattr__(self, "decision_reason", printable(reason))
