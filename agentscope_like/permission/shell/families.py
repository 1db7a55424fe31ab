"""Families of commands: which words of a command name what it does."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Container, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

__all__ = ["Families", "families"]

_DEFAULT_ARITY = 2

_Start: TypeAlias = tuple[str | None, ...]


class Families:
    """The tables of `families.toml`.

    Attributes:
        shells: Shells, which run the text of a word, a file or their input.
        carriers: Programs that run a command which stands somewhere behind them, unread.
    """

    def __init__(self, text: str) -> None:
        tables = tomllib.loads(text)
        self._leading = {
            program: frozenset(options.split())
            for program, options in tables["leading_options"].items()
        }
        self._arity: dict[_Start, int] = {
            tuple(entry.split()): int(arity)
            for arity, entries in tables["arity"].items()
            for entry in shlex.split(entries)
        }
        self._runners = _prefixes(tables["runs_a_program"]["words"])
        self._never = _prefixes(tables["never_open"]["words"])
        self.shells = frozenset(tables["shells"]["words"].split())
        self.carriers = frozenset(tables["carriers"]["words"].split())

    def without_leading_options(self, words: Sequence[str | None]) -> Sequence[str | None]:
        """Return the words without the options that stand before a sub-command.

        The words themselves where there are none, or the program is not known for sub-commands.
        """
        valued = self._leading.get(words[0] or "") if words else None
        if valued is None or len(words) < 2 or not (words[1] or "").startswith("-"):  # noqa: PLR2004
            return words
        position = 1
        while position < len(words):
            word = words[position]
            if word is None or not word.startswith("-"):
                break
            position += 2 if word in valued else 1
        return (words[0], *words[position:])

    def prefix_of(self, words: Sequence[str | None]) -> tuple[str, ...] | None:
        """Return the words that a rule for this kind of command begins with, or None.

        None where no open-ended rule is safe to offer: for shells, interpreters, wrappers and whole
        families, and where a word that would be part of it is an option or not known.
        """
        program = words[0] if words else None
        runner = _longest_start(words, self._runners)
        if runner:
            arity = len(runner) + 1
        else:
            arity = self._arity.get(_longest_start(words, self._arity), _DEFAULT_ARITY)
        if program is None or ("/" in program and arity > 1) or any(map(str.isspace, program)):
            return None
        prefix = tuple(words[:arity])
        if len(prefix) < arity:
            return None
        plain = [word for word in prefix if word and not word.startswith("-")]
        if len(plain) < arity or not all(map(_is_name, plain[1:])):
            return None
        if _longest_start(plain, self._never):
            return None
        if runner and _longest_start(plain[len(runner) :], self._never):
            return None
        return tuple(plain)


@lru_cache(maxsize=1)
def families() -> Families:
    """Return the tables, read once."""
    return Families(Path(__file__).with_name("families.toml").read_text("utf-8"))


def _prefixes(entries: str) -> frozenset[_Start]:
    return frozenset(tuple(entry.split()) for entry in shlex.split(entries))


def _longest_start(words: Sequence[str | None], known: Container[_Start]) -> _Start:
    """Return the longest start of the words that is known; empty where none is."""
    for length in range(min(len(words), 3), 0, -1):
        start = tuple(words[:length])
        if start in known:
            return start
    return ()


def _is_name(word: str) -> bool:
    """Return whether the word looks like a sub-command or a target, not like a file or a text."""
    return word.replace("-", "").replace("_", "").replace(":", "").replace(".", "").isalnum()
