"""Finds the path pattern that matches a file, in time independent of the number of patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from agentscope_like.paths.case_folding import fold
from agentscope_like.paths.location import Location, is_below, names_of
from agentscope_like.paths.path_pattern import PatternCompiler
from agentscope_like.paths.pattern_table import PatternNode, PatternTable
from agentscope_like.paths.working_directories import locate_directories

__all__ = ["PathRuleIndex"]


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

    __slots__ = ("_absolute", "_relative", "_strict")

    def __init__(
        self,
        contents: Sequence[str],
        *,
        strict: bool,
        home: str | None = None,
        real: Callable[[str], str] | None = None,
    ) -> None:
        self._strict = strict
        self._absolute = PatternTable(strict=strict)
        self._relative = PatternTable(strict=strict)
        compiler = PatternCompiler(home=home, aliases=not strict, anywhere=not strict, real=real)
        for position, content in enumerate(contents):
            for branch in compiler.compile(content):
                table = self._absolute if branch.absolute else self._relative
                table.add(branch.components, position)

    def match(self, location: Location, directories: Sequence[Location]) -> int | None:
        """Return the position of the first pattern that matches, or None.

        Args:
            location: The path.
            directories: The working directories, each of which relative patterns start at; the
                process's own where there is none.
        """
        if self._strict and not location.certain:
            return None
        bases = self._bases(directories)
        found_by = [set(self._matching(reading, bases)) for reading in location.readings]
        matching = set.intersection(*found_by) if self._strict else set.union(*found_by)
        return min(matching, default=None)

    def match_below(self, location: Location, directories: Sequence[Location]) -> int | None:
        """Return the position of a pattern that could match something below a path, or None.

        Only for rules that deny or ask.

        Args:
            location: The path; the files below it are not read.
            directories: The working directories, as for `match`.
        """
        bases = self._bases(directories)
        found: list[int | None] = []
        for reading in location.readings:
            for _, nodes in self._walks(reading, bases):
                found += [node.first_below for node in nodes]
            if any(is_below(base, self._key(reading)) for base in bases):
                found.append(self._relative.first)
        return min((position for position in found if position is not None), default=None)

    def within(
        self, folder: Location, directories: Sequence[Location]
    ) -> Callable[[str], int | None] | None:
        """Return `match` for the names in a directory, or None if nothing there can match.

        Only for rules that deny or ask. The names of the directory are walked through once, so
        that a name takes a fraction of the time.

        Args:
            folder: The directory.
            directories: The working directories, as for `match`.
        """
        if self.match_below(folder, directories) is None:
            return None
        bases = self._bases(directories)
        walks = [walk for reading in folder.readings for walk in self._walks(reading, bases)]
        above = {self._key(reading).rstrip("/") for reading in folder.readings}
        parted = (base.rpartition("/") for base in bases)
        starts = {name for parent, _, name in parted if parent in above}

        def match(name: str) -> int | None:
            nodes = [node for table, above in walks for node in table.walk((name,), above)]
            if fold(name) in starts:
                nodes += self._relative.walk(())
            return min((node.positions[0] for node in nodes if node.positions), default=None)

        return match

    def _bases(self, directories: Sequence[Location]) -> list[str]:
        """Return the keys of every reading of the directories at which relative patterns start."""
        if self._relative.first is None:
            return []
        directories = directories or locate_directories(())
        return [self._key(reading) for each in directories for reading in each.readings]

    def _key(self, path: str) -> str:
        return path if self._strict else fold(path)

    def _walks(
        self, reading: str, bases: Sequence[str]
    ) -> Iterator[tuple[PatternTable, Sequence[PatternNode]]]:
        """Yield each table with the nodes that a reading leads to in it, from each base above."""
        names, key = names_of(reading), self._key(reading)
        yield self._absolute, self._absolute.walk(names)
        for base in bases:
            if is_below(key, base):
                yield self._relative, self._relative.walk(names[len(names_of(base)) :])

    def _matching(self, reading: str, bases: Sequence[str]) -> Iterator[int]:
        for _, nodes in self._walks(reading, bases):
            for node in nodes:
                yield from node.positions
