"""Yields other spellings of a command, and what git's aliases stand for: for deny and ask rules."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import TypeAlias

from msgspec import Struct

from agentscope_like.shell.analysis import Part
from agentscope_like.shell.catalog import bare_name, canonical, families, names_of
from agentscope_like.shell.facts.possible_commands import raw_readings, raw_words
from agentscope_like.shell.values import Words
from agentscope_like.toml_tables import Expression, WordSet, table_beside

__all__ = [
    "alias_readings",
    "may_be_alias",
    "may_set_aliases",
    "other_names",
    "other_spellings",
    "perhaps_aliased",
    "perhaps_spelled",
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


@lru_cache(maxsize=1024)
def other_names(word: str) -> str:
    """Return the names that a program of this name has in other spellings, with blanks between."""
    name = bare_name(word)
    found = {name, *_names(name)}
    for each in tuple(found):
        found |= names_of(canonical(each))
        found |= _beside().get(each, frozenset())
    return " ".join(sorted(found))


def _git_has(command: str) -> bool:
    """Return whether git has a command of its own by this name, so that no alias is used."""
    return command in _table().git


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
    if _beginnings().match(name):
        matches = (beginning.match(name) for beginning in _table().beginnings)
        found += [name[match.end() :] for match in matches if match]
    if match := _ends().search(name):
        found.append(name[: match.start()])
    return found


@cache
def _beginnings() -> re.Pattern[str]:
    return re.compile("|".join(each.text for each in _table().beginnings))


@cache
def _ends() -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(_table().ends)})\Z")


@cache
def _beside() -> dict[str, frozenset[str]]:
    """Return the first words of the commands that are the same as those of a program."""
    found: dict[str, set[str]] = {}
    for start, others in _groups().items():
        found.setdefault(start[0] or "", set()).update(other[0] for other in others)
    return {name: frozenset(others) for name, others in found.items()}


@cache
def _groups() -> dict[Words, tuple[_Start, ...]]:
    found: dict[Words, tuple[_Start, ...]] = {}
    for group in _table().same:
        starts = [tuple(each.split()) for each in group]
        for start in starts:
            found[start] = tuple(other for other in starts if other != start)
    return found


_MAY_SET = re.compile(
    r"(?i:(?<![\w-])(?:alias|config|gitconfig|include|includeif)(?![\w-]))|\bGIT_[A-Z]|HOME="
)
_CORRECTION = "help.autocorrect"
_ALIAS = re.compile(r"alias\.(.+?)(?:\.command)?", re.DOTALL | re.IGNORECASE)
_INCLUDES = ("include.", "includeif.")
_MOST_NESTED = 5
_MOST_WORDS = 4


class _Called(Struct, frozen=True):
    """A call of git by a name that is no command of its own.

    Attributes:
        name: The name, in lowercase.
        rest: The words behind it.
        own: The aliases that its options set; None for a value that is not known.
        is_unsure: Whether its options may set others.
    """

    name: str
    rest: Words
    own: Mapping[str, str | None]
    is_unsure: bool


def may_be_alias(words: Words) -> bool:
    """Return whether git may take its command for an alias."""
    return _called(words) is not None


def may_set_aliases(command: str) -> bool:
    """Return whether the text of a command line may change which aliases git has."""
    return _MAY_SET.search(command) is not None


def alias_readings(
    words: Words, known: Mapping[str, Sequence[str]], depth: int = 0
) -> Iterator[Words]:
    """Yield the commands that a call of git runs by an alias.

    Args:
        words: The call, its program first.
        known: The aliases of the configuration, by their names.
        depth: How many aliases it comes from.
    """
    called = _called(words)
    if called is None or depth > _MOST_NESTED:
        return
    own = {name: [value] for name, value in called.own.items() if value is not None}
    known = {**known, **own}
    for value in known.get(called.name, ()):
        if value.startswith("!"):
            rest = shlex.join([word or "" for word in called.rest])
            yield from raw_readings(raw_words(f"{value[1:]} {rest}"))
            continue
        try:
            expanded = ("git", *shlex.split(value), *called.rest)
        except ValueError:
            yield from raw_readings(raw_words(value))
            continue
        yield expanded
        yield families().without_leading_options(expanded)
        yield from alias_readings(expanded, known, depth + 1)


def perhaps_aliased(
    words: Words, part: Part | None, known: Mapping[str, Sequence[str]] | None, *, may_change: bool
) -> Iterator[Words]:
    """Yield a call of git with an unknown command, if it is not known what it would run.

    Args:
        words: The call, its program first.
        part: The part that makes it; None where it was not read.
        known: The aliases of the configuration; None where that is not known.
        may_change: Whether the command line may change them before.
    """
    called = _called(words)
    if called is None:
        return
    is_own = called.name in called.own
    is_certain = called.own.get(called.name) is not None if is_own else known is not None
    assigned = () if part is None else part.assignments
    sets_own = any(each.name.startswith(("GIT_", "HOME", "XDG_")) for each in assigned)
    corrects = known is not None and _CORRECTION in known and called.name not in known
    doubted = called.is_unsure or (may_change and not is_own) or sets_own or corrects
    if not is_certain or doubted:
        yield from (("git", *[None] * count, *called.rest) for count in range(1, _MOST_WORDS + 1))


def _called(words: Words) -> _Called | None:
    if not words or words[0] != "git":
        return None
    own: dict[str, str | None] = {}
    is_unsure = False
    position = 1
    while position < len(words):
        word = words[position]
        if word is None:
            return None  # an unknown word is a doubt by itself
        if not word.startswith("-"):
            break
        setting, is_named, taken = _setting(words, position)
        key, _, value = setting.partition("=")
        if match := _ALIAS.fullmatch(key):
            own[match[1].lower()] = None if is_named else value
        is_unsure = is_unsure or key.lower().startswith((*_INCLUDES, _CORRECTION))
        position += taken
    rest = words[position:]
    if not rest or rest[0] is None or _git_has(rest[0]):
        return None
    return _Called(rest[0].lower(), rest[1:], own, is_unsure)


def _setting(words: Words, position: int) -> tuple[str, bool, int]:
    """Return the setting of an option, whether a variable has the value, and its word count."""
    word = words[position] or ""
    following = (words[position + 1] if position + 1 < len(words) else "") or ""
    if word == "-c":
        return following, False, 2
    if word == "--config-env":
        return following, True, 2
    if word.startswith("--config-env="):
        return word.partition("=")[2], True, 1
    return "", False, 2 if _takes_value(word) else 1


def _takes_value(word: str) -> bool:
    """Return whether an option of git takes the next word."""
    return families().without_leading_options(("git", word, "x", "y")) == ("git", "y")
