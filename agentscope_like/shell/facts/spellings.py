"""Yields other spellings of a command, and what git's aliases stand for: for deny and ask rules."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import TypeAlias

from msgspec import Struct

from agentscope_like.shell.catalog import canonical, families, names, names_of
from agentscope_like.shell.facts.possible_commands import raw_commands
from agentscope_like.shell.values import Words
from agentscope_like.toml_tables import Expression, WordSet, table_beside

__all__ = [
    "alias_readings",
    "called_alias",
    "other_spellings",
    "perhaps_aliased",
    "perhaps_spelled",
    "spelled_as",
]

_MODULE_FLAG = re.compile(r"-[A-Za-z]*m(.*)", re.DOTALL)
_FLAG_WITH_VALUE = re.compile(r"-[A-Za-z]*[WX]")
_MOST_NAMES = 8
_LONGEST_START = 3

_Start: TypeAlias = tuple[str, ...]


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `spellings.toml`, which says what each field is."""

    beginnings: tuple[Expression, ...]
    ends: tuple[str, ...]
    prefixed: WordSet
    same: tuple[tuple[str, ...], ...]
    chosen: WordSet
    modules: WordSet
    git: WordSet


_table = table_beside(__file__, "spellings.toml", _Table)


def other_spellings(words: Words) -> Iterator[Words]:
    """Yield the same command by the other names and words that it has.

    Args:
        words: The bare name of the program, and its arguments.
    """
    name = words[0] or ""
    for other in _names(name):
        yield (other, *words[1:])
        yield from _of_same_group((other, *words[1:]))
    yield from _of_same_group(words)
    yield from _module(words)
    yield from _chosen(words)


def perhaps_spelled(words: Words) -> Iterator[Words]:
    """Yield commands that this one may be on some systems: `python` is often `python3`."""
    name = words[0] or ""
    if canonical(name) == name:
        for other in sorted(names_of(name) - {name}):
            yield (other, *words[1:])


def spelled_as(name: str) -> frozenset[str]:
    """Return names of which every word holds one that starts a program, in whatever spelling."""
    return frozenset(_spelled().get(name, ())) | {name}


@cache
def _spelled() -> dict[str, set[str]]:
    """Return the known names of programs by each other name that they have."""
    found = defaultdict[str, set[str]](set)
    for name in names() | {start[0] or "" for start in _groups()}:
        for each in (name, *_names(name)):
            for other in names_of(canonical(each)):
                found[other].add(name)
    for start, same in _groups().items():
        for first, *_ in same:
            found[first] |= found[start[0] or ""]
    return found


def _of_same_group(words: Words) -> Iterator[Words]:
    groups = _groups()
    for length in range(1, _LONGEST_START + 1):
        start = words[:length]
        for other in groups.get(start, ()):
            yield (*other, *words[length:])


def _module(words: Words) -> Iterator[Words]:
    """Yield the command that `python -m` runs a module for."""
    if families().interpreter(words[0] or "") not in _table().modules:
        return
    position = 1
    while position < len(words):
        word = words[position]
        if word is None or not word.startswith("-"):
            return
        if match := _MODULE_FLAG.fullmatch(word):
            rest = (match[1], *words[position + 1 :]) if match[1] else words[position + 1 :]
            if rest and rest[0]:
                yield rest
                yield from _of_same_group(rest)
            return
        position += 2 if _FLAG_WITH_VALUE.fullmatch(word) else 1


def _chosen(words: Words) -> Iterator[Words]:
    """Yield the command that an option of a multi-call program names."""
    options = _table().chosen
    for position, word in enumerate(words[1:_MOST_NAMES], 1):
        option, sign, value = (word or "").partition("=")
        if option in options:
            name = value if sign else (words[position + 1 : position + 2] or ("",))[0]
            rest = words[position + 1 :] if sign else words[position + 2 :]
            if name:
                yield (name.partition(" ")[0], *rest)


