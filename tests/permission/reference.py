"""The decision table of the design, written a second time: as data, and with no code shared.

Each row is a condition and, per mode, an outcome. `settle` goes down the rows; a row whose outcome
for the mode is None is passed by.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["allow", "deny", "ask"]
Check = Literal["allow", "deny", "ask", "safety", "passthrough", "raises"]
Mode = Literal["default", "accept_edits", "explore", "bypass", "dont_ask"]


@dataclass(frozen=True)
class Situation:
    """Everything that a decision depends on, reduced to what the table speaks of."""

    mode: Mode
    deny_rule: bool
    ask_rule: bool
    allow_rule: bool
    check: Check
    read_only: bool
    own_state: bool = False
    can_be_held: bool = False

    @property
    def safety(self) -> bool:
        """A check that raises is a safety ASK."""
        return self.check in ("safety", "raises")


MODES: tuple[Mode, ...] = ("default", "accept_edits", "explore", "bypass", "dont_ask")


def same(verdict: Verdict) -> dict[Mode, Verdict | None]:
    """Return the same outcome for all modes."""
    return dict.fromkeys(MODES, verdict)


ASKS: dict[Mode, Verdict | None] = {**same("ask"), "dont_ask": "deny"}

TABLE: list[tuple[int, Callable[[Situation], bool], dict[Mode, Verdict | None]]] = [
    (1, lambda s: s.deny_rule, same("deny")),
    (2, lambda s: s.check == "deny", same("deny")),
    (7, lambda s: s.own_state, same("allow")),
    (
        3,
        lambda s: not s.read_only,
        {
            "explore": "deny",
            "default": None,
            "accept_edits": None,
            "bypass": None,
            "dont_ask": None,
        },
    ),
    (4, lambda s: s.safety, {**ASKS, "bypass": None}),
    (5, lambda s: s.ask_rule, ASKS),
    (6, lambda s: s.read_only, {**same("allow"), "default": None, "bypass": None}),
    (7, lambda s: s.check == "allow", same("allow")),
    (8, lambda s: s.allow_rule, same("allow")),
    (10, lambda s: s.can_be_held, {**ASKS, "bypass": None, "explore": None}),
    (9, lambda _: True, {**ASKS, "bypass": "allow"}),
]


def settle(situation: Situation) -> tuple[int, Verdict]:
    """Return the row that settles the situation, and its outcome."""
    for row, applies, outcomes in TABLE:
        verdict = outcomes[situation.mode]
        if verdict is not None and applies(situation):
            return row, verdict
    raise AssertionError(f"no row settles {situation}")
