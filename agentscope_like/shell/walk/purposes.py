"""Describes commands for the person who is asked about one: `purposes.toml`.

Used where the catalog knows little more of a command than its help, so that it could only say
which words it does not know. No decision depends on these texts.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from agentscope_like.shell.arguments import ArgumentReading
from agentscope_like.shell.catalog import canonical, families

__all__ = ["plainly", "purpose_of"]

_Start: TypeAlias = tuple[str, ...]

_MOST_WORDS = 3


def purpose_of(words: Sequence[str | None], *, known: int = 1) -> str | None:
    """Return what a command does, as a sentence without a full stop, or None if unknown.

    Args:
        words: The program's bare name and its arguments; None for a computed one.
        known: How many words name the sub-command that the catalog knows; entries with fewer words
            describe other sub-commands.
    """
    plain = families().without_leading_options(words)[:_MOST_WORDS]
    literal = tuple([word or "" for word in plain])
    first = tuple(map(canonical, literal[:1]))
    for length in range(len(literal), known - 1, -1):
        if does := _purposes().get((*first, *literal[1:length])):
            return f"`{' '.join(literal[:length])}` {does}"
    return None


def plainly(reading: ArgumentReading, words: Sequence[str | None]) -> str | None:
    """Return in one sentence why a command is not proven; None where its problems say it best."""
    grammar = reading.grammar
    if grammar.needs & reading.used:
        return None  # an option by which it only reads, so that the others are what matters
    told = purpose_of(words, known=len(reading.label.split()))
    if told is None and grammar.tells_only_help:
        return f"`{reading.label}` may do more than read"
    return told


@lru_cache(maxsize=1)
def _purposes() -> Mapping[_Start, str]:
    tables = tomllib.loads(Path(__file__).with_name("purposes.toml").read_text("utf-8"))
    return {
        (program, *words.split()): does
        for programs, table in tables.items()
        for program in programs.split()
        for alternatives, does in table.items()
        for words in alternatives.split("|")
    }
