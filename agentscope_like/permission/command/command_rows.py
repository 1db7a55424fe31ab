"""Rows of tables that say what some commands do, by program, words, flags and operands.

The heads of `dangers.toml` and `holding.toml` explain the fields of a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Generic, TypeAlias, TypeVar

from msgspec import Struct

from agentscope_like.lazy_property import lazy_property
from agentscope_like.shell import Unknown
from agentscope_like.shell.catalog import canonical, programs_with
from agentscope_like.toml_tables import Expression, WordSet

__all__ = ["CommandRow", "RowTable", "start_in"]

_SHORTEST_CUT = 4
_NONE = WordSet()
_SOMETHING = "x"
"""Stands for the rest of a word of which only the beginning is known."""


_Starts: TypeAlias = dict[int, set[tuple[str | None, ...]]]
"""Words that arguments may begin with, by how many these are."""


class CommandRow(
    Struct,
    frozen=True,
    dict=True,
    eq=False,
    forbid_unknown_fields=True,
    rename={"spared": "except"},
):
    """One row, as it is written.

    Attributes:
        programs: Its program is one of these, in which `*` matches any characters.
        traits: Or its program has one of these traits.
        spared: And is none of these.
        words: What the arguments may begin with, empty for anything.
        but: What harmless arguments begin with.
        flags: Of each of these groups, some argument is a flag.
        any_word: What some argument must match; None for anything.
        operands: What some argument that is not an option must match; None for anything.
        lacks: Flags of which no argument may be one.
        alone: Whether there must be no arguments.
    """

    programs: WordSet = _NONE
    traits: WordSet = _NONE
    spared: WordSet = _NONE
    words: tuple[str, ...] = ()
    but: tuple[str, ...] = ()
    flags: tuple[WordSet, ...] = ()
    any_word: Expression | None = None
    operands: Expression | None = None
    lacks: WordSet = _NONE
    alone: bool = False

    @lazy_property
    def starts(self) -> _Starts:
        """What the arguments may begin with."""
        return _starts(self.words)

    @lazy_property
    def _harmless_starts(self) -> _Starts:
        return _starts(self.but)

    def fits(self, arguments: Sequence[str], starts: Sequence[str]) -> bool:
        """Return whether the row matches the arguments.

        Args:
            arguments: Those that are known.
            starts: What others begin with.
        """
        if self.starts and start_in(arguments, self.starts) is None:
            return False
        if self.lacks and any(_is_flag(word, self.lacks) for word in arguments):
            return False
        if not all(_have_flag(group, arguments, starts) for group in self.flags):
            return False
        if self.any_word is not None and not _match(self.any_word, arguments, starts):
            return False
        return self.operands is None or _match(
            self.operands, _operands(arguments), _operands(starts)
        )

    def spares(self, arguments: Sequence[str | None]) -> bool:
        """Return whether the row leaves alone what has these arguments, None for unknown ones."""
        if self.alone and arguments:
            return True
        return start_in(arguments, self._harmless_starts) is not None


def _starts(written: Iterable[str]) -> _Starts:
    starts: _Starts = {}
    for words in (tuple(each.split()) for each in written):
        starts.setdefault(len(words), set()).add(words)
    return starts


def start_in(arguments: Sequence[str | None], starts: _Starts) -> tuple[str | None, ...] | None:
    """Return those of some starts that arguments begin with, or None."""
    for length, known in starts.items():
        start = tuple(arguments[:length])
        if start in known:
            return start
    return None


def _is_flag(word: str, group: WordSet) -> bool:
    """Return whether a word is one of some flags, or holds one of a letter."""
    if word.startswith("--"):
        name = word.partition("=")[0]
        return len(name) >= _SHORTEST_CUT and any(flag.startswith(name) for flag in group)
    if not word.startswith("-"):
        return False
    return word in group or any(
        len(flag) == 2 and flag[1] in word[1:]  # noqa: PLR2004 - a dash and a letter
        for flag in group
    )


def _have_flag(group: WordSet, words: Iterable[str], starts: Sequence[str]) -> bool:
    """Return whether a word is one of some flags, or what begins with a start may be one."""
    if any(_is_flag(word, group) for word in (*words, *starts)):
        return True
    return any(flag.startswith(start) for start in starts for flag in group)


def _match(wanted: Expression, words: Iterable[str], starts: Iterable[str]) -> bool:
    """Return whether a word matches, or what begins with a start may match."""
    if any(map(wanted.fullmatch, words)):
        return True
    return any(wanted.fullmatch(each) or wanted.fullmatch(each + _SOMETHING) for each in starts)


def _operands(arguments: Iterable[str]) -> Iterator[str]:
    only_operands = False
    for word in arguments:
        if only_operands or not word.startswith("-") or word == "-":
            yield word
        elif word == "--":
            only_operands = True


RowT = TypeVar("RowT", bound=CommandRow)


class RowTable(Generic[RowT]):
    """All rows of a table, indexed by program.

    Args:
        rows: The rows.
    """

    def __init__(self, rows: Iterable[RowT]) -> None:
        self._named: dict[str, list[RowT]] = {}
        self._globs: list[tuple[str, RowT]] = []
        for row in rows:
            for program in _programs(row):
                if "*" in program:
                    self._globs.append((program, row))
                else:
                    self._named.setdefault(program, []).append(row)
        self._about = lru_cache(maxsize=1024)(self._rows_about)

    def row_for(
        self, command: Sequence[str | None], computed: Sequence[Unknown] = ()
    ) -> RowT | None:
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
            if any(row.fits(each, starts) for each in possible) and not row.spares(command[1:]):
                return row
        return None

    def _rows_about(self, program: str) -> tuple[RowT, ...]:
        globs = [row for pattern, row in self._globs if fnmatchcase(program, pattern)]
        return (*self._named.get(canonical(program), ()), *globs)


def _programs(row: CommandRow) -> Iterator[str]:
    yield from row.programs
    for trait in row.traits:
        yield from {*map(canonical, programs_with(trait))} - row.spared
