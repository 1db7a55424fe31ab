"""Yields each command that a command line may start, in every spelling, for deny and ask rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentscope_like.shell import CommandAnalysis, Part, Words
from agentscope_like.shell.catalog import families
from agentscope_like.shell.facts import (
    alias_readings,
    bare_name,
    carried_readings,
    led_to,
    may_be_alias,
    may_set_aliases,
    other_names,
    other_spellings,
    perhaps_aliased,
    perhaps_carried_readings,
    perhaps_spelled,
    raw_commands,
    raw_readings,
    readings,
    renamed_in,
    unread_texts,
)

if TYPE_CHECKING:
    from agentscope_like.permission.command.prepared_command import PreparedCommand

__all__ = ["all_names", "started_by", "started_in"]

_PLAIN = re.compile(r"[A-Za-z0-9_+./:,@%^=\- |&;]+")
"""A text in which nothing is quoted, computed or a pattern."""

_ALL_NAMES = "names of all programs"
_MARKS = str.maketrans("=[]", "   ")


def all_names(analysis: CommandAnalysis) -> str | None:
    """Return a text that holds the names of all programs that may run; None if any program may.

    They stand in the text or in a part, where none is computed or quoted, or are other names of
    these; but an alias or a link may be any. The answer is kept with the analysis.
    """
    known: dict[str, str | None] = analysis.__dict__
    if _ALL_NAMES not in known:
        known[_ALL_NAMES] = _all_names(analysis)
    return known[_ALL_NAMES]


def _all_names(analysis: CommandAnalysis) -> str | None:
    if _PLAIN.fullmatch(analysis.command) is None or any(map(_may_be_another, analysis.parts)):
        return None
    words = [word for part in analysis.parts for word in part.argv]
    if None in words:
        return None
    known = [analysis.command, *filter(None, words)]
    return " ".join((*known, *map(other_names, filter(None, words)))).casefold()


def _may_be_another(part: Part) -> bool:
    """Return whether a part may start a program of any name: by an alias of git, or a link."""
    if not part.argv:
        return False
    if part.argv[0] is not None and "/" in part.argv[0] and part.program is None:
        return True
    gits = (
        at
        for at, word in enumerate(part.argv)
        if word is not None and "git" in word.casefold() and bare_name(word) == "git"
    )
    return any(may_be_alias(("git", *part.argv[at + 1 :])) for at in gits)


def started_by(part: Part, call: PreparedCommand, *, guess: bool) -> Iterator[Words]:
    """Yield each command that a part starts.

    Args:
        part: The part.
        call: The command that it is of.
        guess: Whether commands count that it may start.
    """
    opened: set[Words] = set()
    for words in _read(part, call, guess=guess):
        yield from _spelled(words, guess=guess)
        if words in opened or not may_be_alias(words):
            continue
        opened.add(tuple(families().without_leading_options(words)))
        known = call.git_aliases
        yield from alias_readings(words, known or {})
        if guess:
            changes = may_set_aliases(call.read.command)
            yield from perhaps_aliased(words, part, known, may_change=changes)


def started_in(text: str, *, guess: bool) -> Iterator[Words]:
    """Yield each command that a text may start which could not be read.

    Args:
        text: The text, of which every word may be a program.
        guess: Whether commands count that another name of these may be.
    """
    for words in raw_commands(text):
        yield from _spelled(words, guess=guess)
        yield from alias_readings(words, {})
        if guess:
            yield from perhaps_aliased(words, None, None, may_change=True)
    marked = text.translate(_MARKS)  # for arrays that say what a name stands for
    if marked != text:
        yield from raw_commands(marked)


def _read(part: Part, call: PreparedCommand, *, guess: bool) -> Iterator[Words]:
    yield from readings(part)
    yield from led_to(part, call.surroundings)
    for words in unread_texts(part):
        yield from raw_readings(words)
    yield from carried_readings(part)
    if guess:
        yield from perhaps_carried_readings(part)
        yield from renamed_in(call.read, part)


def _spelled(words: Words, *, guess: bool) -> Iterator[Words]:
    yield words
    if words and words[0] is not None:
        yield from other_spellings(words)
        if guess:
            yield from perhaps_spelled(words)
