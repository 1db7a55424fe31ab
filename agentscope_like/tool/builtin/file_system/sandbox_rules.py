"""Matches rules against the files of a sandbox.

`~` in an allow rule is the sandbox's home. In a deny or ask rule it is also this host's home, which
may be mounted, and which the author of the rule may have meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from typing_extensions import override

from agentscope_like.paths import Location
from agentscope_like.permission import PathRuleIndex

__all__ = ["RulePlace", "SandboxPathIndex"]

_NOWHERE = "/nonexistent"


class RulePlace(Protocol):
    """The facts about a sandbox that rules need, once it has been looked up."""

    @property
    def home(self) -> str:
        """Return its home; empty for none."""

    @property
    def homes(self) -> tuple[str, ...]:
        """Return every directory that may be a home."""

    def real(self, directory: str) -> str:
        """Return a directory with its symlinks followed there."""


class SandboxPathIndex(PathRuleIndex):
    """Patterns, compiled on first use, when the sandbox is known.

    Args:
        place: The sandbox.
        contents: The patterns.
        strict: True for rules that allow.

    Raises:
        PatternError: One of the patterns cannot be compiled.
    """

    def __init__(self, place: RulePlace, contents: Sequence[str], *, strict: bool) -> None:
        super().__init__(contents, strict=strict, real=str)  # refuses what cannot be compiled
        self._place = place
        self._contents = tuple(contents)
        self._compiled: list[PathRuleIndex] | None = None

    @override
    def match(self, location: Location, directories: Sequence[Location]) -> int | None:
        """Return the position of the first pattern that matches, or None."""
        return _first(index.match(location, directories) for index in self._indexes())

    @override
    def match_below(self, location: Location, directories: Sequence[Location]) -> int | None:
        """Return the position of a pattern that could match something below a path, or None."""
        return _first(index.match_below(location, directories) for index in self._indexes())

    @override
    def within(
        self, folder: Location, directories: Sequence[Location]
    ) -> Callable[[str], int | None] | None:
        """Return `match` for the names in a directory, or None if nothing there can match."""
        found = (index.within(folder, directories) for index in self._indexes())
        matches = [match for match in found if match is not None]
        return (lambda name: _first(match(name) for match in matches)) if matches else None

    def _indexes(self) -> list[PathRuleIndex]:
        if self._compiled is None:
            place = self._place
            homes = (place.home,) if self._strict else place.homes
            real = str if self._strict else place.real
            self._compiled = [
                PathRuleIndex(self._contents, strict=self._strict, home=home or _NOWHERE, real=real)
                for home in homes
            ]
        return self._compiled


def _first(positions: Iterable[int | None]) -> int | None:
    return min((position for position in positions if position is not None), default=None)
