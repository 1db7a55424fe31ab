"""Commands that a person looks at each time: the rows of `dangers.toml`, compiled."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from agentscope_like.permission.shell.families import families

__all__ = ["Danger", "danger_of"]

_SHORTEST_CUT = 4
_FIELDS = frozenset({"does", "programs", "words", "flags", "operands", "any_word"})


class Danger(Struct, frozen=True):
    """One row."""

    does: str
    words: tuple[tuple[str, ...], ...]
    flags: tuple[frozenset[str], ...]
    operands: re.Pattern[str] | None
    any_word: re.Pattern[str] | None

    def fits(self, arguments: Sequence[str]) -> bool:
        """Return whether the row speaks of these words after the program."""
        return (
            (not self.words or any(_begins(arguments, words) for words in self.words))
            and all(any(_has_flag(word, group) for word in arguments) for group in self.flags)
            and (self.operands is None or any(map(self.operands.fullmatch, _operands(arguments))))
            and (self.any_word is None or any(map(self.any_word.fullmatch, arguments)))
        )


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

    def why(self, arguments: Sequence[str | None]) -> str | None:
        """Return what the first row that fits says; words that are not known fit none."""
        known = [word for word in arguments if word is not None]
        rows = self._by_word.get(known[0], self._anywhere) if known else self._anywhere
        return next((row.does for row in rows if row.fits(known)), None)


class _Dangers:
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

    def of(self, program: str) -> _Rows:
        globs = [danger for pattern, danger in self._globs if fnmatchcase(program, pattern)]
        return _Rows((*self._named.get(program, ()), *globs))


@lru_cache(maxsize=1)
def _dangers() -> _Dangers:
    return _Dangers(Path(__file__).with_name("dangers.toml").read_text("utf-8"))


@lru_cache(maxsize=1024)
def _dangers_of(program: str) -> _Rows:
    return _dangers().of(program)


def danger_of(words: Sequence[str | None]) -> str | None:
    """Return why a person has to look at the command, as the rest of a sentence, or None.

    Args:
        words: The program's bare name and its arguments.
    """
    if not words or words[0] is None:
        return None
    rows = _dangers_of(words[0])
    if reason := rows.why(words[1:]):
        return reason
    plain = families().without_leading_options(words)
    return None if plain is words else rows.why(plain[1:])


def _compile(row: dict[str, Any]) -> Danger:
    unknown = row.keys() - _FIELDS
    if unknown:
        raise ValueError(f"dangers.toml: unknown field {sorted(unknown)} in `{row.get('does')}`")
    return Danger(
        does=row["does"],
        words=tuple(tuple(words.split()) for words in row.get("words", ())),
        flags=tuple(frozenset(group.split()) for group in row.get("flags", ())),
        operands=re.compile(row["operands"]) if "operands" in row else None,
        any_word=re.compile(row["any_word"]) if "any_word" in row else None,
    )


def _begins(arguments: Sequence[str], words: tuple[str, ...]) -> bool:
    return tuple(arguments[: len(words)]) == words


def _has_flag(word: str, group: frozenset[str]) -> bool:
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
