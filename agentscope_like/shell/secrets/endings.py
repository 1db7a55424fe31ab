"""What a path may be of which only the end is known, such as `$directory/credentials`.

The end is a pattern: its names are compared with those that the table has, from the last one on. In
front of them anything may stand, so a path of the table that goes on there may be the one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import TypeAlias

from msgspec import Struct

from agentscope_like.paths import (
    SensitivePaths,
    fold,
    matches,
    matching,
    paths_asked_to_read,
    paths_asked_to_write,
)

__all__ = ["is_anything", "may_be_secret", "may_be_sensitive", "may_hold_secrets"]

_MAGIC = re.compile(r"[*?\[]")
_ANYTHING = re.compile(r"[*?]*")
_SOMETHING = "_"
"""Stands for the part of a name that is not known."""

_ANY_START = "**"
"""Stands for any beginning of a name, a dot too."""


class _Sensitive(Struct, frozen=True):
    """One path of the table.

    Its names are folded; `is_deep` tells that all below it is meant too.
    """

    path: str
    does: str
    names: tuple[str, ...]
    is_deep: bool
    is_rooted: bool
    but: tuple[str, ...]

    @property
    def places(self) -> tuple[str, ...]:
        """Return the names of the directories that it lies in, or is."""
        return self.names if self.is_deep else self.names[:-1]

    def may_end_at(self, names: Sequence[str], end: int) -> bool:
        """Return whether a path that ends with some names may be this one up to number `end`.

        Args:
            names: The names, patterns each.
            end: How many of them belong to it.
        """
        length = min(end, len(self.names))
        if self.is_rooted and not self._may_be_rooted_at(end, length):
            return False
        pairs = list(zip(names[end - length : end], self.names[-length:], strict=True))
        if not all(_may_be(*pair) for pair in pairs) or all(map(_says_nothing, pairs)):
            return False
        return not any(matches(names[-1], each) for each in self.but)

    def _may_be_rooted_at(self, end: int, length: int) -> bool:
        """Return whether it may begin at the root where its last names are so many.

        One name alone of a directory of the system, as `private`, may be that of any.
        """
        if length == len(self.names):
            return end == length
        return length > 1 or not self.is_deep


_Table: TypeAlias = tuple[SensitivePaths, ...]


@lru_cache(maxsize=1024)
def may_be_secret(ending: str) -> str | None:
    """Return why a path that ends so may be one that is sensitive to read, or None.

    Args:
        ending: With what the path ends, a pattern. Where it begins with a slash, its names are
            whole; else there may be more of the first one.
    """
    return _found(ending, paths_asked_to_read())


@lru_cache(maxsize=1024)
def may_be_sensitive(ending: str) -> str | None:
    """Return why a path that ends so may be one that is sensitive to write, or None."""
    return _found(ending, paths_asked_to_write())


@lru_cache(maxsize=1024)
def may_hold_secrets(ending: str, home: str | None) -> bool:
    """Return whether a directory whose path ends so may be the place of secrets.

    Whatever is secret under its name alone may lie in any directory, and is not meant.

    Args:
        ending: With what the path ends, as for `may_be_secret`.
        home: The home directory, or None where unknown.
    """
    readings = list(_readings(ending))
    if is_anything(ending) or any(".." in names for names in readings):
        return True
    places = {
        name
        for each in _known(paths_asked_to_read())
        for name in each.places
        if _MAGIC.search(name) is None
    }
    places.update(filter(None, fold(home or "").split("/")))
    return any(_may_be(names[-1], place) for names in readings for place in places)


def is_anything(ending: str) -> bool:
    """Return whether a path that ends so may have any name at all."""
    names = _names(ending)
    return not names or _ANYTHING.fullmatch(names[-1]) is not None


def _found(ending: str, table: _Table) -> str | None:
    for names in _readings(ending):
        for each in _candidates(names, table):
            ends = range(1, len(names) + 1) if each.is_deep else (len(names),)
            if any(each.may_end_at(names, end) for end in ends):
                return f"what ends with `{ending}` may be `{each.path}`, which {each.does}"
    return None


def _readings(ending: str) -> Iterator[list[str]]:
    """Yield the names that a path ends with; what stands before a lone one may be nothing."""
    yield _names(ending)
    if "/" not in ending and _MAGIC.search(ending) is None:
        yield [fold(ending)]


def _names(ending: str) -> list[str]:
    """Return the names that a path ends with, folded; of the first there may be more."""
    first, *names = fold(ending).split("/")
    if not _ANYTHING.fullmatch(first):
        names = [f"{_ANY_START if names else _SOMETHING}{first}", *names]
    return [name for name in names if name not in ("", ".")]


def _candidates(names: Sequence[str], table: _Table) -> Iterator[_Sensitive]:
    """Yield the paths of a table whose last name may be one of some names."""
    literal, patterns = _by_last_name(table)
    for name in names:
        if _MAGIC.search(name) is None:
            yield from literal.get(name, ())
        else:
            for own in filter(matching(name), literal):
                yield from literal[own]
        yield from patterns


def _may_be(name: str, own: str) -> bool:
    """Return whether a name, perhaps a pattern, may be one of the table, perhaps a pattern too."""
    if name == own or ("*" in own and matches(name, own)):
        return True
    if _MAGIC.search(name) is None:
        return False
    like = own.replace("*", _SOMETHING)
    hides = like[0] == "." and name[0] != "." and not name.startswith(_ANY_START)
    return not hides and matches(like, name)


def _says_nothing(pair: tuple[str, str]) -> bool:
    return any(map(_ANYTHING.fullmatch, pair))


@cache
def _known(table: _Table) -> tuple[_Sensitive, ...]:
    return tuple(_read(path, entry) for entry in table for path in entry.paths)


@cache
def _by_last_name(table: _Table) -> tuple[dict[str, list[_Sensitive]], list[_Sensitive]]:
    """Return the paths of a table by their last name, and those where it is a pattern."""
    literal: dict[str, list[_Sensitive]] = {}
    patterns: list[_Sensitive] = []
    for each in _known(table):
        name = each.names[-1]
        if "*" in name:
            patterns.append(each)
        else:
            literal.setdefault(name, []).append(each)
    return literal, patterns


def _read(path: str, entry: SensitivePaths) -> _Sensitive:
    names = fold(path.removesuffix("/**")).split("/")
    is_rooted = names[0] == ""
    if names[0] in ("", "~"):
        names = names[1:]
    but = tuple([fold(each.removesuffix("/**")) for each in entry.but])
    return _Sensitive(
        path=path,
        does=entry.does,
        names=tuple(names),
        is_deep=path.endswith("/**"),
        is_rooted=is_rooted,
        but=but,
    )
