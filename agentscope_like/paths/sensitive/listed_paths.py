"""Matches paths against lists of paths, such as those of `sensitive.toml`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from agentscope_like.paths.case_folding import fold, without_invisible
from agentscope_like.paths.location import names_of
from agentscope_like.paths.pattern_table import Component, PatternNode, PatternTable

__all__ = ["Homes", "ListedPaths", "folded", "folded_homes", "own_names"]

Homes: TypeAlias = tuple[tuple[str, ...], ...]
"""The folded names of each home directory."""

_Nodes: TypeAlias = Sequence[PatternNode]
_DEEP = Component("deep", "**")


class ListedPaths:
    """Paths as a table lists them: `/etc/x`, `~/x`, and `x/y` in any directory.

    `x/**` is `x` and everything below it, anything else only that path; `*` stays within one name.
    """

    def __init__(self) -> None:
        self._anywhere = PatternTable(strict=False)
        self._in_home = PatternTable(strict=False)
        self._folders = lru_cache(maxsize=1024)(self._nodes)

    def add(self, path: str, position: int) -> None:
        """Add a path, at a position that is not below those of the others."""
        parts = [Component("glob" if "*" in name else "name", name) for name in own_names(path)]
        if path.endswith("/**"):
            parts.append(_DEEP)
        if path.startswith("~/"):
            self._in_home.add(parts, position)
        else:
            self._anywhere.add(parts if path.startswith("/") else (_DEEP, *parts), position)

    def find(self, path: str, homes: Homes) -> set[int]:
        """Return the positions of the listed paths that match a path, which is folded."""
        return {position for node in self._reached(path, homes) for position in node.positions}

    def find_below(self, path: str, homes: Homes) -> int | None:
        """Return the least position of a listed path below a directory, or None.

        What may be in any directory does not count.
        """
        nodes = (node for node in self._reached(path, homes) if not node.is_deep)
        return min(
            (node.first_below for node in nodes if node.first_below is not None), default=None
        )

    def _reached(self, path: str, homes: Homes) -> list[PatternNode]:
        folder, _, name = path.rpartition("/")
        anywhere, in_home = self._folders(folder, homes)
        last = (name,) if name else ()
        found = [*self._anywhere.walk(last, anywhere)]
        for nodes in in_home:
            found += self._in_home.walk(last, nodes)
        return found

    def _nodes(self, folder: str, homes: Homes) -> tuple[_Nodes, list[_Nodes]]:
        """Return where the names of a folder lead to, from the root and from each home above it."""
        names = tuple(names_of(folder))
        below = (names[len(home) :] for home in homes if names[: len(home)] == home)
        return self._anywhere.walk(names), [self._in_home.walk(each) for each in below]


def own_names(path: str) -> list[str]:
    """Return the names of a listed path, without what says where it begins."""
    names = path.removesuffix("/**").split("/")
    return names[1:] if names[0] in ("", "~") else names


def folded(path: str) -> str:
    """Return a path folded, without characters that nobody sees."""
    return path.lower() if path.isascii() else fold(without_invisible(path))


@lru_cache(maxsize=16)
def folded_homes(home: str) -> Homes:
    """Return the folded names of a home directory, as written and as resolved."""
    if home in ("", "/"):
        return ()
    return tuple({tuple(fold(path)[1:].split("/")) for path in (home, os.path.realpath(home))})
