"""Indexes path patterns, so that only those that could match a path are tried.

A pattern is indexed by its leading literal directory, so that only the directories above a file are
looked up. The globs below one directory are indexed again by the rarest name, prefix or suffix that
a matching path must have; a glob is compiled when it is first tried.

A pattern is identified by its position in the list of all patterns. A path is given as its names
and their keys, which are compared: the folded names, or for rules that allow the names themselves.

wcmatch compiles the components that are globs; `**` is walked here, because in one regular
expression three of them take seconds on a path of 500 directories.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from agentscope_like.paths.case_folding import compose, fold
from agentscope_like.sized_cache import cached_by_size

__all__ = ["Component", "NameMatcher", "PatternTable", "fits", "fixed_ends", "may_hold"]

_FIXED_ENDS = re.compile(r"([^*?\[\\]*).*?([^*?\[\]\\]*)", re.DOTALL)

_Shape: TypeAlias = Literal["name", "glob", "any", "deep"]
"""What one component of a tail matches: a name, a glob, any one name, any number of names."""


class Component(NamedTuple):
    """One component; `text` is the name without escapes, or the glob as written."""

    shape: _Shape
    text: str


def fits(names: Sequence[str], tail: Sequence[Component], *, strict: bool) -> bool:
    """Return whether all names match all components.

    `**` takes as few names as it can. Only the last `**` is retried with more names, since it can
    take anything that an earlier one could. So the time is bounded by the product of the lengths.
    """
    at = here = back_at = 0
    back = -1
    while at < len(names):
        if here < len(tail):
            component = tail[here]
            if component.shape == "deep":
                back, back_at = here, at
                here += 1
                continue
            if _fits_one(names[at], component, strict=strict):
                at += 1
                here += 1
                continue
        if back < 0:
            return False
        back_at += 1
        at, here = back_at, back + 1
    return all(component.shape == "deep" for component in tail[here:])


def may_hold(names: Sequence[str], tail: Sequence[Component], *, strict: bool) -> bool:
    """Return whether a path that begins with these names can match all components."""
    for depth, name in enumerate(names):
        if depth >= len(tail):
            return False
        if tail[depth].shape == "deep":
            return True
        if not _fits_one(name, tail[depth], strict=strict):
            return False
    return len(tail) > len(names)


def _fits_one(name: str, component: Component, *, strict: bool) -> bool:
    shape, text = component
    if shape == "any":
        return True
    if shape == "name":
        return name == text if strict else fold(name) == fold(text)
    if _matcher(text, ignore_case=False)(name) is not None:
        return True
    # Ignoring case makes `[!a]` match less, so the exact reading counts for a loose one as well.
    return not strict and _matcher(compose(text), ignore_case=True)(compose(name)) is not None


@cached_by_size(1_000_000)
def _matcher(text: str, *, ignore_case: bool) -> Callable[[str], object]:
    from wcmatch import glob  # takes 20 ms to import

    flags = glob.DOTGLOB | glob.FORCEUNIX | (glob.IGNORECASE if ignore_case else 0)
    matching, _ = glob.translate(text, flags=flags)
    return re.compile(matching[0]).fullmatch


def fixed_ends(glob: str) -> tuple[str, str]:
    """Return how every name that a one-name glob matches must begin, and how it must end."""
    found = _FIXED_ENDS.fullmatch(glob)
    return (found[1], found[2]) if found else ("", "")


NameMatcher: TypeAlias = Callable[[str, str], list[int]]
"""Returns the positions of the patterns that match a name in one directory, given its key too."""

_Tail: TypeAlias = tuple[Component, ...]


class PatternTable:
    """Patterns that start at one directory, indexed by their leading directories.

    Args:
        strict: Whether names are compared exactly, not folded.
    """

    __slots__ = ("_directories", "_strict")

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict
        self._directories: dict[str, _Directory] = {}

    def __bool__(self) -> bool:
        return bool(self._directories)

    def add(self, base: str, tail: _Tail, position: int) -> None:
        """Add a pattern.

        Args:
            base: Its leading directory; empty, or with a slash before each name.
            tail: The components after it.
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
        """Return a function that finds the patterns matching a name in the directory of this path.

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
        """Return the positions of the patterns that match the directory where they start."""
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
    """Globs below one directory, indexed by what a matching path must contain.

    A feature is a name, a prefix or a suffix of a name. Each glob is indexed by its rarest feature;
    one without a feature, such as `*/*`, is always tried.
    """

    __slots__ = ("_by_feature", "_counts", "_featureless", "_strict", "_tails")

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict
        self._tails: dict[_Tail, list[int]] = {}
        self._featureless: list[_Tail] = []
        self._by_feature: list[tuple[slice, dict[str, list[_Tail]]]] | None = None
        self._counts: Counter[tuple[tuple[int | None, int | None], str]] = Counter()

    def add(self, tail: _Tail, position: int) -> None:
        positions = self._tails.setdefault(tail, [])
        positions.append(position)
        if self._by_feature is not None and len(positions) == 1:
            self._counts.update(_features(tail, strict=self._strict))
            self._file(tail, self._by_feature)

    def find(self, names: Sequence[str], keys: Sequence[str]) -> Iterator[list[int]]:
        """Yield the positions of the globs that match, each group ascending."""
        for tail in self._candidates(keys):
            if fits(names, tail, strict=self._strict):
                yield self._tails[tail]

    def find_below(self, names: Sequence[str]) -> Iterator[int]:
        """Yield the positions of the globs that could match something below these names."""
        for tail, positions in self._tails.items():
            if may_hold(names, tail, strict=False):
                yield from positions

    def within(self, names: Sequence[str], keys: Sequence[str]) -> NameMatcher:
        """Return a function that finds the globs matching these names and one more."""
        always = self._candidates(keys)
        filed = self._filed()

        def find(name: str, key: str) -> list[int]:
            candidates = always
            for cut, tails in filed:
                having = tails.get(key[cut])
                if having:
                    candidates = candidates + having
            path = (*names, compose(name)) if candidates else ()
            return [
                position
                for tail in candidates
                if fits(path, tail, strict=False)
                for position in self._tails[tail]
            ]

        return find

    def _candidates(self, keys: Sequence[str]) -> list[_Tail]:
        """Return the globs that may match a path."""
        filed = self._filed()
        candidates = self._featureless.copy()
        for cut, tails in filed:
            for key in keys:
                candidates += tails.get(key[cut], ())
        return candidates

    def _filed(self) -> list[tuple[slice, dict[str, list[_Tail]]]]:
        """Return the globs by feature: the part of the name, and its text."""
        if self._by_feature is None:
            self._by_feature = []
            for tail in self._tails:
                self._counts.update(_features(tail, strict=self._strict))
            for tail in self._tails:
                self._file(tail, self._by_feature)
        return self._by_feature

    def _file(self, tail: _Tail, filed: list[tuple[slice, dict[str, list[_Tail]]]]) -> None:
        """Index a glob by the rarest of its features so far."""
        features = list(_features(tail, strict=self._strict))
        if not features:
            self._featureless.append(tail)
            return
        (start, end), text = min(features, key=self._counts.__getitem__)
        cut = slice(start, end)
        tails = next((tails for known, tails in filed if known == cut), None)
        if tails is None:
            tails = {}
            filed.append((cut, tails))
        tails.setdefault(text, []).append(tail)


def _features(
    tail: Sequence[Component], *, strict: bool
) -> Iterator[tuple[tuple[int | None, int | None], str]]:
    """Yield the features of a component: start and end in the name, and the text there."""
    for component in reversed(tail):
        if component.shape == "name":
            yield (None, None), component.text if strict else fold(component.text)
        elif component.shape == "glob":
            start, end = fixed_ends(component.text if strict else compose(component.text))
            if not strict:
                start, end = fold(start), fold(end)
            if end:
                yield (-len(end), None), end
            if start:
                yield (None, len(start)), start
