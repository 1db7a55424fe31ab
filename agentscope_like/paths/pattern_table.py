"""Matches path patterns as a tree of their components, which a path is walked through by its names.

Patterns that begin alike share nodes, and the globs in one node are found by how a matching name
begins or ends. So the time depends on the path and hardly on the number of patterns. A walk is at
several nodes at once, and at each of them only once, so that many `**` do not multiply.

wcmatch compiles the components that are globs, each when it is first tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from agentscope_like.paths.case_folding import compose, fold
from agentscope_like.sized_cache import cached_by_size

__all__ = ["Component", "PatternNode", "PatternTable", "fixed_ends"]

_FIXED_ENDS = re.compile(r"([^*?\[\\]*).*?([^*?\[\]\\]*)", re.DOTALL)

_MOST_FILED = 4
"""Characters that a glob is filed by; it is tried where a name begins or ends with them."""

_Shape: TypeAlias = Literal["name", "glob", "deep"]
"""What one component of a pattern matches: a name, the names of a glob, any number of names."""


class Component(NamedTuple):
    """One component; `text` is the name without escapes, or the glob as written."""

    shape: _Shape
    text: str


class PatternNode:
    """What some components at the beginning of patterns lead to.

    Attributes:
        is_deep: Whether the last component is `**`.
        positions: The positions of the patterns that end here, ascending.
        first_below: The least position of the patterns that may match something below; None if
            there is none.
    """

    __slots__ = ("_deep", "_globs", "_names", "first_below", "is_deep", "positions")

    def __init__(self, *, is_deep: bool = False) -> None:
        self.positions: list[int] = []
        self.first_below: int | None = None
        self.is_deep = is_deep
        self._names: dict[str, PatternNode] = {}
        self._globs: _Globs | None = None
        self._deep: PatternNode | None = None

    def child(self, component: Component, *, strict: bool) -> PatternNode:
        """Return the node behind one more component, which is made where there is none."""
        shape, text = component
        if shape == "name":
            key = text if strict else fold(text)
            if key not in self._names:
                self._names[key] = PatternNode()
            return self._names[key]
        if shape == "deep":
            self._deep = self._deep or PatternNode(is_deep=True)
            return self._deep
        self._globs = self._globs or _Globs(strict=strict)
        return self._globs.node(text)

    def add(self, position: int) -> None:
        """Let a pattern end here."""
        self.positions.append(position)
        if self.is_deep:
            self.lead_to(position)

    def lead_to(self, position: int) -> None:
        """Let a pattern go on below this node."""
        if self.first_below is None:
            self.first_below = position

    def enter(self, nodes: list[PatternNode]) -> None:
        """Add this node to those of a walk, and the one behind a `**` that matches no name."""
        nodes.append(self)
        if self._deep is not None:
            nodes.append(self._deep)

    def step(self, name: str, key: str, nodes: list[PatternNode]) -> None:
        """Add the nodes behind one more name of a path to those of a walk."""
        if self.is_deep:
            nodes.append(self)
        if (child := self._names.get(key)) is not None:
            child.enter(nodes)
        if self._globs is not None:
            for child in self._globs.matching(name, key):
                child.enter(nodes)


class PatternTable:
    """Patterns that start at one directory.

    Args:
        strict: Whether names are compared exactly, not folded.

    Attributes:
        first: The least position of a pattern; None if there is none.
    """

    __slots__ = ("_root", "_strict", "first")

    def __init__(self, *, strict: bool) -> None:
        self.first: int | None = None
        self._strict = strict
        self._root = PatternNode()

    def add(self, components: Iterable[Component], position: int) -> None:
        """Add a pattern, at a position that is not below those of the others."""
        self.first = position if self.first is None else self.first
        node = self._root
        for component in components:
            node.lead_to(position)
            node = node.child(component, strict=self._strict)
        node.add(position)

    def walk(
        self, names: Iterable[str], start: Sequence[PatternNode] | None = None
    ) -> Sequence[PatternNode]:
        """Return the nodes that the names of a path lead to; none where no pattern can match.

        Args:
            names: The names.
            start: Where earlier names have led to; where the patterns start by default.
        """
        nodes: list[PatternNode] = []
        if start is None:
            self._root.enter(nodes)
            start = nodes
        here = start
        for name in names:
            key = name if self._strict else fold(name)
            nodes = []
            for node in here:
                node.step(name, key, nodes)
            here = list(dict.fromkeys(nodes))
        return here


class _Globs:
    """The globs that follow one node, filed by how a matching name must begin or end."""

    __slots__ = ("_filed", "_nodes", "_strict")

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict
        self._nodes: dict[str, PatternNode] = {}
        self._filed: dict[tuple[int | None, int | None], dict[str, list[str]]] = {}

    def node(self, glob: str) -> PatternNode:
        """Return the node behind a glob, which is made where there is none."""
        known = self._nodes.get(glob)
        if known is None:
            known = self._nodes[glob] = PatternNode()
            start, end = fixed_ends(glob)
            if not self._strict:
                start, end = fold(start), fold(end)
            if len(end) > len(start):
                end = end[-_MOST_FILED:]
                filed = self._filed.setdefault((-len(end), None), {}).setdefault(end, [])
            else:
                start = start[:_MOST_FILED]
                filed = self._filed.setdefault((None, len(start)), {}).setdefault(start, [])
            filed.append(glob)
        return known

    def matching(self, name: str, key: str) -> Iterator[PatternNode]:
        """Yield the nodes behind the globs that match a name."""
        for (start, end), globs in self._filed.items():
            for glob in globs.get(key[start:end], ()):
                if self._fits(name, glob):
                    yield self._nodes[glob]

    def _fits(self, name: str, glob: str) -> bool:
        if glob == "*":
            return True
        if self._strict:
            return _matcher(glob, ignore_case=False)(name) is not None
        # Ignoring case makes `[!a]` match less, so the exact reading counts as well.
        name = compose(name)
        return (
            _matcher(glob, ignore_case=False)(name) is not None
            or _matcher(compose(glob), ignore_case=True)(name) is not None
        )


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
