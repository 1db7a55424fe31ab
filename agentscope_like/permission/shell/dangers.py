"""Commands that a person looks at each time: the rows of `dangers.toml`, compiled."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from msgspec import Struct

__all__ = ["Danger", "Dangers"]

_SHORTEST_CUT = 4
_FIELDS = frozenset({"does", "programs", "words", "flags", "operands", "any_word"})


class Danger(Struct, frozen=True, eq=False):
    """One row.

    Attributes:
        does: Why a person has to look, as the rest of a sentence.
        words: What the arguments may begin with; empty where that is left open.
        tests: What has to hold of an argument each, of any of them.
        operands: What an argument that is no option has to match; None where that is left open.
    """

    does: str
    words: tuple[tuple[str, ...], ...]
    tests: tuple[Callable[[str], object], ...]
    operands: re.Pattern[str] | None

    def fits(self, arguments: Sequence[str]) -> bool:
        """Return whether the row speaks of arguments of which some pass each test."""
        return (
            not self.words or any(tuple(arguments[: len(each)]) == each for each in self.words)
        ) and (self.operands is None or any(map(self.operands.fullmatch, _operands(arguments))))


class Dangers:
    """Finds the dangerous among commands of the same words, holding each word against a row once.

    Args:
        words: All the words that the arguments are taken from, known or not.
    """

    __slots__ = ("_passing", "_words")

    def __init__(self, words: Iterable[str | None]) -> None:
        self._words = frozenset(word for word in words if word is not None)
        self._passing: dict[Danger, list[frozenset[str]]] = {}

    def of(self, command: Sequence[str | None]) -> str | None:
        """Return why a person has to look at a command, as the rest of a sentence, or None.

        Args:
            command: The program's bare name and its arguments, without options that stand before a
                sub-command; no row speaks of a word that is not known.
        """
        if not command or command[0] is None:
            return None
        arguments = [word for word in command[1:] if word is not None]
        first = arguments[0] if arguments else ""
        for row in _rows_of(command[0]).beginning(first):
            if self._may_fit(row, arguments) and row.fits(arguments):
                return row.does
        return None

    def _may_fit(self, row: Danger, arguments: Sequence[str]) -> bool:
        passing = self._passing.get(row)
        if passing is None:
            passing = [frozenset(filter(test, self._words)) for test in row.tests]
            self._passing[row] = passing
        return not any(words.isdisjoint(arguments) for words in passing)


class _Rows:
    """The rows about one program, filed by the first word after it that they speak of."""

    __slots__ = ("_anywhere", "_by_word")

    def __init__(self, rows: Sequence[Danger]) -> None:
        self._anywhere = tuple(row for row in rows if not row.words)
        firsts = {words[0] for row in rows for words in row.words}
        self._by_word = {
            first: tuple(
                row for row in rows if not row.words or any(each[0] == first for each in row.words)
            )
            for first in firsts
        }

    def beginning(self, first: str) -> tuple[Danger, ...]:
        """Return those that may fit arguments of which this is the first."""
        return self._by_word.get(first, self._anywhere)


class _Table:
    """All rows, filed by program."""

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

    def about(self, program: str) -> _Rows:
        """Return the rows about a program."""
        globs = [danger for pattern, danger in self._globs if fnmatchcase(program, pattern)]
        return _Rows((*self._named.get(program, ()), *globs))


@lru_cache(maxsize=1)
def _table() -> _Table:
    return _Table(Path(__file__).with_name("dangers.toml").read_text("utf-8"))


@lru_cache(maxsize=1024)
def _rows_of(program: str) -> _Rows:
    return _table().about(program)


def _compile(row: dict[str, Any]) -> Danger:
    unknown = row.keys() - _FIELDS
    if unknown:
        raise ValueError(f"dangers.toml: unknown field {sorted(unknown)} in `{row.get('does')}`")
    operands, any_word = (
        re.compile(row[field]) if field in row else None for field in ("operands", "any_word")
    )
    return Danger(
        does=row["does"],
        words=tuple(tuple(words.split()) for words in row.get("words", ())),
        tests=(
            *(partial(_is_flag_of, frozenset(group.split())) for group in row.get("flags", ())),
            *(pattern.fullmatch for pattern in (operands, any_word) if pattern),
        ),
        operands=operands,
    )


def _is_flag_of(group: frozenset[str], word: str) -> bool:
    if word.startswith("--"):
        name = word.partition("=")[0]
        return len(name) >= _SHORTEST_CUT and any(flag.startswith(name) for flag in group)
    if not word.startswith("-"):
        return False
    return word in group or any(
        len(flag) == 2 and flag[1] in word[1:]  # noqa: PLR2004 - a dash and a letter
        for flag in group
    )


def _operands(arguments: Sequence[str]) -> Iterator[str]:
    only_operands = False
    for word in arguments:
        if only_operands or not word.startswith("-") or word == "-":
            yield word
        elif word == "--":
            only_operands = True
