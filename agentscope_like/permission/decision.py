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


@dataclass(frozen=True, init=False)
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

    def __init__(
        self,
        behavior: PermissionBehavior,
        message: str,
        decision_reason: str | None = None,
        updated_input: dict[str, Any] | None = None,
        suggested_rules: list[PermissionRule] | None = None,
        bypass_immune: bool = False,
        row: DecisionRow | None = None,
        rule: PermissionRule | None = None,
    ) -> None:
        """Take a behaviour given as text for what it says, and texts so that they can be stored."""
        fields = self.__dict__  # a frozen class's generated `__init__` takes twice as long
        fields["behavior"] = (
            behavior if type(behavior) is PermissionBehavior else PermissionBehavior(behavior)
        )
        fields["message"] = message if message.isascii() else printable(message)
        if decision_reason is not None:
            fields["decision_reason"] = (
                decision_reason if decision_reason.isascii() else printable(decision_reason)
            )
        if updated_input is not None:
            fields["updated_input"] = updated_input
        if suggested_rules is not None:
            fields["suggested_rules"] = suggested_rules
        if bypass_immune:
            fields["bypass_immune"] = bypass_immune
        if row is not None:
            fields["row"] = row
        if rule is not None:
            fields["rule"] = rule
