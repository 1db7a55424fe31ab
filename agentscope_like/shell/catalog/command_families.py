"""Tells which words of a command name its sub-command, and which programs run commands."""

from __future__ import annotations

import shlex
from collections.abc import Container, Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from agentscope_like.shell.catalog.traits import canonical, programs_with
from agentscope_like.toml_tables import Expression, WordSet, parse_table

__all__ = ["Families", "Runner", "families"]

_DEFAULT_ARITY = 2


class _Placed(Struct, frozen=True, forbid_unknown_fields=True):
    at_once: str
    behind_one: str


class _Runners(Struct, frozen=True, forbid_unknown_fields=True):
    here: _Placed
    elsewhere: _Placed


class _Tables(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables as they are written; `command_families.toml` explains each."""

    leading_options: dict[str, WordSet]
    arity: dict[str, str]
    runs_a_program: str
    never_open: str
    run_words: WordSet
    runs_a_command: _Runners
    runs_texts: str
    message_options: dict[str, WordSet]
    sub_commands: dict[str, WordSet]
    command_options: dict[str, str]
    languages: dict[str, Expression]
    own_words: WordSet


class Runner(Struct, frozen=True):
    """Where a program has the commands that it runs.

    Attributes:
        before: How many words, and then how many operands, come before its command; None if it is
            not known to run the words behind.
        elsewhere: Whether it runs that in a container or on another machine.
        texts: Whether a word with blanks in it is a command that it runs.
        options: The options whose value is a command, as `command_families.toml` writes them.
    """

    before: tuple[int, int] | None = None
    elsewhere: bool = False
    texts: bool = False
    options: tuple[str, ...] = ()

    def joined(self, longer: Runner) -> Runner:
        """Return both as one: what the longer beginning of a command says comes first."""
        is_silent = longer.before is None
        return Runner(
            self.before if is_silent else longer.before,
            self.elsewhere if is_silent else longer.elsewhere,
            self.texts or longer.texts,
            self.options + longer.options,
        )


_NO_RUNNER = Runner()


class Families:
    """The tables of `command_families.toml`.

    Attributes:
        run_words: Words that are followed by a command, for any program.
    """

    def __init__(self, text: str) -> None:
        tables = parse_table(text, _Tables, _Runners, _Placed, name="families.toml")
        self._tables = tables
        self._arity = {
            entry: int(arity)
            for arity, entries in tables.arity.items()
            for entry in shlex.split(entries)
        }
        self._runners = frozenset(shlex.split(tables.runs_a_program))
        self._never = frozenset(shlex.split(tables.never_open))
        self._runner_at = _runners_of(tables, self._runners)
        named = {start.partition(" ")[0] for start in (*self._arity, *self._runners)}
        self._own_words = tables.own_words | named
        self.run_words = tables.run_words

    def without_leading_options(self, words: Sequence[str | None]) -> Sequence[str | None]:
        """Return the words without the options before the sub-command.

        Returns the words unchanged if there are none, or if the program has no sub-commands.
        """
        if len(words) < 2 or not (words[1] or "").startswith("-"):  # noqa: PLR2004
            return words
        valued = self._tables.leading_options.get(canonical(words[0] or ""))
        if valued is None:
            return words
        position = 1
        while position < len(words):
            word = words[position]
            if word is None or not word.startswith("-"):
                break
            position += 2 if word in valued else 1
        return (words[0], *words[position:])

    def runner(self, words: Sequence[str | None]) -> Runner:
        """Return where the program of a command has the commands that it runs."""
        found = _NO_RUNNER
        for start in _starts(words[:3]):
            known = self._runner_at.get(start)
            if known is not None:
                found = known if found is _NO_RUNNER else found.joined(known)
        return found

    def message_options(self, words: Sequence[str | None]) -> frozenset[str]:
        """Return the options whose value is a message that people read, and nothing is done by."""
        messages = self._tables.message_options
        return messages.get(_longest_start(words, messages), frozenset())

    def programs_with_command(self, word: str) -> tuple[str, ...]:
        """Return the programs that have a sub-command of this name, the best known first."""
        sub_commands = self._tables.sub_commands
        return tuple(program for program, words in sub_commands.items() if word in words)

    def language_of(self, program: str) -> Expression | None:
        """Return the expression for words that run a command in a program's own language."""
        return self._tables.languages.get(canonical(program))

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
            arity = len(runner.split()) + 1
        else:
            arity = self._arity.get(_longest_start(words, self._arity), _DEFAULT_ARITY)
        if program is None or ("/" in program and arity > 1) or any(map(str.isspace, program)):
            return None
        plain = [word for word in words[:arity] if word and not word.startswith("-")]
        if len(plain) < arity or not all(map(_is_name, plain[1:])):
            return None
        if any(map(self._is_never_open, (plain, plain[len(runner.split()) :]))):
            return None
        return tuple(plain)

    def _is_never_open(self, words: Sequence[str]) -> bool:
        runs_code = self.runs_code(words[0]) and not self.has_own_words(words[0])
        return runs_code or bool(_longest_start(words, self._never))


@lru_cache(maxsize=1)
def families() -> Families:
    """Return the tables, read once."""
    return Families(Path(__file__).with_name("command_families.toml").read_text("utf-8"))


def _runners_of(tables: _Tables, at_once: Iterable[str]) -> dict[str, Runner]:
    """Return what the beginnings of commands say of where others stand that they run."""
    elsewhere = _operands_of(tables.runs_a_command.elsewhere)
    operands = dict.fromkeys(at_once, 0) | _operands_of(tables.runs_a_command.here) | elsewhere
    texts = frozenset(shlex.split(tables.runs_texts))
    return {
        start: Runner(
            (len(start.split()), operands[start]) if start in operands else None,
            start in elsewhere,
            start in texts,
            tuple(tables.command_options.get(start, "").split()),
        )
        for start in {*operands, *texts, *tables.command_options}
    }


def _operands_of(placed: _Placed) -> dict[str, int]:
    """Return how many operands come before the command of each of these programs."""
    at_once, behind_one = shlex.split(placed.at_once), shlex.split(placed.behind_one)
    return dict.fromkeys(at_once, 0) | dict.fromkeys(behind_one, 1)


def _unversioned(program: str) -> str:
    return program.rstrip("0123456789.").rstrip("-")


def _starts(words: Sequence[str | None]) -> list[str]:
    """Return the beginnings of a command with the first name of its program, the shortest first."""
    starts: list[str] = []
    for word in words:
        if not word or " " in word:
            break
        starts.append(f"{starts[-1]} {word}" if starts else canonical(word))
    return starts


def _longest_start(words: Sequence[str | None], known: Container[str]) -> str:
    """Return the longest known beginning of the words, of three at most; empty if none is known."""
    return next((start for start in reversed(_starts(words[:3])) if start in known), "")


def _is_name(word: str) -> bool:
    """Return whether the word looks like a sub-command or a target, not like a file or a text."""
    return word.replace("-", "").replace("_", "").replace(":", "").replace(".", "").isalnum()
