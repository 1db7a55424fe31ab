"""Finding the path pattern that speaks of a file, in a time that does not grow with the patterns.

A pattern is filed under its leading literal directory, so that only the directories on the way to
a file are looked up. Where globs remain under one directory, they are filed once more by the rarest
name, ending or beginning that a matching path must have; globs are compiled when first met.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from agentscope_like.permission.errors import PatternError, RuleError
from agentscope_like.permission.paths.folding import compose, fold
from agentscope_like.permission.paths.globs import Component, fits, fixed_ends, may_hold
from agentscope_like.permission.paths.location import Location, is_below, names_of
from agentscope_like.permission.paths.patterns import PatternCompiler, bases_of
from agentscope_like.permission.rule import PermissionRule

__all__ = ["PathRuleIndex", "PathRules"]


class PathRuleIndex:
    """Many path patterns, compiled together.

    Args:
        contents: The patterns, in the order of their rules.
        strict: True for rules that allow: every reading of a path must match the same pattern, and
            names compare exactly. False for rules that deny or ask: one reading is enough, ignoring
            case and Unicode composition.
        home: What `~` stands for; the user's home by default.
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
        self._absolute: dict[str, _Directory] = {}
        self._relative: dict[str, _Directory] = {}
        compiler = PatternCompiler(home=home, aliases=not strict, real=real)
        for content, position in _first_positions(contents).items():
            for branch in compiler.compile(content).branches:
                table = self._absolute if branch.absolute else self._relative
                key = branch.base if strict else fold(branch.base)
                table.setdefault(key, _Directory()).add(branch.tail, position)

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
            location: The path; nothing below it is looked at.
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
        """Return what `match` says of each name in a directory, or None where it never can.

        Only for rules that deny or ask. What is known of the directory is looked up once, so that
        a name takes a fraction of the time.

        Args:
            folder: The directory.
            directories: The working directories, as for `match`.
        """
        if self.match_below(folder, directories) is None:
            return None
        bases = bases_of(directories) if self._relative else []
        found = [self._places(reading, bases) for reading in folder.readings]
        places = [place for among, _ in found for place in among]
        roots = {name for _, among in found for name in among}
        root = self._relative.get("")
        of_roots = [] if root is None else [*root.below, *root.itself]

        def match(name: str) -> int | None:
            key = fold(name)
            positions = of_roots.copy() if key in roots else []
            for place in places:
                positions += place.find(name, key)
            return min(positions) if positions else None

        return match

    def _places(self, folder: str, bases: Sequence[str]) -> tuple[list[_Place], list[str]]:
        """Return where one reading of a directory is filed, and the names in it that are bases."""
        names, key = names_of(compose(folder)), fold(folder)
        keys = names_of(key)
        places = [_Place(self._absolute, names, keys)] if self._absolute else []
        roots = []
        for base in bases:
            start = fold(base)
            depth = len(names_of(start))
            if is_below(key, start):
                places.append(_Place(self._relative, names[depth:], keys[depth:]))
            elif depth == len(keys) + 1 and is_below(start, key):
                roots.append(names_of(start)[-1])
        return places, roots

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
            yield from self._search(self._absolute, names, keys)
        for base in bases:
            start = base if self._strict else fold(base)
            if is_below(key, start):
                depth = len(names_of(start))
                yield from self._search(self._relative, names[depth:], keys[depth:])

    def _find_below(self, reading: str, bases: Sequence[str]) -> Iterator[int]:
        names, key = names_of(compose(reading)), fold(reading)
        if self._absolute:
            yield from _reaching(self._absolute, names, names_of(key))
        for base in bases:
            start = fold(base)
            if is_below(key, start):
                depth = len(names_of(start))
                yield from _reaching(self._relative, names[depth:], names_of(key)[depth:])
            elif is_below(start, key):
                for directory in self._relative.values():
                    yield from directory.positions()

    def _search(
        self, table: dict[str, _Directory], names: Sequence[str], keys: Sequence[str]
    ) -> Iterator[list[int]]:
        prefix = ""
        for depth, key in enumerate((*keys, None)):
            directory = table.get(prefix)
            if directory is not None:
                if directory.below:
                    yield directory.below
                if key is None:
                    if directory.itself:
                        yield directory.itself
                elif directory.globs is not None:
                    yield from directory.globs.find(
                        names[depth:], keys[depth:], strict=self._strict
                    )
            prefix = f"{prefix}/{key}"


