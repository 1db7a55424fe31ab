"""Counts what a run and its children spend, and refuses what is beyond the profile's limits."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from agentscope_like.exception import ConfigurationError, RecoverableToolError
from agentscope_like.profile.profile import ToolPolicy

__all__ = ["Account", "BudgetError"]

_TOLD_AT = 0.8
"""The share of a limit at which the model is told what is left."""
_NO_CALLS = "agent.tool_budget_exhausted"


class BudgetError(RecoverableToolError):
    """A run has no calls, or no characters, left."""


class Account:
    """The calls and characters of one run; its children spend from the same account.

    A unit is taken when a call begins to run: calls that were denied or wait for a person take
    none. It may be used from any thread.

    Args:
        most_calls: The calls of the run.
        most_per_tool: The calls of single tools, by canonical name.
        most_characters: The characters that may be read of skills.
        within: The account of the parent, from which each unit is taken as well.
    """

    def __init__(
        self,
        most_calls: int,
        most_per_tool: Mapping[str, int] | None = None,
        *,
        most_characters: int | None = None,
        within: Account | None = None,
    ) -> None:
        limits = [most_calls, most_characters or 0, *(most_per_tool or {}).values()]
        if min(limits) < 0:
            raise ConfigurationError(f"a limit of an account is {min(limits)}: give 0 or more")
        self._own = _Limits(most_calls, dict(most_per_tool or {}), most_characters)
        self._all: tuple[_Limits, ...] = (self._own,)
        self._lock = threading.Lock()
        if within is not None:  # one lock for all, so that a unit is taken of all or of none
            self._all, self._lock = (self._own, *within._all), within._lock  # noqa: SLF001

    @classmethod
    def of(
        cls,
        tools: ToolPolicy,
        *,
        most_characters: int | None = None,
        within: Account | None = None,
    ) -> Account:
        """Return the account of a run under a profile's policy."""
        return cls(
            tools.max_calls_per_run,
            tools.max_calls_per_tool,
            most_characters=most_characters,
            within=within,
        )

    @property
    def calls(self) -> int:
        """Return the number of calls so far."""
        return self._own.calls.total()

    @property
    def spent(self) -> dict[str, int]:
        """Return the calls so far, by tool."""
        with self._lock:
            return dict(self._own.calls)

    @property
    def characters_left(self) -> int | None:
        """Return how many characters may still be read of skills; None for no limit."""
        with self._lock:
            left = [
                limits.most_characters - limits.characters
                for limits in self._all
                if limits.most_characters is not None
            ]
        return min(left, default=None)

    def take_call(self, tool_name: str) -> str:
        """Take one call of a tool.

        Returns:
            What to tell the model of what is left; mostly nothing.

        Raises:
            BudgetError: None is left; nothing is taken.
        """
        with self._lock:
            for limits in self._all:
                limits.refuse_call(tool_name)
            for limits in self._all:
                limits.calls[tool_name] += 1
            return next(filter(None, (limits.told(tool_name) for limits in self._all)), "")

    def take_characters(self, count: int) -> str:
        """Take characters that were read of skills.

        Returns:
            What to tell the model of what is left; mostly nothing.

        Raises:
            BudgetError: Fewer are left; nothing is taken.
        """
        with self._lock:
            for limits in self._all:
                limits.refuse_characters(count)
            for limits in self._all:
                limits.characters += count
            told = (limits.told_of_characters(count) for limits in self._all)
            return next(filter(None, told), "")

    @property
    def characters(self) -> int:
        """Return the number of characters so far."""
        return self._own.characters

    def resume(self, spent: Mapping[str, int], characters: int = 0) -> None:
        """Count what the run spent before, in another process; what is counted already stays.

        The account of a parent has it counted, too.

        Args:
            spent: The calls, by tool.
            characters: The characters.
        """
        with self._lock:
            self._own.calls |= Counter(spent)
            self._own.characters = max(self._own.characters, characters)


@dataclass(slots=True)
class _Limits:
    """What one run may spend, and has spent; the account's lock is held."""

    most_calls: int
    most_per_tool: dict[str, int]
    most_characters: int | None
    calls: Counter[str] = field(default_factory=Counter)
    characters: int = 0

    def refuse_call(self, tool_name: str) -> None:
        most = self.most_per_tool.get(tool_name)
        if self.calls.total() >= self.most_calls:
            raise BudgetError(
                _NO_CALLS,
                f"this run may make {_calls(self.most_calls)} of tools, and has made them: "
                "finish with what you have",
            )
        if most is not None and self.calls[tool_name] >= most:
            raise BudgetError(
                _NO_CALLS,
                f"this run may make {_calls(most)} of {tool_name}, and has made them: go on "
                "without it",
            )

    def refuse_characters(self, count: int) -> None:
        if self.most_characters is None or count <= self.most_characters - self.characters:
            return
        raise BudgetError(
            "skill.read_budget_exhausted",
            f"this run may read {self.most_characters - self.characters:,} more characters of "
            f"skills, and this would be {count:,}: read less",
        )

    def told(self, tool_name: str) -> str:
        most = self.most_per_tool.get(tool_name)
        told = [_left(self.calls.total(), self.most_calls, "of tools")]
        if most is not None:
            told.append(_left(self.calls[tool_name], most, f"of {tool_name}"))
        return " ".join(filter(None, told))

    def told_of_characters(self, count: int) -> str:
        most, taken = self.most_characters, self.characters
        if most is None or not count:
            return ""
        if taken == most:
            return "Those were the last characters of skills that this run may read."
        at_share = taken - count < _TOLD_AT * most <= taken
        return f"{most - taken:,} characters of skills left in this run." if at_share else ""


def _left(taken: int, most: int, what: str) -> str:
    """Return what to tell of a limit: at four fifths of it, and at its last unit."""
    left = most - taken
    if left == 0:
        return f"That was the last call {what} in this run."
    at_share = taken - 1 < _TOLD_AT * most <= taken
    return f"{_calls(left)} {what} left in this run." if at_share or left == 1 else ""


def _calls(count: int) -> str:
    return f"{count:,} call{'' if count == 1 else 's'}"
