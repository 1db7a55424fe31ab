"""The decision about one call, and its reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from pydantic import StrictBool

from agentscope_like.permission.mode import PermissionBehavior
from agentscope_like.permission.rule import PermissionRule
from agentscope_like.permission.text import printable

__all__ = ["DecisionRow", "PermissionDecision", "private_denial", "safety_question"]


class DecisionRow(IntEnum):
    """The row of the decision table (docs/design/decisions.md) that settled a call.

    HELD is row 8a: it comes before NOTHING_MATCHED.
    """

    DENY_RULE = 1
    TOOL_DENIES = 2
    NOT_READ_ONLY = 3
    SAFETY_CHECK = 4
    ASK_RULE = 5
    READ_ONLY = 6
    TOOL_ALLOWS = 7
    ALLOW_RULE = 8
    NOTHING_MATCHED = 9
    HELD = 10

    @property
    def label(self) -> str:
        """Return the number of the row in the table."""
        return "8a" if self is DecisionRow.HELD else str(self.value)


@dataclass(frozen=True, init=False)
class PermissionDecision:
    """An immutable decision.

    A tool's `check_permissions` returns one of its own; the engine's answer carries `row` as well.

    Attributes:
        behavior: ALLOW, DENY or ASK; from a tool also PASSTHROUGH, "I have no opinion".
        message: One or two sentences for the person, or for the model when denied.
        decision_reason: What was found, in a few words.
        updated_input: The arguments that were decided upon, where a decision layer changed them.
        suggested_rules: Rules under which the same call would have been allowed, each tried; or
            what finds them when they are first asked for.
        bypass_immune: Whether this ASK is a safety check that no allow rule can silence.
        row: The row of the decision table that settled it.
        rule: The rule that settled it, where one did.
        place: Where in the command stands what a safety check found: its first character, and the
            one behind its last.
    """

    behavior: PermissionBehavior
    message: str
    decision_reason: str | None = None
    updated_input: dict[str, Any] | None = None
    suggested_rules: list[PermissionRule] | None = None
    bypass_immune: StrictBool = False
    row: DecisionRow | None = None
    rule: PermissionRule | None = None
    place: tuple[int, int] | None = None

    def __init__(
        self,
        behavior: PermissionBehavior,
        message: str,
        decision_reason: str | None = None,
        updated_input: dict[str, Any] | None = None,
        suggested_rules: list[PermissionRule] | Callable[[], list[PermissionRule]] | None = None,
        bypass_immune: bool = False,
        row: DecisionRow | None = None,
        rule: PermissionRule | None = None,
        place: tuple[int, int] | None = None,
    ) -> None:
        """Convert a behaviour given as text, and clean texts so that they can be stored."""
        fields = self.__dict__  # a frozen class's generated `__init__` takes twice as long
        fields["behavior"] = (
            behavior if type(behavior) is PermissionBehavior else PermissionBehavior(behavior)
        )
        fields["message"] = printable(message)
        fields["decision_reason"] = None if decision_reason is None else printable(decision_reason)
        fields["updated_input"] = updated_input
        fields["suggested_rules"] = suggested_rules
        fields["bypass_immune"] = bypass_immune
        fields["row"] = row
        fields["rule"] = rule
        fields["place"] = place

    @property
    def can_be_held(self) -> bool:
        """Return whether a `Toolkit` may run the call held instead of asking.

        Everybody else reads `behavior`, which asks, or denies where nobody can be asked.
        """
        return self.row is DecisionRow.HELD

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields, with the suggestions found."""
        return {**self.__dict__, "suggested_rules": self.suggested_rules}


class _SuggestedRules:
    """The attribute `suggested_rules`, which may hold a function that finds them."""

    def __get__(
        self, decision: PermissionDecision | None, owner: type[PermissionDecision]
    ) -> list[PermissionRule] | None:
        if decision is None:
            return None
        found = decision.__dict__.get("suggested_rules")
        if callable(found):
            found = decision.__dict__["suggested_rules"] = found()
        return found

    def __set__(self, decision: PermissionDecision, value: object) -> None:
        """Refuse; without this method, the instance's own value would come before `__get__`."""
        raise AttributeError("a decision is immutable")


PermissionDecision.suggested_rules = _SuggestedRules()  # type: ignore[assignment]


def safety_question(
    message: str, reason: str, place: tuple[int, int] | None = None
) -> PermissionDecision:
    """Return a question of a safety check, which no allow rule can silence."""
    return PermissionDecision(
        PermissionBehavior.ASK, message, decision_reason=reason, bypass_immune=True, place=place
    )


def private_denial(path: str) -> PermissionDecision:
    """Return the denial of a call about a path at which its tool keeps what no model may see."""
    return PermissionDecision(
        PermissionBehavior.DENY,
        f"`{path}` is kept from models: it holds what commands changed, or what files were before.",
        decision_reason="kept from models",
    )
