"""Path patterns filed so that only those that could match a path are tried.

A pattern is filed under its leading literal directory, so that only the directories on the way to
a file are looked up. Where globs remain under one directory, they are filed once more by the rarest
name, ending or beginning that a matching path must have; globs are compiled when first met.

A pattern is known by its position among all. A path is given as its names and its keys: these are
what is compared of the names, and are the names themselves for rules that allow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from agentscope_like.permission.paths.folding import compose, fold
from agentscope_like.permission.paths.globs import Component, fits, fixed_ends, may_hold

__all__ = ["NameMatcher", "PatternTable"]

NameMatcher: TypeAlias = Callable[[str, str], list[int]]
"""Returns the positions of the patterns that match a name in one directory, given its key too."""

_Tail: TypeAlias = tuple[Component, ...]


class PatternTable:
    """Patterns that start at one place, filed by their leading directories.

    Args:
        strict: Whether names are compared as they are, and not by what is folded of them.
    """

    __slots__ = ("_directories", "_strict")

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict
        self._directories: dict[str, _Directory] = {}

    def __bool__(self) -> bool:
        return bool(self._directories)

    def add(self, base: str, tail: _Tail, position: int) -> None:
        """File a pattern.

        Args:
            base: Its leading directory; empty, or with a slash before each name.
            tail: What follows.
            position: Its position.
        """
        key = base if self._strict else fold(base)
        self._directories.setdefault(key, _Directory(strict=self._strict)).add(tail, position)

    def find(self, names: Sequence[str], keys: Sequence[str]) -> Iterator[list[int]]:
        """Yield the positions of the patterns that match a path, each group ascending."""
        prefix = ""
        for depth, key in enumerate((*keys, None)):
            directory = self._directories.get(prefix)
            if directory is not None:
                if directory.below:
                    yield directory.below
                if key is None:
                    if directory.itself:
                        yield directory.itself
                elif directory.globs is not None:
                    yield from directory.globs.find(names[depth:], keys[depth:])
            prefix = f"{prefix}/{key}"

    def find_below(self, names: Sequence[str], keys: Sequence[str]) -> Iterator[int]:
        """Yield the positions of the patterns that could match something below a path.

        Only for a table that is not strict.
        """
        prefix = ""
        for depth, key in enumerate((*keys, None)):
            directory = self._directories.get(prefix)
            if directory is not None:
                yield from directory.below
                if directory.globs is not None:
                    yield from directory.globs.find_below(names[depth:])
            if key is not None:
                prefix = f"{prefix}/{key}"
        for base, directory in self._directories.items():
            if base.startswith(f"{prefix}/"):
                yield from directory.positions()

    def within(self, names: Sequence[str], keys: Sequence[str]) -> NameMatcher:
        """Return what finds the patterns that match a name in the directory of this path.

        Only for a table that is not strict.
        """
        below: list[int] = []
        globs: list[NameMatcher] = []
        prefix = ""
        for depth, key in enumerate((*keys, "")):
            directory = self._directories.get(prefix)
            if directory is not None:
                below += directory.below
                if directory.globs is not None:
                    globs.append(directory.globs.within(names[depth:], keys[depth:]))
            prefix = f"{prefix}/{key}"

        def find(name: str, key: str) -> list[int]:
            found = below.copy()
            directory = self._directories.get(prefix + key)
            if directory is not None:
                found += directory.below
                found += directory.itself
            for find_glob in globs:
                found += find_glob(name, key)
            return found

        return find

    def at_start(self) -> list[int]:
        """Return the positions of the patterns that match the place where they start."""
        directory = self._directories.get("")
        return [] if directory is None else [*directory.below, *directory.itself]

    def positions(self) -> Iterator[int]:
        """Yield the positions of all the patterns."""
        for directory in self._directories.values():
            yield from directory.positions()


class _Directory:
    """The patterns whose leading names are one directory."""

    __slots__ = ("below", "globs", "itself", "strict")

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict
        self.itself: list[int] = []
        self.below: list[int] = []
        self.globs: _Globs | None = None

    def add(self, tail: _Tail, position: int) -> None:
        if not tail:
            self.itself.append(position)
        elif len(tail) == 1 and tail[0].shape == "deep":
            self.below.append(position)
        else:
            if self.globs is None:
                self.globs = _Globs(strict=self.strict)
            self.globs.add(tail, position)

    def positions(self) -> Iterator[int]:
        """Yield the positions of all the patterns."""
        yield from self.itself
        yield from self.below
        if self.globs is not None:
            yield from self.globs.find_below(())


class _Globs:
    """Globs below one directory, filed by what a matching path must contain.

    A feature is a name, or how a name ends or begins. Each glob is filed under the rarest of its
    features; one that has none, such as `*/*`, is always tried.
    """

    __slots__ = ("_ends", "_featureless", "_filed", "_names", "_starts", "_strict", "_tails")

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict
        self._filed = False
        self._tails: dict[_Tail, list[int]] = {}
        self._names: dict[str, list[_Tail]] = {}
        self._ends: dict[int, dict[str, list[_Tail]]] = {}
        self._starts: dict[int, dict[str, list[_Tail]]] = {}
        self._featureless: list[_Tail] = []

    def add(self, tail: _Tail, position: int) -> None:
        self._tails.setdefault(tail, []).append(position)

    def find(self, names: Sequence[str], keys: Sequence[str]) -> Iterator[list[int]]:
        """Yield the positions of the globs that match, each group ascending."""
        if not self._filed:
            self._file()
        for tail in self._candidates(keys):
            if fits(names, tail, strict=self._strict):
                yield self._tails[tail]

    def find_below(self, names: Sequence[str]) -> Iterator[int]:
        """Yield the positions of the globs that could match something below these names."""
        for tail, positions in self._tails.items():
            if may_hold(names, tail, strict=False):
                yield from positions

    def within(self, names: Sequence[str], keys: Sequence[str]) -> NameMatcher:
        """Return what finds the globs that match these names and one more."""
        if not self._filed:
            self._file()
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

    def _file(self) -> None:
        features = {tail: list(_features(tail, strict=self._strict)) for tail in self._tails}
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