@lru_cache(maxsize=1024)
def _names(name: str) -> tuple[str, ...]:
    """Return a program's other names, without the version and the like."""
    found: dict[str, None] = {}
    pending = [name]
    while pending and len(found) < _MOST_NAMES:
        known = pending.pop()
        for other in _shorter(known):
            if other and other != name and other not in found:
                found[other] = None
                pending.append(other)
    return tuple(found)


def _shorter(name: str) -> list[str]:
    found = [canonical(name)]
    if name[:1] == "g" and name[1:] in _table().prefixed:
        found.append(name[1:])
    matches = (beginning.match(name) for beginning in _table().beginnings)
    found += [name[match.end() :] for match in matches if match]
    if match := _ends().search(name):
        found.append(name[: match.start()])
    return found


@cache
def _ends() -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(_table().ends)})\Z")


@cache
def _groups() -> dict[Words, tuple[_Start, ...]]:
    found: dict[Words, tuple[_Start, ...]] = {}
    for group in _table().same:
        starts = [tuple(each.split()) for each in group]
        for start in starts:
            found[start] = tuple(other for other in starts if other != start)
    return found


_MAY_SET = re.compile(
    r"(?i:(?<![\w-])(?:alias|config|gitconfig|include|includeif)(?![\w-])|autocorrect)"
    r"|\bGIT_[A-Z]|\bXDG_|HOME="
)
_CORRECTION = "help.autocorrect"
_ALIAS = re.compile(r"alias\.([^=]+?)(?:\.command)?=(.*)", re.DOTALL | re.IGNORECASE)
_MOST_NESTED = 5
_MOST_WORDS = 4


def called_alias(words: Words) -> str | None:
    """Return the name by which git is called if no command of its own has it, in lowercase."""
    if not words or words[0] != "git":
        return None
    name = (*families().without_leading_options(words), None)[1]
    return None if name is None or name in _table().git or name[:1] in "-" else name.lower()


def alias_readings(
    words: Words, known: Mapping[str, Sequence[str]], depth: int = 0
) -> Iterator[Words]:
    """Yield the commands that a call of git runs by an alias.

    Args:
        words: The call, its program first.
        known: The aliases of the configuration, by their names.
        depth: How many aliases it comes from.
    """
    name = called_alias(words)
    if name is None or depth > _MOST_NESTED:
        return
    rest = families().without_leading_options(words)[2:]
    known = {**known, **_own_aliases(words)}
    for value in known.get(name, ()):
        if value.startswith("!"):
            text = shlex.join([word or "" for word in rest])
            yield from raw_commands(f"{value[1:]} {text}")
            continue
        try:
            expanded = ("git", *shlex.split(value), *rest)
        except ValueError:
            yield from raw_commands(value)
            continue
        yield expanded
        yield families().without_leading_options(expanded)
        yield from alias_readings(expanded, known, depth + 1)


def perhaps_aliased(
    words: Words, known: Mapping[str, Sequence[str]] | None, text: str
) -> Iterator[Words]:
    """Yield a call of git with an unknown command, if it is not known what it would run.

    Args:
        words: The call, its program first.
        known: The aliases of the configuration; None where that is not known.
        text: The command line, which may change them before.
    """
    name = called_alias(words)
    corrects = known is not None and _CORRECTION in known and name not in known
    if name is not None and (known is None or corrects or _MAY_SET.search(text)):
        rest = families().without_leading_options(words)[2:]
        yield from (("git", *[None] * count, *rest) for count in range(1, _MOST_WORDS + 1))


def _own_aliases(words: Words) -> dict[str, list[str]]:
    """Return the aliases that options of git set: `git -c alias.p=push p`."""
    values = (value or "" for option, value in pairwise(words) if option == "-c")
    return {found[1].lower(): [found[2]] for found in map(_ALIAS.fullmatch, values) if found}
