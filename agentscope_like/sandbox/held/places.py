"""Tells what a held command sees of the home and of other places that are not the system's."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct

from agentscope_like.paths import is_below
from agentscope_like.toml_tables import WordSet, read_table

__all__ = ["empty_places", "hidden_places", "made_caches", "seen_places"]

_TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108 - a held command has its own


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The lists of `places.toml`, which says what each is."""

    empty: tuple[str, ...]
    seen: tuple[str, ...]
    home: WordSet
    not_whole: tuple[str, ...]
    variables: WordSet
    made: tuple[str, ...]
    not_tools: WordSet


@cache
def _table() -> _Table:
    return read_table(Path(__file__).with_name("places.toml"), _Table)


def empty_places(home: str) -> tuple[str, ...]:
    """Return the directories that are empty but for what is seen in them.

    Args:
        home: The home directory.
    """
    places = [os.path.realpath(each) for each in (*_table().empty, home) if _is_home(each)]
    return tuple(dict.fromkeys(each for each in places if os.path.isdir(each)))


def seen_places(home: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return what is seen in the directories that are empty otherwise.

    Args:
        home: The home directory.
        environment: The command's variables, which name directories of programs.
    """
    table = _table()
    own = os.path.realpath(home)
    named = [environment[name] for name in sorted(table.variables) if name in environment]
    named += _around_programs(environment.get("PATH", "").split(":"), own)
    places = [*table.seen, *(f"{own}/{each}" for each in sorted(table.home))]
    empty = empty_places(home)
    places += [each for each in map(os.path.normpath, named) if _is_in_one(each, empty)]
    return tuple(dict.fromkeys(each for each in places if os.path.exists(each)))


def made_caches(home: str) -> tuple[str, ...]:
    """Return the caches that do not exist in the home and are made for held commands."""
    own = os.path.realpath(home)
    places = (f"{own}/{each}" for each in _table().made)
    is_home = _is_home(home) and os.path.isdir(own)
    return tuple(each for each in places if is_home and not os.path.lexists(each))


def hidden_places(home: str) -> tuple[str, ...]:
    """Return what is hidden of the caches of the home."""
    own = os.path.realpath(home)
    places = (f"{own}/{each}" for each in sorted(_table().not_tools))
    return tuple(each for each in places if os.path.isdir(each))


def _is_home(place: str) -> bool:
    return os.path.isabs(place) and os.path.realpath(place) not in {"/", *_TEMPORARY}


def _around_programs(entries: Iterable[str], home: str) -> Iterator[str]:
    """Yield the directories of PATH, or those around them where programs keep more."""
    whole = {home, *(f"{home}/{each}" for each in _table().not_whole)}
    for entry in entries:
        if entry.startswith("/"):
            around, name = os.path.split(os.path.normpath(entry))
            is_part = name in {"bin", "sbin"} and around not in whole
            yield around if is_part else entry


def _is_in_one(place: str, directories: Iterable[str]) -> bool:
    """Return whether a path is below one of the directories, and is none of them."""
    directories = tuple(directories)
    return place not in directories and any(is_below(place, each) for each in directories)
