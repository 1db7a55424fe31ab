"""Matches the rules of file tools against paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentscope_like.paths import Location, PathRuleIndex, PatternError
from agentscope_like.permission.rule import PermissionRule, RuleError

__all__ = ["PathRuleIndex", "PathRules"]


class PathRules:
    """Deny or ask rules about files; one without content matches every path.

    Args:
        rules: The rules; their contents are path patterns.
        compile: Compiles the patterns; for this host by default.

    Attributes:
        rules: The rules.

    Raises:
        RuleError: One of the patterns cannot be compiled.
    """

    __slots__ = ("_index", "rules")

    def __init__(
        self,
        rules: Sequence[PermissionRule],
        *,
        compile: Callable[..., PathRuleIndex] = PathRuleIndex,  # noqa: A002 - what it does
    ) -> None:
        self.rules = tuple(rules)
        try:
            self._index = compile([rule.rule_content or "/**" for rule in rules], strict=False)
        except PatternError as error:
            raise RuleError(f"{rules[0].behavior.value} rule for files: {error}") from None

    def match(self, location: Location, directories: Sequence[Location]) -> PermissionRule | None:
        """Return the first rule that matches the path, or None."""
        return self._rule(self._index.match(location, directories))

    def match_below(
        self, location: Location, directories: Sequence[Location]
    ) -> PermissionRule | None:
        """Return the first rule that could match something below the path, or None."""
        return self._rule(self._index.match_below(location, directories))

    def within(
        self, folder: Location, directories: Sequence[Location]
    ) -> Callable[[str], PermissionRule | None] | None:
        """Return `match` for the names in a directory, or None if nothing there can match."""
        match = self._index.within(folder, directories)
        return None if match is None else lambda name: self._rule(match(name))

    def _rule(self, position: int | None) -> PermissionRule | None:
        return None if position is None else self.rules[position]
