"""Programs that print file names or pass them on: the table `name_sources.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

from agentscope_like.shell.analysis import (
    CommandAnalysis,
    Doubt,
    Effect,
    EffectKind,
    Part,
    answered_once,
)
from agentscope_like.shell.catalog import canonical, programs_with
from agentscope_like.shell.facts import is_redirect, shows_unseen_files
from agentscope_like.shell.values import NO_NAMES, VARIABLE, Names, Shape, Unknown, Words, any_of
from agentscope_like.toml_tables import Expression, parse_table

__all__ = [
    "Prints",
    "feeders",
    "name_doubt",
    "name_source",
    "parse",
    "splits_at_blanks",
    "unnamed_reads",
]

_ANY_OPTION, _ANY_FILE, _ANY_OPERAND = "-\0", "\0", "\1"
"""Stand for words that are not known: any at all, a file that may be called so, no option."""

_A_NUMBER = "1"

_Filled: TypeAlias = Annotated[str, Meta(min_length=1)]


class Prints(Enum):
    """The kinds of file names that a program prints."""

    NOTHING = "nothing"
    """Nothing, or nothing that names a credential."""

    PATHS = "paths"
    """Paths of files, relative to the directory in which it runs."""

    NAMES = "names"
    """Names of files, relative to another directory or with other words beside them."""

    MATCHES = "matches"
    """Lines that begin with the path of a file and a colon."""

    ITS_WORDS = "its words"
    """The words that it is given, or a part of their path."""

    NEW_WORDS = "new words"
    """Texts that it builds of the words that it is given."""

    ITS_LINES = "lines"
    """Whole lines of its input."""

    ITS_PIECES = "words"
    """Pieces of its input between blanks."""

    FIRST_FIELDS = "first fields"
    """What stands before the first colon of each line of its input."""


_PASSING = frozenset({Prints.ITS_LINES, Prints.ITS_PIECES, Prints.FIRST_FIELDS})
_STRICT = _PASSING | {Prints.ITS_WORDS, Prints.NEW_WORDS}


class _Source(Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of the table, which says what each field is."""

    programs: _Filled
    prints: Prints
    reason: _Filled
    command: str = ""
    needs: tuple[str, ...] = ()
    without: str = ""
    options: str = ""
    operands: str = ""
    first: str = ""
    most: int | None = None

    def fits(self, words: Sequence[str]) -> bool:
        """Return whether the arguments of a program match the entry."""
        if _ANY_OPTION in words and self.without:
            return False
        if self.prints is Prints.ITS_WORDS:  # no option of them makes another name
            words = [_ANY_OPERAND if word == _ANY_OPTION else word for word in words]
        options = [word for word in words if word[:1] == "-"]
        others = [word for word in words if word[:1] != "-"]
        return (
            self._takes(self.options, options)
            and self._takes(self.operands, others)
            and not any(_matches(self.without, word) for word in options)
            and all(any(_matches(need, word) for word in options) for need in self.needs)
            and (not self.first or (bool(others) and _matches(self.first, others[0])))
            and (self.most is None or len(others) <= self.most)
        )

    def _takes(self, pattern: str, words: Sequence[str]) -> bool:
        if not pattern:
            return not words or self.prints not in _STRICT
        return all(_matches(pattern, word) for word in words)


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `name_sources.toml`."""

    source: tuple[_Source, ...]
    splitting: dict[str, Expression] = {}


def _matches(pattern: str, word: str) -> bool:
    return re.fullmatch(pattern, word, re.DOTALL) is not None


@answered_once
def name_source(part: Part) -> Prints | None:
    """Return which file names a part prints; None if unknown.

    Args:
        part: The part. Redirections and arguments added by other commands are ignored.
    """
    words = list(_words(part))[1:]
    if part.git_command is not None:
        words = words[words.index(part.git_command) + 1 :]
    for entry in _sources().get(canonical(part.program or ""), ()):
        if entry.command and part.git_command not in entry.command.split():
            continue
        if entry.prints in _PASSING and _reads_files(part):
            continue
        if entry.prints is Prints.MATCHES and not all(map(_is_folder, part.effects)):
            continue
        if entry.fits(words):
            return _where(entry.prints, part)
    return None


def _words(part: Part) -> Iterator[str]:
    """Yield the arguments, with a marker for those that are only known at run time."""
    computed = iter(part.computed)
    for word in part.argv:
        if word is not None:
            yield word
            continue
        known = next(computed, Unknown())
        if known.shape is Shape.INTEGER:
            yield _A_NUMBER
        elif known.option:
            yield _ANY_OPTION if known.pattern is None else _ANY_FILE
        else:
            yield _ANY_OPERAND


def _where(prints: Prints, part: Part) -> Prints:
    """Return what is printed; names that `git -C src ls-files` prints need a directory."""
    elsewhere = part.program == "git" and part.git_command != part.argv[1]
    return Prints.NAMES if prints is Prints.PATHS and elsewhere else prints


def _reads_files(part: Part) -> bool:
    return any(not is_redirect(effect, part) for effect in part.effects)


def splits_at_blanks(words: Words) -> bool:
    """Return whether what takes names from its input splits that at blanks or line ends alone.

    Args:
        words: The program, and its own arguments.
    """
    known = ["" if word is None else word for word in words]
    expression = _table().splitting.get(canonical(known[0]))
    return expression is not None and expression.fullmatch(" ".join(known[1:])) is not None


def _is_folder(effect: Effect) -> bool:
    """Return whether a search is sure to be told of a directory, of whose files it gives names."""
    return effect.target in {".", ".."} or effect.target.endswith("/")


@cache
def _sources() -> dict[str, list[_Source]]:
    found: dict[str, list[_Source]] = {}
    for entry in _table().source:
        for program in entry.programs.split():
            found.setdefault(program, []).append(entry)
    return found


@cache
def _table() -> _Table:
    return parse(Path(__file__).with_name("name_sources.toml").read_text("utf-8"))


def parse(text: str) -> _Table:
    """Return the table that a text of TOML holds.

    Raises:
        TableError: A field or value is none that there is, or lacks.
    """
    return parse_table(text, _Table, _Source, name="name_sources.toml")


_READ = EffectKind.READ
_PROCESS = "/dev/fd/"
"""What the name of a process substitution begins with."""


def unnamed_reads(part: Part) -> list[Effect]:
    """Return what a part reads under names that do not stand in the command.

    A name that stands there is known, though its directory may not be.
    """
    written = {
        word.span
        for word, text in zip(part.words[1:], part.argv[1:], strict=False)
        if text is not None
    }
    return [
        effect
        for effect in part.effects
        if effect.kind is _READ and effect.path is None and effect.span not in written
    ]


def feeders(effect: Effect, part: Part, analysis: CommandAnalysis) -> tuple[Part, ...] | None:
    """Return the parts in whose places all lies that an effect without a path acts on.

    Returns:
        The parts; none for a process substitution, which is no file; None where nobody can say.
    """
    if effect.start.startswith(_PROCESS):
        return ()
    producers = [analysis.parts[number] for number in effect.names.producers]
    if not effect.names.exact or any(each.directories != part.directories for each in producers):
        return None
    return tuple(producers) or None


def name_doubt(part: Part) -> Doubt | None:
    """Return the doubt about a part that shows files of unknown names, or None."""
    effects = unnamed_reads(part) if shows_unseen_files(part) else ()
    message = _told(any_of(map(_names_of, effects)), part) if effects else None
    return None if message is None else Doubt(message, part.span)


def _names_of(effect: Effect) -> Names:
    return NO_NAMES if effect.start.startswith(_PROCESS) else effect.names


def _told(names: Names, part: Part) -> str | None:
    program = part.program or "<"
    if names.unknown.startswith(VARIABLE):
        return f"{names.unknown} is only known at run time, so it cannot be checked for secrets"
    if names.unknown:
        return f"`{program}` shows {names.unknown}; one of them may be secret"
    if names.spoken and program in programs_with("connects"):
        return f"`{program}` opens file names only known at run time, perhaps as connections"
    return None
