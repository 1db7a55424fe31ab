"""Counts what a run and its children spend, and refuses what is beyond the profile's limits."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping

from agentscope_like.exception import AgentOrientedException, ConfigurationError
from agentscope_like.profile.profile import ToolPolicy

__all__ = ["Account", "BudgetError"]

_TOLD_AT = 0.8
"""The share of a limit at which the model is told what is left."""


class BudgetError(AgentOrientedException):
    """A run has no calls, or no characters, left."""


class Account:
    """The calls and characters of one run; its children spend from the same account.

    A unit is taken when a call begins to run: calls that were denied or wait for a person take
    none. It may be used from any thread.

    Args:
        most_calls: The calls of the run.
        most_per_tool: The calls of single tools, by canonical name.
        most_characters: The characters that may be read of skills.
    """

    def __init__(
        self,
        most_calls: int,
        most_per_tool: Mapping[str, int] | None = None,
        *,
        most_characters: int | None = None,
    ) -> None:
        limits = [most_calls, most_characters or 0, *(most_per_tool or {}).values()]
        if min(limits) < 0:
            raise ConfigurationError(f"a limit of an account is {min(limits)}: give 0 or more")
        self._most_calls = most_calls
        self._most_per_tool = dict(most_per_tool or {})
        self._most_characters = most_characters
        self._calls: Counter[str] = Counter()
        self._characters = 0
        self._lock = threading.Lock()

    @classmethod
    def of(cls, tools: ToolPolicy, *, most_characters: int | None = None) -> Account:
        """Return the account of a run under a profile's policy."""
        return cls(
            tools.max_calls_per_run, tools.max_calls_per_tool, most_characters=most_characters
        )

    @property
    def calls(self) -> int:
        """Return the number of calls so far."""
        return self._calls.total()

    def take_call(self, tool_name: str) -> str:
        """Take one call of a tool.

        Returns:
            What to tell the model of what is left; mostly nothing.

        Raises:
            BudgetError: None is left; nothing is taken.
        """
        with self._lock:
            most = self._most_per_tool.get(tool_name)
            if self._calls.total() >= self._most_calls:
                raise BudgetError(
                    f"this run may make {_calls(self._most_calls)} of tools, and has made them: "
                    "finish with what you have"
                )
            if most is not None and self._calls[tool_name] >= most:
                raise BudgetError(
                    f"this run may make {_calls(most)} of {tool_name}, and has made them: go on "
                    "without it"
                )
            self._calls[tool_name] += 1
            told = [_left(self._calls.total(), self._most_calls, "of tools")]
            if most is not None:
                told.append(_left(self._calls[tool_name], most, f"of {tool_name}"))
        return " ".join(filter(None, told))

    def take_characters(self, count: int) -> None:
        """Take characters that were read of skills.

        Raises:
            BudgetError: Fewer are left; nothing is taken.
        """
        with self._lock:
            left = (
                None if self._most_characters is None else self._most_characters - self._characters
            )
            if left is not None and count > left:
                raise BudgetError(
                    f"this run may read {left:,} more characters of skills, and this would be "
                    f"{count:,}: read less"
                )
            self._characters += count


def _left(taken: int, most: int, what: str) -> str:
    """Return what to tell of a limit: at four fifths of it, and at its last unit."""
    left = most - taken
    if left == 0:
        return f"That was the last call {what} in this run."
    at_share = taken - 1 < _TOLD_AT * most <= taken
    return f"{_calls(left)} {what} left in this run." if at_share or left == 1 else ""


def _calls(count: int) -> str:
    return f"{count:,} call{'' if count == 1 else 's'}"
