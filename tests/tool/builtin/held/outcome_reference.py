"""The table of outcomes of the design, written a second time: as data, and with no code shared.

Each row is a condition on the changes and, per mode, an outcome. `settle` goes down the rows; a row
whose outcome for the mode is None is passed by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["MODES", "SORTS", "ChangeFacts", "Mode", "Outcome", "Sort", "settle", "strictest"]

Outcome = Literal["apply", "ask", "drop"]
Mode = Literal["default", "accept_edits", "explore", "bypass", "dont_ask"]
Sort = Literal["setting", "lost", "change", "git", "cache"]

MODES: tuple[Mode, ...] = ("default", "accept_edits", "explore", "bypass", "dont_ask")
SORTS: tuple[Sort, ...] = ("setting", "lost", "change", "git", "cache")


@dataclass(frozen=True)
class ChangeFacts:
    """Everything of one change that its outcome depends on.

    Attributes:
        sort: What it is.
        denied: A deny rule speaks of its path.
        asked: An ask rule does.
        sensitive: A safety check finds something about a Write of the path.
        only_times: Nothing but times changed.
    """

    sort: Sort
    denied: bool = False
    asked: bool = False
    sensitive: bool = False
    only_times: bool = False


def same(outcome: Outcome) -> dict[Mode, Outcome | None]:
    """Return the same outcome for all modes."""
    return dict.fromkeys(MODES, outcome)


Rows = list[tuple[Callable[[ChangeFacts], bool], dict[Mode, Outcome | None]]]

TABLE: Rows = [
    (lambda c: c.denied, same("drop")),
    (lambda _: True, {**dict.fromkeys(MODES, None), "explore": "drop"}),
    (lambda c: c.asked, {**same("ask"), "dont_ask": "drop"}),
    (
        # git's bookkeeping lies at paths that no tool may write; that of git itself is no finding
        lambda c: c.sort in ("setting", "lost") or (c.sensitive and c.sort != "git"),
        {**same("ask"), "dont_ask": "drop", "bypass": None},
    ),
    (lambda c: c.sort == "cache" or c.only_times, same("apply")),
    (lambda _: True, {**same("apply"), "default": "ask"}),
]

STRICT: tuple[Outcome, ...] = ("apply", "ask", "drop")


def strictest(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the strictest outcome; that of nothing is to apply it."""
    return max(outcomes, key=STRICT.index, default="apply")


def settle(mode: Mode, changes: Sequence[ChangeFacts]) -> Outcome:
    """Return what becomes of changes: all go the way of the strictest of them."""
    return strictest([_settled(mode, each) for each in changes])


def _settled(mode: Mode, change: ChangeFacts) -> Outcome:
    for applies, outcomes in TABLE:
        outcome = outcomes[mode]
        if outcome is not None and applies(change):
            return outcome
    raise AssertionError(f"no row settles {change}")
