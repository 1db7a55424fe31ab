"""Finds the path pattern that matches a file, in time independent of the number of patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from agentscope_like.paths import (
    Location,
    NameMatcher,
    PatternCompiler,
    PatternError,
    PatternTable,
    bases_of,
    compose,
    fold,
    is_below,
    names_of,
)
from agentscope_like.permission.rule import PermissionRule, RuleError

__all__ = ["PathRuleIndex", "PathRules"]


class PathRuleIndex:
    """Many path patterns, compiled together.

    Args:
        contents: The patterns, in the order of their rules.
        strict: True for rules that allow: every reading of a path must match the same pattern, and
            names compare exactly. False for rules that deny or ask: one reading is enough, ignoring
            case and Unicode composition.
        home: The home directory that `~` means; the user's by default.
        real: Returns a directory with its symlinks followed; on this host by default.

    Raises:
        PatternError: One of the patterns cannot be compiled.
    """

    __slots__ = (
        *("_absolute", "_earlier", "_home", "_offset", "_real", "_relative", "_size"),
        "_strict",
    )

    def __init__(
        self,
        contents: Sequence[str],
        *,
        strict: bool,
        home: str | None = None,
        real: Callable[[str], str] | None = None,
    ) -> None:
        self._strict = strict
        self._home = home
        self._real = real
        self._earlier: PathRuleIndex | None = None
        self._offset = 0
        self._size = len(contents)
        self._absolute = PatternTable(strict=strict)
        self._relative = PatternTable(strict=strict)
        compiler = PatternCompiler(home=home, aliases=not strict, anywhere=not strict, real=real)
        for content, position in _first_positions(contents).items():
            for branch in compiler.compile(content).branches:
                table = self._absolute if branch.absolute else self._relative
                table.add(branch.base, branch.tail, position)

    def __len__(self) -> int:
        return self._offset + self._size

    def extended(self, content: str) -> PathRuleIndex:
        """Return an index of these patterns and one more, without compiling these again.

        Raises:
            PatternError: The pattern cannot be compiled.
        """
        extended = PathRuleIndex((content,), strict=self._strict, home=self._home, real=self._real)
        extended._earlier = self
        extended._offset = len(self)
        return extended

    def match(self, location: Location, directories: Sequence[Location]) -> int | None:
        """Return the position of the first pattern that matches, or None.

        Args:
            location: The path.
            directories: The working directories, each of which relative patterns start at; the
                process's own where there is none.
        """
        if self._earlier is not None:
            found = self._earlier.match(location, directories)
            if found is not None:
                return found
        if self._strict and not location.certain:
            return None
        bases = bases_of(directories) if self._relative else []
        readings = location.readings
        if self._strict and len(readings) > 1:
            common = set.intersection(*(self._all(reading, bases) for reading in readings))
            first = min(common, default=None)
        else:
            first = min(
                (found[0] for reading in readings for found in self._find(reading, bases)),
                default=None,
            )
        return None if first is None else first + self._offset

    def match_below(self, location: Location, directories: Sequence[Location]) -> int | None:
        """Return the position of a pattern that could match something below a path, or None.

        Only for rules that deny or ask.

        Args:
            location: The path; the files below it are not read.
            directories: The working directories, as for `match`.
        """
        bases = bases_of(directories) if self._relative else []
        found = (
            position
            for reading in location.readings
            for position in self._find_below(reading, bases)
        )
        return min(found, default=None)

    def within(
        self, folder: Location, directories: Sequence[Location]
    ) -> Callable[[str], int | None] | None:
        """Return `match` for the names in a directory, or None if nothing there can match.

        Only for rules that deny or ask. What is known of the directory is looked up once, so that
        a name takes a fraction of the time.

        Args:
            folder: The directory.
            directories: The working directories, as for `match`.
        """
        if self.match_below(folder, directories) is None:
            return None
        matchers: list[NameMatcher] = []
        starts: set[str] = set()
        bases = bases_of(directories) if self._relative else []
        for reading in folder.readings:
            names, key = names_of(compose(reading)), fold(reading)
            keys = names_of(key)
            if self._absolute:
                matchers.append(self._absolute.within(names, keys))
            for base in map(fold, bases):
                depth = len(names_of(base))
                if is_below(key, base):
                    matchers.append(self._relative.within(names[depth:], keys[depth:]))
                elif depth == len(keys) + 1 and is_below(base, key):
                    starts.add(names_of(base)[-1])
        at_start = self._relative.at_start()

        def match(name: str) -> int | None:
            key = fold(name)
            positions = at_start.copy() if key in starts else []
            for find in matchers:
                positions += find(name, key)
            return min(positions) if positions else None

        return match

    def _all(self, reading: str, bases: Sequence[str]) -> set[int]:
        return {position for found in self._find(reading, bases) for position in found}

    def _find(self, reading: str, bases: Sequence[str]) -> Iterator[list[int]]:
        """Yield the positions, ascending, of each group of patterns that match one reading."""
        if self._strict:
            names = keys = names_of(reading)
            key = reading
        else:
            names = names_of(compose(reading))
            key = fold(reading)
            keys = names_of(key)
        if self._absolute:
            yield from self._absolute.find(names, keys)
        for base in bases:
            start = base if self._strict else fold(base)
            if is_below(key, start):
                depth = len(names_of(start))
                yield from self._relative.find(names[depth:], keys[depth:])

    def _find_below(self, reading: str, bases: Sequence[str]) -> Iterator[int]:
        names, key = names_of(compose(reading)), fold(reading)
        if self._absolute:
            yield from self._absolute.find_below(names, names_of(key))
        for base in bases:
            start = fold(base)
            if is_below(key, start):
                depth = len(names_of(start))
                yield from self._relative.find_below(names[depth:], names_of(key)[depth:])
            elif is_below(start, key):
                yield from self._relative.positions()


class PathRules:
    """Deny or ask rules about files; one without content matches every path.

    Args:
        rules: The rules; their contents are path patterns.
        home: The home directory that `~` means; the user's by default.
        real: Returns a directory with its symlinks followed; on this host by default.

    Raises:
        RuleError: One of the patterns cannot be compiled.
    """

    __slots__ = ("_index", "rules")

    def __init__(
        self,
        rules: Sequence[PermissionRule],
        *,
        home: str | None = None,
        real: Callable[[str], str] | None = None,
    ) -> None:
        self.rules = tuple(rules)
        try:
            self._index = PathRuleIndex(
                [rule.rule_content or "/**" for rule in rules], strict=False, home=home, real=real
            )
        except PatternError as error:
            raise RuleError(f"{rules[0].behavior.value} rule for files: {error}") from None

    def match(self, location: Location, directories: Sequence[Location]) -> PermissionRule | None:
        """Return the first rule that matches the path, or None."""
        position = self._index.match(location, directories)
        return None if position is None else self.rules[position]

    def match_below(
        self, location: Location, directories: Sequence[Location]
    ) -> PermissionRule | None:
        """Return the first rule that could match something below the path, or None."""
        position = self._index.match_below(location, directories)
        return None if position is None else self.rules[position]

    def within(
        self, folder: Location, directories: Sequence[Location]
    ) -> Callable[[str], PermissionRule | None] | None:
        """Return `match` for the names in a directory, or None if nothing there can match."""
        match = self._index.within(folder, directories)
        if match is None:
            return None

        def rule_of(name: str) -> PermissionRule | None:
            position = match(name)
            return None if position is None else self.rules[position]

        return rule_of


def _first_positions(contents: Sequence[str]) -> dict[str, int]:
    positions: dict[str, int] = {}
    for position, content in enumerate(contents):
        positions.setdefault(content, position)
    return positions