class PathRules:
    """Rules about files that deny or ask; one without content speaks of every path.

    Args:
        rules: The rules; their contents are path patterns.
        home: What `~` stands for; the user's home by default.
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
        """Return the first rule that speaks of the path, or None."""
        position = self._index.match(location, directories)
        return None if position is None else self.rules[position]

    def match_below(
        self, location: Location, directories: Sequence[Location]
    ) -> PermissionRule | None:
        """Return the first rule that could speak of something below the path, or None."""
        position = self._index.match_below(location, directories)
        return None if position is None else self.rules[position]

    def within(
        self, folder: Location, directories: Sequence[Location]
    ) -> Callable[[str], PermissionRule | None] | None:
        """Return what `match` says of each name in a directory, or None where it never can."""
        match = self._index.within(folder, directories)
        if match is None:
            return None

        def rule_of(name: str) -> PermissionRule | None:
            position = match(name)
            return None if position is None else self.rules[position]

        return rule_of


def _reaching(
    table: dict[str, _Directory], names: Sequence[str], keys: Sequence[str]
) -> Iterator[int]:
    """Yield the positions of the patterns that could match something below the path of `names`."""
    prefix = ""
    for depth, key in enumerate((*keys, None)):
        directory = table.get(prefix)
        if directory is not None:
            yield from directory.below
            if directory.globs is not None:
                yield from directory.globs.find_below(names[depth:])
        if key is not None:
            prefix = f"{prefix}/{key}"
    for base, directory in table.items():
        if base.startswith(f"{prefix}/"):
            yield from directory.positions()


class _Directory:
    """The patterns whose leading names are one directory."""

    __slots__ = ("below", "globs", "itself")

    def __init__(self) -> None:
        self.itself: list[int] = []
        self.below: list[int] = []
        self.globs: _Globs | None = None

    def add(self, tail: tuple[Component, ...], position: int) -> None:
        if not tail:
            self.itself.append(position)
        elif len(tail) == 1 and tail[0].shape == "deep":
            self.below.append(position)
        else:
            if self.globs is None:
                self.globs = _Globs()
            self.globs.add(tail, position)

    def positions(self) -> Iterator[int]:
        """Yield the positions of all the patterns."""
        yield from self.itself
        yield from self.below
        if self.globs is not None:
            yield from self.globs.find_below(())


class _Place:
    """The patterns that could match a name in one directory.

    Args:
        table: The patterns by their leading directories.
        names: The names on the way from where the patterns start to the directory.
        keys: The same, as they are compared.
    """

    __slots__ = ("_below", "_globs", "_prefix", "_table")

    def __init__(
        self, table: dict[str, _Directory], names: Sequence[str], keys: Sequence[str]
    ) -> None:
        self._table = table
        self._below: list[int] = []
        self._globs: list[Callable[[str, str], list[int]]] = []
        prefix = ""
        for depth, key in enumerate((*keys, "")):
            directory = table.get(prefix)
            if directory is not None:
                self._below += directory.below
                if directory.globs is not None:
                    self._globs.append(directory.globs.within(names[depth:], keys[depth:]))
            prefix = f"{prefix}/{key}"
        self._prefix = prefix

    def find(self, name: str, key: str) -> list[int]:
        """Return the positions of the patterns that match a name.

        Args:
            name: The name.
            key: What is compared of it.
        """
        found = self._below.copy()
        directory = self._table.get(self._prefix + key)
        if directory is not None:
            found += directory.below
            found += directory.itself
        for find in self._globs:
            found += find(name, key)
        return found


_Tail = tuple[Component, ...]


class _Globs:
    """Globs below one directory, filed by what a matching path must contain.

    A feature is a name, or how a name ends or begins. Each glob is filed under the rarest of its
    features; one that has none, such as `*/*`, is always tried.
    """

    __slots__ = ("_ends", "_featureless", "_filed", "_names", "_starts", "_tails")

    def __init__(self) -> None:
        self._filed = False
        self._tails: dict[_Tail, list[int]] = {}
        self._names: dict[str, list[_Tail]] = {}
        self._ends: dict[int, dict[str, list[_Tail]]] = {}
        self._starts: dict[int, dict[str, list[_Tail]]] = {}
        self._featureless: list[_Tail] = []

    def add(self, tail: _Tail, position: int) -> None:
        self._tails.setdefault(tail, []).append(position)

    def find(
        self, names: Sequence[str], keys: Sequence[str], *, strict: bool
    ) -> Iterator[list[int]]:
        """Yield the positions of the globs that match, each group ascending."""
        if not self._filed:
            self._file(strict=strict)
        for tail in self._candidates(keys):
            if fits(names, tail, strict=strict):
                yield self._tails[tail]

    def find_below(self, names: Sequence[str]) -> Iterator[int]:
        """Yield the positions of the globs that could match something below these names."""
        for tail, positions in self._tails.items():
            if may_hold(names, tail, strict=False):
                yield from positions

    def within(self, names: Sequence[str], keys: Sequence[str]) -> Callable[[str, str], list[int]]:
        """Return what finds the positions of the globs that match these names and one more.

        It is given that name, and what is compared of it.
        """
        if not self._filed:
            self._file(strict=False)
        always = self._candidates(keys)

        def find(name: str, key: str) -> list[int]:
            found: list[int] = []
            candidates = always + self._having(key)
            if candidates:
                path = (*names, compose(name))
                for tail in candidates:
                    if fits(path, tail, strict=False):
                        found += self._tails[tail]
            return found

        return find

    def _candidates(self, keys: Sequence[str]) -> list[_Tail]:
        return [*self._featureless, *(tail for key in keys for tail in self._having(key))]

    def _having(self, key: str) -> list[_Tail]:
        """Return the globs that are filed under something that a name has."""
        found = list(self._names.get(key, ()))
        for length, ends in self._ends.items():
            found += ends.get(key[-length:], ())
        for length, starts in self._starts.items():
            found += starts.get(key[:length], ())
        return found

    def _file(self, *, strict: bool) -> None:
        features = {tail: list(_features(tail, strict=strict)) for tail in self._tails}
        counts = Counter(feature for listed in features.values() for feature in listed)
        for tail, listed in features.items():
            if not listed:
                self._featureless.append(tail)
                continue
            place, text = min(listed, key=counts.__getitem__)
            if place == "name":
                group = self._names
            else:
                places = self._ends if place == "end" else self._starts
                group = places.setdefault(len(text), {})
            group.setdefault(text, []).append(tail)
        self._filed = True


def _features(tail: Sequence[Component], *, strict: bool) -> Iterator[tuple[str, str]]:
    for component in reversed(tail):
        if component.shape == "name":
            yield "name", component.text if strict else fold(component.text)
        elif component.shape == "glob":
            start, end = fixed_ends(component.text if strict else compose(component.text))
            if end:
                yield "end", end if strict else fold(end)
            if start:
                yield "start", start if strict else fold(start)


def _first_positions(contents: Sequence[str]) -> dict[str, int]:
    positions: dict[str, int] = {}
    for position, content in enumerate(contents):
        positions.setdefault(content, position)
    return positions
