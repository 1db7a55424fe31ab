"""Tells which words of a command name its sub-command, and which programs run commands."""

from __future__ import annotations

import shlex
from collections.abc import Container, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from agentscope_like.shell.catalog.traits import canonical, programs_with
from agentscope_like.toml_tables import Expression, parse_table

__all__ = ["Families", "families"]

_DEFAULT_ARITY = 2

_Start: TypeAlias = tuple[str | None, ...]


class _Placed(Struct, frozen=True, forbid_unknown_fields=True):
    at_once: str
    behind_one: str


class _Tables(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables as they are written; `command_families.toml` explains each."""

    leading_options: dict[str, str]
    arity: dict[str, str]
    runs_a_program: str
    never_open: str
    run_words: str
    runs_a_command: _Placed
    runs_texts: str
    message_options: dict[str, str]
    sub_commands: dict[str, str]
    command_options: dict[str, str]
    languages: dict[str, Expression]
    own_words: str


class Families:
    """The tables of `command_families.toml`.

    Attributes:
        run_words: Words that are followed by a command, for any program.
    """

    def __init__(self, text: str) -> None:
        tables = parse_table(text, _Tables, _Placed, name="families.toml")
        self._leading: dict[str | None, frozenset[str]] = {
            program: frozenset(options.split())
            for program, options in tables.leading_options.items()
        }
        self._arity: dict[_Start, int] = {
            tuple(entry.split()): int(arity)
            for arity, entries in tables.arity.items()
            for entry in shlex.split(entries)
        }
        self._runners = _prefixes(tables.runs_a_program)
        self._never = _prefixes(tables.never_open)
        commands = tables.runs_a_command
        self._operands = dict.fromkeys(self._runners | _prefixes(commands.at_once), 0)
        self._operands.update(dict.fromkeys(_prefixes(commands.behind_one), 1))
        self._texts = _prefixes(tables.runs_texts)
        self._options: dict[_Start, tuple[str, ...]] = {
            tuple(start.split()): tuple(options.split())
            for start, options in tables.command_options.items()
        }
        self._messages: dict[_Start, frozenset[str]] = {
            tuple(start.split()): frozenset(options.split())
            for start, options in tables.message_options.items()
        }
        self._sub_commands = {
            program: frozenset(words.split()) for program, words in tables.sub_commands.items()
        }
        self._languages = tables.languages
        named = {words[0] for words in (*self._arity, *self._runners)}
        self._own_words = frozenset(named).union(tables.own_words.split())
        self.run_words = frozenset(tables.run_words.split())

    def without_leading_options(self, words: Sequence[str | None]) -> Sequence[str | None]:
        """Return the words without the options before the sub-command.

        Returns the words unchanged if there are none, or if the program has no sub-commands.
        """
        if len(words) < 2 or not (words[1] or "").startswith("-"):  # noqa: PLR2004
            return words
        valued = self._leading.get(canonical(words[0] or ""))
        if valued is None:
            return words
        position = 1
        while position < len(words):
            word = words[position]
            if word is None or not word.startswith("-"):
                break
            position += 2 if word in valued else 1
        return (words[0], *words[position:])

    def before_command(self, words: Sequence[str | None]) -> tuple[int, int] | None:
        """Return how many words, and then how many operands, come before the program's command.

        Returns None if the program is not known to run one.
        """
        start = _longest_start(words, self._operands)
        return (len(start), self._operands[start]) if start else None

    def runs_texts(self, words: Sequence[str | None]) -> bool:
        """Return whether a word with blanks in it is a command that the program runs."""
        return bool(_longest_start(words, self._texts))

    def command_options(self, words: Sequence[str | None]) -> tuple[str, ...]:
        """Return the options whose value is a command, as `command_families.toml` writes them."""
        start = _by_first_name(words[:2])
        return self._options.get(start[:1], ()) + self._options.get(start, ())

    def message_options(self, words: Sequence[str | None]) -> frozenset[str]:
        """Return the options whose value is a message that people read, and nothing is done by."""
        return self._messages.get(_longest_start(words, self._messages), frozenset())

    def programs_with_command(self, word: str) -> tuple[str, ...]:
        """Return the programs that have a sub-command of this name, the best known first."""
        return tuple(program for program, words in self._sub_commands.items() if word in words)

    def language_of(self, program: str) -> Expression | None:
        """Return the expression for words that run a command in a program's own language."""
        return self._languages.get(canonical(program))

    def is_shell(self, program: str | None) -> bool:
        """Return whether a program runs an argument, a file or its input as a shell script."""
        return program is not None and _unversioned(program) in programs_with("shell")

    def interpreter(self, program: str) -> str | None:
        """Return the interpreter of another language that a program is, without its version."""
        name = _unversioned(program)
        return name if name in programs_with("interpreter") else None

    def runs_code(self, program: str | None) -> bool:
        """Return whether a program is a shell or an interpreter."""
        return program is not None and (
            self.is_shell(program) or self.interpreter(program) is not None
        )

    def has_own_words(self, program: str) -> bool:
        """Return whether a program is known to run no command from its arguments."""
        return canonical(program) in self._own_words

    def prefix_of(self, words: Sequence[str | None]) -> tuple[str, ...] | None:
        """Return the words that a rule for this kind of command begins with, or None.

        Returns None if no open-ended rule is safe to offer: for shells, interpreters, wrappers and
        whole families, or if one of these words is an option or not known.
        """
        program = words[0] if words else None
        runner = _longest_start(words, self._runners)
        if runner:
            arity = len(runner) + 1
        else:
            arity = self._arity.get(_longest_start(words, self._arity), _DEFAULT_ARITY)
        if program is None or ("/" in program and arity > 1) or any(map(str.isspace, program)):
            return None
        plain = [word for word in words[:arity] if word and not word.startswith("-")]
        if len(plain) < arity or not all(map(_is_name, plain[1:])):
            return None
        if any(map(self._is_never_open, (plain, plain[len(runner) :]))):
            return None
        return tuple(plain)

    def _is_never_open(self, words: Sequence[str]) -> bool:
        runs_code = self.runs_code(words[0]) and not self.has_own_words(words[0])
        return runs_code or bool(_longest_start(words, self._never))


@lru_cache(maxsize=1)
def families() -> Families:
    """Return the tables, read once."""
    return Families(Path(__file__).with_name("command_families.toml").read_text("utf-8"))


def _unversioned(program: str) -> str:
    return program.rstrip("0123456789.").rstrip("-")


def _prefixes(entries: str) -> frozenset[_Start]:
    return frozenset(tuple(entry.split()) for entry in shlex.split(entries))


def _longest_start(words: Sequence[str | None], known: Container[_Start]) -> _Start:
    """Return the longest known prefix of the words; empty if none is known."""
    start = _by_first_name(words[:3])
    for length in (3, 2, 1):
        if start[:length] in known:
            return start[:length]
    return ()


def _by_first_name(words: Sequence[str | None]) -> _Start:
    """Return the words of a command with the first name of its program."""
    return (*(word and canonical(word) for word in words[:1]), *words[1:])


def _is_name(word: str) -> bool:
    """Return whether the word looks like a sub-command or a target, not like a file or a text."""
    return word.replace("-", "").replace("_", "").replace(":", "").replace(".", "").isalnum()
