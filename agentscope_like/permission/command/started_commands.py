"""Yields each command that a command line may start, in every spelling, for deny and ask rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentscope_like.shell import Part, Words
from agentscope_like.shell.catalog import families
from agentscope_like.shell.facts import (
    alias_readings,
    bare_name,
    carried_readings,
    led_to,
    may_be_alias,
    may_set_aliases,
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

__all__ = ["may_be_another", "started_by", "started_in"]

_MARKS = str.maketrans("=[]", "   ")


def may_be_another(part: Part) -> bool:
    """Return whether a part may start a program of any name: by an alias of git, or a link."""
    if not part.argv:
        return False
    if part.argv[0] is not None and "/" in part.argv[0] and part.program is None:
        return True
    gits = (
        at for at, word in enumerate(part.argv) if word is not None and bare_name(word) == "git"
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
