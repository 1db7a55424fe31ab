"""Tells whether `find` lists regular files only, and no symlinks."""

from __future__ import annotations

from itertools import takewhile

from agentscope_like.shell.analysis import Part, answered_once
from agentscope_like.shell.names.name_sources import plain_name

__all__ = ["finds_files_alone"]

_OR, _NOT = frozenset({"-o", "-or"}), frozenset({"!", "-not"})
_ACTIONS = ("-exec", "-ok", "-print", "-ls", "-fprint", "-fls", "-delete")


@answered_once
def finds_files_alone(part: Part) -> bool:
    """Return whether a part is `find` and lists regular files only, no symlinks."""
    if plain_name(part.program or "") != "find" or "," in part.argv or "-L" in part.argv:
        return False
    words = _without_groups([word or "" for word in part.argv])
    if words is None:
        return False
    acts = any(map(_acts, words))
    ways: list[list[str]] = [[]]
    for word in words:
        ways = [*ways, []] if word in _OR else [*ways[:-1], [*ways[-1], word]]
    return all(_is_of_files(way) or (acts and way[-1:] == ["-prune"]) for way in ways)


def _is_of_files(words: list[str]) -> bool:
    """Return whether the tests require a regular file before any action."""
    tests = list(takewhile(lambda word: not _acts(word), words))
    return any(
        (test, kind) == ("-type", "f") and before not in _NOT
        for before, test, kind in zip(["", *tests], tests, tests[1:], strict=False)
    )


def _acts(word: str) -> bool:
    return word.startswith(_ACTIONS)


def _without_groups(words: list[str]) -> list[str] | None:
    """Return the words of `find` without groups in brackets; None if a group has an action."""
    kept: list[str] = []
    depth = 0
    for word in words:
        depth += (word == "(") - (word == ")")
        if depth and _acts(word):
            return None
        if not depth and word != ")":
            kept.append(word)
    return kept
