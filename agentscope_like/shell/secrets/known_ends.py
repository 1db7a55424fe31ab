"""Matches paths of which only the end is known against sensitive paths: `"$x/credentials"`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate
from functools import cache, lru_cache

from msgspec import Struct

from agentscope_like.paths import (
    SensitivePaths,
    fold,
    matches,
    paths_asked_to,
)

__all__ = [
    "is_any_name",
    "is_ending",
    "may_be_secret",
    "may_be_sensitive",
    "may_hold_secrets",
    "may_match_secret",
]

_MAGIC = re.compile(r"[*?\[]")
_ANYTHING = re.compile(r"[*?]*")
_ENDING = re.compile(r"\*+(?:\.[\w*?\[\]-]+)+")
"""A pattern of what names end with: `*.py`."""

_CLASS = re.compile(r"\[\[:\^?\w+:\]\]")
_SAMPLE = "_"
"""What `*` in the table is taken for where it is held against another pattern."""

_ANY_START = "**"
"""Any beginning of a name, a dot too."""


class _Entry(Struct, frozen=True, eq=False):
    """One path of the table, by its names; `is_deep` includes everything below it."""

    path: str
    does: str
    names: tuple[str, ...]
    is_deep: bool
    is_rooted: bool
    but: tuple[str, ...]

    def may_be_at(self, names: Sequence[str], end: int) -> bool:
        """Return whether a path that ends with some names may be this one up to number `end`."""
        if self.is_deep and names[end - 1].startswith(_ANY_START):
            return False  # a directory is not read
        count = min(end, len(self.names))
        is_whole = count == len(self.names)
        if self.is_rooted and (end != count if is_whole else self.is_deep and count == 1):
            return False  # one name alone of a directory of the system may be that of any
        last, own = names[end - count : end], self.names[-count:]
        if not all(map(_may_be, last, own)) or all(map(_is_any, last, own)):
            return False
        return not any(matches(names[-1], each) for each in self.but)


@lru_cache(maxsize=1024)
def may_be_secret(ending: str) -> str | None:
    """Return why a path with this end may be secret, or None.

    Args:
        ending: A pattern. Behind a slash at its beginning, its names are whole.
    """
    return _found(ending, paths_asked_to("read"))


@lru_cache(maxsize=1024)
def may_be_sensitive(ending: str) -> str | None:
    """Return why a path with this end may be sensitive to write, or None."""
    return _found(ending, paths_asked_to("write"))


@lru_cache(maxsize=1024)
def may_hold_secrets(ending: str, home: str | None) -> bool:
    """Return whether a directory whose path has this end may contain secrets.

    Names that are secret in any directory are not considered.

    Args:
        ending: With what the path ends, as for `may_be_secret`.
        home: The home directory, or None where unknown.
    """
    names = _names(ending)
    if not names or is_any_name(ending) or ".." in ending.split("/"):
        return True
    return any(
        _may_be(names[-1], place) for place in (*_places(), *fold(home or "").split("/")[1:])
    )


@lru_cache(maxsize=256)
def may_match_secret(pattern: str) -> str | None:
    """Return why a pattern given to a search may match a secret, or None.

    `src/*` and `*.json` suggest a secret no more than no pattern at all; `.e*`, `*.pem` and
    `secret*` do.

    Args:
        pattern: A pattern of git, or of a search that selects files by name.
    """
    plain = _CLASS.sub("?", pattern.replace("\\", "")).replace("[^", "[!")
    name = plain.rstrip("/*").rpartition("/")[2] if is_any_name(plain) else plain.rpartition("/")[2]
    if not _ENDING.fullmatch(name):
        return may_be_secret(f"/{_ANY_START if name[:1] == '*' else ''}{name}")
    for entry in _entries(paths_asked_to("read")):
        if _suggests(fold(name), entry.names[-1]):
            return f"`{pattern}` may match `{entry.path}`, which {entry.does}"
    return None


def _suggests(ending: str, own: str) -> bool:
    """Return whether who looks for names with this ending looks for those of the table.

    `*.pem` and `*.p*` suggest `*.pem`; `*.json` and `*.js*` do not suggest `*.tfvars.json`, which
    is one of many that end like this.
    """
    if not own.startswith("*.") or not _may_be(ending, own):
        return False
    return own.count(".") == 1 or matches(f"{_SAMPLE}{ending[1:]}", own)


def is_ending(pattern: str) -> bool:
    """Return whether a pattern only gives the end of a name (`*.py`), or matches anything."""
    name = pattern.rpartition("/")[2]
    return _ENDING.fullmatch(name) is not None or _ANYTHING.fullmatch(name) is not None


def is_any_name(ending: str) -> bool:
    """Return whether the last name of a path with this end may be anything."""
    return _ANYTHING.fullmatch(ending.rstrip("/").rpartition("/")[2]) is not None


def _found(ending: str, table: tuple[SensitivePaths, ...]) -> str | None:
    names = _names(ending)
    is_literal = _MAGIC.search("".join(names)) is None
    if is_literal and not any(map(_known_names(table).fullmatch, names)):
        return None
    ends = range(1, len(names) + 1)
    for each in _entries(table):
        if any(each.may_be_at(names, end) for end in (ends if each.is_deep else ends[-1:])):
            return f"a path that ends with `{ending}` may be `{each.path}`, which {each.does}"
    return None


def _names(ending: str) -> list[str]:
    """Return the names that a path ends with, folded; of the first there may be more."""
    first, *rest = fold(ending).split("/")
    return [name for name in (f"{_ANY_START}{first}" if first else "", *rest) if name.strip(".")]


@cache
def _places() -> frozenset[str]:
    """Return the names of the directories in which secrets have their place."""
    entries = _entries(paths_asked_to("read"))
    places = {name for entry in entries for name in entry.names[: None if entry.is_deep else -1]}
    return frozenset(name for name in places if _MAGIC.search(name) is None)


def _may_be(name: str, own: str) -> bool:
    """Return whether a name, perhaps a pattern, may be one of the table, perhaps a pattern too."""
    if name == own or ("*" in own and matches(name, own)):
        return True
    if own[0] == "." and not name.startswith((".", _ANY_START)):
        return False
    return _MAGIC.search(name) is not None and matches(own.replace("*", _SAMPLE), name)


def _is_any(name: str, own: str) -> bool:
    return bool(_ANYTHING.fullmatch(name) or _ANYTHING.fullmatch(own))


@cache
def _known_names(table: tuple[SensitivePaths, ...]) -> re.Pattern[str]:
    """Return what matches the last name of each path of a table that is not any name."""
    names = [[name for name in each.names if name.strip("*")][-1] for each in _entries(table)]
    return re.compile("|".join(map(translate, dict.fromkeys(names))))


@cache
def _entries(table: tuple[SensitivePaths, ...]) -> tuple[_Entry, ...]:
    return tuple(_entry(path, row) for row in table for path in row.paths)


def _entry(path: str, row: SensitivePaths) -> _Entry:
    names = fold(path.removesuffix("/**")).split("/")
    return _Entry(
        path=path,
        does=row.does,
        names=tuple(names[1:] if names[0] in {"", "~"} else names),
        is_deep=path.endswith("/**"),
        is_rooted=path.startswith("/"),
        but=tuple([fold(each.removesuffix("/**")) for each in row.but]),
    )
