"""Finds dangerous commands, which always ask: the compiled rows of `dangers.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct

from agentscope_like.lazy_property import lazy_property
from agentscope_like.shell import Unknown
from agentscope_like.shell.catalog import canonical

__all__ = ["Danger", "Dangers"]

_SHORTEST_CUT = 4
_FIELDS = frozenset({"does", "programs", "words", "but", "flags", "operands", "any_word"})
_SOMETHING = "x"
"""Stands for the rest of a word of which only the beginning is known."""


class _Flag(Struct, frozen=True, eq=False):
    """A test for one of a group of flags."""

    group: frozenset[str]

    def holds(self, word: str) -> bool:
        """Return whether a word passes the test."""
        if word.startswith("--"):
            name = word.partition("=")[0]
            return len(name) >= _SHORTEST_CUT and any(each.startswith(name) for each in self.group)
        if not word.startswith("-"):
            return False
        return word in self.group or any(
            len(flag) == 2 and flag[1] in word[1:]  # noqa: PLR2004 - a dash and a letter
            for flag in self.group
        )

    def may_hold(self, start: str) -> bool:
        """Return whether a word that begins with `start` may pass the test."""
        return self.holds(start) or any(flag.startswith(start) for flag in self.group)


class _Whole(Struct, frozen=True, eq=False):
    """A test for a word that fully matches a regular expression."""

    pattern: re.Pattern[str]

    def holds(self, word: str) -> bool:
        """Return whether a word passes the test."""
        return self.pattern.fullmatch(word) is not None

    def may_hold(self, start: str) -> bool:
        """Return whether a word that begins with `start` may pass the test."""
        return self.holds(start) or self.holds(start + _SOMETHING)


_Test: TypeAlias = _Flag | _Whole


class Danger(Struct, frozen=True, eq=False):
    """One row.

    Attributes:
        does: Why the command asks, as the rest of a sentence.
        words: What the arguments may begin with; empty for anything.
        but: What harmless arguments begin with.
        tests: Each must hold of at least one argument.
        operands: What some argument that is not an option must match; None for anything.
    """

    does: str
    words: tuple[tuple[str, ...], ...]
    but: tuple[tuple[str, ...], ...]
    tests: tuple[_Test, ...]
    operands: _Whole | None

    def fits(self, arguments: Sequence[str], starts: Iterable[str]) -> bool:
        """Return whether the row matches the arguments.

        Args:
            arguments: Those that are known.
            starts: What others begin with.
        """
        if self.words and all(tuple(arguments[: len(each)]) != each for each in self.words):
            return False
        if self.operands is None:
            return True
        return any(map(self.operands.holds, _operands(arguments))) or any(
            map(self.operands.may_hold, _operands(starts))
        )

    def spares(self, arguments: Sequence[str | None]) -> bool:
        """Return whether arguments, None for those not known, begin as harmless ones do."""
        return any(tuple(arguments[: len(each)]) == each for each in self.but)


class Dangers:
    """Finds the dangerous among commands of the same words, holding each word against a row once.

    Args:
        words: All the words that the arguments are taken from, known or not.
        computed: What is known of those that are not: each text that one may be is held against
            the rows, or else the text that it begins with.
    """

    def __init__(self, words: Sequence[str | None], computed: Sequence[Unknown] = ()) -> None:
        self._given = words
        self._computed = computed
        self._passing: dict[Danger, list[frozenset[str]]] = {}
        self._choices: tuple[str, ...] = ()
        if computed:
            self._choices = tuple(dict.fromkeys(text for each in computed for text in each.choices))

    @lazy_property
    def _starts(self) -> frozenset[str]:
        return frozenset(each.prefix for each in self._computed if each.prefix and not each.choices)

    @lazy_property
    def _words(self) -> frozenset[str]:
        return frozenset(word for word in self._given if word is not None).union(self._choices)

    def of(self, command: Sequence[str | None]) -> str | None:
        """Return why a command is dangerous, as the rest of a sentence, or None.

        Args:
            command: The program's bare name and its arguments, without options that stand before a
                sub-command; no row matches a word that is only known at run time.
        """
        if not command or command[0] is None:
            return None
        rows = _rows_of(command[0])
        if rows is None:
            return None
        arguments = [word for word in command[1:] if word is not None]
        arguments += self._choices
        firsts: list[Sequence[str]] = [arguments]
        if command[1:] and command[1] is None:
            firsts += ([text, *arguments] for text in self._choices if rows.match_first(text))
        for each in firsts:
            if reason := self._found(rows, each, command[1:]):
                return reason
        return None

    def _found(
        self, rows: _Rows, arguments: Sequence[str], written: Sequence[str | None]
    ) -> str | None:
        for row in rows.beginning(arguments[0] if arguments else ""):
            if row.spares(written) or not self._may_fit(row, arguments):
                continue
            if row.fits(arguments, self._starts):
                return row.does
        return None

    def _may_fit(self, row: Danger, arguments: Sequence[str]) -> bool:
        passing = self._passing.get(row)
        if passing is None:
            passing = [self._passed(test) for test in row.tests]
            self._passing[row] = passing
        return not any(
            words.isdisjoint(arguments) and words.isdisjoint(self._starts) for words in passing
        )

    def _passed(self, test: _Test) -> frozenset[str]:
        return frozenset((*filter(test.holds, self._words), *filter(test.may_hold, self._starts)))


class _Rows:
    """The rows about one program, indexed by the first argument that they match."""

    def __init__(self, rows: Sequence[Danger]) -> None:
        self._anywhere = tuple(row for row in rows if not row.words)
        firsts = {words[0] for row in rows for words in row.words}
        self._by_word = {
            first: tuple(
                row for row in rows if not row.words or any(each[0] == first for each in row.words)
            )
            for first in firsts
        }

    def match_first(self, first: str) -> bool:
        """Return whether one of the rows matches a first word."""
        return first in self._by_word

    def beginning(self, first: str) -> tuple[Danger, ...]:
        """Return the rows that may match arguments that begin with this word."""
        return self._by_word.get(first, self._anywhere)


class _Table:
    """All rows, indexed by program."""

    def __init__(self, text: str) -> None:
        self._named: dict[str, list[Danger]] = {}
        self._globs: list[tuple[str, Danger]] = []
        for row in tomllib.loads(text)["danger"]:
            danger = _compile(row)
            for program in row["programs"].split():
                if "*" in program:
                    self._globs.append((program, danger))
                else:
                    self._named.setdefault(program, []).append(danger)

    def about(self, program: str) -> _Rows | None:
        """Return the rows about a program, or None if there are none."""
        globs = [danger for pattern, danger in self._globs if fnmatchcase(program, pattern)]
        rows = (*self._named.get(canonical(program), ()), *globs)
        return _Rows(rows) if rows else None


@lru_cache(maxsize=1)
def _table() -> _Table:
    return _Table(Path(__file__).with_name("dangers.toml").read_text("utf-8"))


@lru_cache(maxsize=1024)
def _rows_of(program: str) -> _Rows | None:
    return _table().about(program)


def _compile(row: dict[str, Any]) -> Danger:
    unknown = row.keys() - _FIELDS
    if unknown:
        raise ValueError(f"dangers.toml: unknown field {sorted(unknown)} in `{row.get('does')}`")
    operands, any_word = (
        _Whole(re.compile(row[field])) if field in row else None
        for field in ("operands", "any_word")
    )
    return Danger(
        does=row["does"],
        words=tuple(tuple(words.split()) for words in row.get("words", ())),
        but=tuple(tuple(words.split()) for words in row.get("but", ())),
        tests=(
            *(_Flag(frozenset(group.split())) for group in row.get("flags", ())),
            *(test for test in (operands, any_word) if test),
        ),
        operands=operands,
    )


def _operands(arguments: Iterable[str]) -> Iterator[str]:
    only_operands = False
    for word in arguments:
        if only_operands or not word.startswith("-") or word == "-":
            yield word
        elif word == "--":
            only_operands = True
