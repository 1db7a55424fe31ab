"""Matches rules against the files of a sandbox.

`~` in an allow rule is the sandbox's home. In a deny or ask rule it is also this host's home, which
may be mounted, and which the author of the rule may have meant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from typing_extensions import override

from agentscope_like.paths import Location
from agentscope_like.permission import PathRuleIndex, PathRules, PermissionRule

__all__ = ["RulePlace", "SandboxPathIndex", "SandboxRuleIndex"]

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


class SandboxPathIndex:
    """Patterns, compiled on first use, when the sandbox is known.

    Args:
        place: The sandbox.
        contents: The patterns.
        strict: True for rules that allow.

    Raises:
        PatternError: One of the patterns cannot be compiled.
    """

    def __init__(self, place: RulePlace, contents: Sequence[str], *, strict: bool) -> None:
        PathRuleIndex(contents, strict=True, real=str)  # refuses what cannot be compiled
        self._place = place
        self._contents = tuple(contents)
        self._strict = strict
        self._compiled: list[PathRuleIndex] | None = None

    def match(self, location: Location, directories: Sequence[Location]) -> int | None:
        """Return the position of the first pattern that matches, or None."""
        found = (index.match(location, directories) for index in self._indexes())
        return min((position for position in found if position is not None), default=None)

    def extended(self, content: str) -> SandboxPathIndex:
        """Return an index of these patterns and one more."""
        extended = SandboxPathIndex(self._place, (content,), strict=self._strict)
        extended._contents = (*self._contents, content)
        extended._compiled = [index.extended(content) for index in self._indexes()]
        return extended

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


class SandboxRuleIndex(PathRules):
    """Rules about files that deny or ask, compiled on first use.

    Args:
        place: The sandbox.
        rules: The rules.

    Raises:
        RuleError: One of the contents cannot be compiled.
    """

    def __init__(self, place: RulePlace, rules: Sequence[PermissionRule]) -> None:
        super().__init__(rules, real=str)  # refuses what cannot be compiled
        self._place = place
        self._compiled: list[PathRules] | None = None

    @override
    def match(self, location: Location, directories: Sequence[Location]) -> PermissionRule | None:
        """Return the first rule that matches the path, or None."""
        found = (rules.match(location, directories) for rules in self._indexes())
        return next(filter(None, found), None)

    @override
    def match_below(
        self, location: Location, directories: Sequence[Location]
    ) -> PermissionRule | None:
        """Return the first rule that may match a path below this one, or None."""
        found = (rules.match_below(location, directories) for rules in self._indexes())
        return next(filter(None, found), None)

    @override
    def within(
        self, folder: Location, directories: Sequence[Location]
    ) -> Callable[[str], PermissionRule | None] | None:
        """Return a function that matches names in a directory, or None if none can match."""
        found = (rules.within(folder, directories) for rules in self._indexes())
        matches = [match for match in found if match is not None]
        if not matches:
            return None
        return lambda name: next(filter(None, (match(name) for match in matches)), None)

    def _indexes(self) -> list[PathRules]:
        if self._compiled is None:
            place = self._place
            self._compiled = [
                PathRules(self.rules, home=home or _NOWHERE, real=place.real)
                for home in place.homes
            ]
        return self._compiled
