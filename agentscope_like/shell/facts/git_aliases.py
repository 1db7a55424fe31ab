"""Yields the commands that an alias of git may stand for, for deny and ask rules."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from agentscope_like.shell.analysis import Part
from agentscope_like.shell.catalog import families
from agentscope_like.shell.facts.possible_commands import raw_readings, raw_words
from agentscope_like.shell.facts.spellings import git_has
from agentscope_like.shell.values import Words

__all__ = ["alias_readings", "may_be_alias", "may_set_aliases", "perhaps_aliased"]

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
    if not rest or rest[0] is None or git_has(rest[0]):
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
