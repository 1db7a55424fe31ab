"""Rows of tables that say what some commands do, by program, words, flags and operands.

The heads of `dangers.toml` and `holding.toml` explain the fields of a row.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct

from agentscope_like.shell import Unknown
from agentscope_like.shell.catalog import canonical, programs_with

__all__ = ["CommandRow", "RowTable", "row_table"]

_SHORTEST_CUT = 4
_FIELDS = frozenset(
    {"does", "programs", "traits", "except", "words", "but"}
    | {"flags", "lacks", "operands", "any_word", "alone"}
)
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


class _Starts(Struct, frozen=True, eq=False):
    """Words that arguments may begin with, and how many words these are."""

    words: frozenset[tuple[str, ...]]
    lengths: tuple[int, ...]

    def of(self, arguments: Sequence[str | None]) -> tuple[str | None, ...] | None:
        """Return those of these words that arguments begin with, or None."""
        for length in self.lengths:
            start = tuple(arguments[:length])
            if start in self.words:
                return start
        return None


def _starts(written: Iterable[str]) -> _Starts | None:
    words = frozenset(tuple(each.split()) for each in written)
    return _Starts(words, tuple(sorted(set(map(len, words))))) if words else None


class CommandRow(Struct, frozen=True, eq=False):
    """One row.

    Attributes:
        does: What the command does, as the rest of a sentence.
        words: What the arguments may begin with, None for anything.
        but: What harmless arguments begin with, None for nothing.
        tests: Each must hold of at least one argument.
        operands: What some argument that is not an option must match; None for anything.
        lacks: What no argument may be; None for anything.
        alone: Whether there must be no arguments.
    """

    does: str
    words: _Starts | None
    but: _Starts | None
    tests: tuple[_Test, ...]
    operands: _Whole | None
    lacks: _Flag | None = None
    alone: bool = False

    def fits(self, arguments: Sequence[str], starts: Sequence[str]) -> bool:
        """Return whether the row matches the arguments.

        Args:
            arguments: Those that are known.
            starts: What others begin with.
        """
        if self.words is not None and self.words.of(arguments) is None:
            return False
        if self.lacks is not None and any(map(self.lacks.holds, arguments)):
            return False
        if not all(_holds(test, arguments, starts) for test in self.tests):
            return False
        return self.operands is None or _holds(
            self.operands, _operands(arguments), _operands(starts)
        )

    def spares(self, arguments: Sequence[str | None]) -> bool:
        """Return whether the row leaves alone what has these arguments, None for unknown ones."""
        return bool(self.alone and arguments) or (
            self.but is not None and self.but.of(arguments) is not None
        )


def _holds(test: _Test, words: Iterable[str], starts: Iterable[str]) -> bool:
    return any(map(test.holds, words)) or any(map(test.may_hold, starts))


class RowTable:
    """All rows of a table, indexed by program.

    Args:
        rows: The rows as they are written.
        name: The name of the table in errors.

    Raises:
        ValueError: A row has an unknown field.
    """

    def __init__(self, rows: Iterable[dict[str, Any]], name: str) -> None:
        self._named: dict[str, list[CommandRow]] = {}
        self._globs: list[tuple[str, CommandRow]] = []
        for written in rows:
            row = _compile(written, name)
            for program in _programs(written):
                if "*" in program:
                    self._globs.append((program, row))
                else:
                    self._named.setdefault(program, []).append(row)
        self._about = lru_cache(maxsize=1024)(self._rows_about)

    def row_for(
        self, command: Sequence[str | None], computed: Sequence[Unknown] = ()
    ) -> CommandRow | None:
        """Return the first row that matches a command, or None.

        Args:
            command: The program's bare name and its arguments, without options that stand before a
                sub-command; None for words that are only known at run time.
            computed: What is known of those: each text that one may be is held against the rows, or
                else the text that it begins with.
        """
        rows = self._about(command[0]) if command and command[0] is not None else ()
        if not rows:
            return None
        choices = list(dict.fromkeys(text for each in computed for text in each.choices))
        starts = [each.prefix for each in computed if each.prefix and not each.choices]
        known = [word for word in command[1:] if word is not None] + choices
        possible = [known]
        if command[1:] and command[1] is None:
            possible += ([first, *known] for first in choices)
        for row in rows:
            if not row.spares(command[1:]) and any(row.fits(each, starts) for each in possible):
                return row
        return None

    def _rows_about(self, program: str) -> tuple[CommandRow, ...]:
        globs = [row for pattern, row in self._globs if fnmatchcase(program, pattern)]
        return (*self._named.get(canonical(program), ()), *globs)


def row_table(module: str, name: str, key: str) -> Callable[[], RowTable]:
    """Return a function that returns the rows of a file beside a module, read on first use.

    Args:
        module: The module's `__file__`.
        name: The file's name.
        key: The name of its array of rows.
    """
    file = Path(module).with_name(name)
    return cache(lambda: RowTable(tomllib.loads(file.read_text("utf-8"))[key], name))


def _programs(row: dict[str, Any]) -> Iterator[str]:
    spared = row.get("except", "").split()
    yield from row.get("programs", "").split()
    for trait in row.get("traits", "").split():
        yield from sorted({*map(canonical, programs_with(trait))}.difference(spared))


def _compile(row: dict[str, Any], name: str) -> CommandRow:
    unknown = row.keys() - _FIELDS
    if unknown:
        raise ValueError(f"{name}: unknown field {sorted(unknown)} in `{row.get('does')}`")
    operands, any_word = (
        _Whole(re.compile(row[field])) if field in row else None
        for field in ("operands", "any_word")
    )
    return CommandRow(
        does=row["does"],
        words=_starts(row.get("words", ())),
        but=_starts(row.get("but", ())),
        tests=(
            *(_Flag(frozenset(group.split())) for group in row.get("flags", ())),
            *((any_word,) if any_word else ()),
        ),
        operands=operands,
        lacks=_Flag(frozenset(row["lacks"].split())) if "lacks" in row else None,
        alone=row.get("alone", False),
    )


def _operands(arguments: Iterable[str]) -> Iterator[str]:
    only_operands = False
    for word in arguments:
        if only_operands or not word.startswith("-") or word == "-":
            yield word
        elif word == "--":
            only_operands = True
