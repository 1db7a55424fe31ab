"""Tells which words an allow rule covers that it does not name; the data is `rule_options.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

from msgspec import Struct

from agentscope_like.shell import Shape, Unknown
from agentscope_like.shell.catalog import (
    Grammar,
    RoleKind,
    canonical,
    families,
    lookup,
    program_name,
)
from agentscope_like.shell.facts import INPUT
from agentscope_like.toml_tables import WordSet, table_beside

__all__ = ["Argument", "unnamed_words"]

Argument: TypeAlias = str | Unknown

_HARMLESS_VALUES = frozenset({RoleKind.TEXT, RoleKind.NUMBER})
_PIECES = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_SETTING = re.compile(r"[A-Za-z_.][A-Za-z0-9_.-]*[+:?]?=|[@+]", re.ASCII)
_NUMBER = re.compile(r"-[0-9]+", re.ASCII)
_SHORT_PIECE = 3
_SUB_COMMANDS = 3


class _UnknownPrograms(Struct, frozen=True, forbid_unknown_fields=True):
    letters: WordSet
    endings: WordSet
    pieces: WordSet


class _Tables(Struct, frozen=True, forbid_unknown_fields=True):
    general: WordSet
    unknown: _UnknownPrograms
    text_operands: WordSet
    carrying: dict[str, WordSet]
    programs: dict[str, WordSet]


_tables = table_beside(__file__, "rule_options.toml", _Tables, _UnknownPrograms)


class _Options(Struct, frozen=True):
    """The options of one command that a rule need not name.

    Attributes:
        flags: Those without a value.
        valued: Those with one.
        is_known: Whether the program is known; of another, most options are covered.
        clusters: Whether options of one letter may be written together.
        bundled: Whether the first operand is a cluster of options.
    """

    flags: frozenset[str]
    valued: frozenset[str]
    is_known: bool
    clusters: bool = True
    bundled: bool = False


@lru_cache(maxsize=512)
def _options_of(words: tuple[str, ...]) -> _Options:
    """Return the options of the command that begins with these words: a program's, and its subs."""
    program = canonical(program_name(words[0]) or words[0])
    tables = _tables().programs
    starts = [" ".join((program, *words[1:end])) for end in range(1, len(words) + 1)]
    listed = [tables[start] for start in starts if start in tables]
    grammar = lookup(program)
    known = _tables().general.union(*listed)
    flags = set(known)
    valued = {each[:-1] for each in known if each.endswith("=")}
    leaf = _leaf(grammar, words[1:])
    if leaf is not None:
        _add_harmless(leaf, flags, valued)
    return _Options(
        frozenset(flags),
        frozenset(valued),
        is_known=bool(listed) or grammar is not None,
        clusters=grammar is None or not grammar.single_dash,
        bundled=grammar is not None and grammar.bundled,
    )


def _leaf(grammar: Grammar | None, words: Sequence[str]) -> Grammar | None:
    """Return the grammar that the sub-commands lead to; None where further ones are expected.

    An option before a sub-command, or of one that the catalog does not have, may mean other things
    there: `npm -g` lists what is installed for all users, `npm install -g` installs it for them.
    """
    for word in words:
        if grammar is None or not grammar.subs:
            break
        grammar = grammar.subs.get(word)
    return None if grammar is None or grammar.subs else grammar


def _add_harmless(grammar: Grammar, flags: set[str], valued: set[str]) -> None:
    """Add the options of a grammar that change neither its operands nor take a path or a host."""
    other = {
        flag
        for when in grammar.whens
        if when.operands is not None or when.doubt
        for flag in when.flags
    }
    for name, flag in grammar.flags.items():
        if name in other:
            continue
        if flag.role is None:
            flags.add(name)
        elif flag.role.kind in _HARMLESS_VALUES and not (flag.named or flag.many):
            (flags if flag.joined else valued).add(name)


def unnamed_words(words: Sequence[Argument], named: Sequence[bool]) -> Iterator[int]:
    """Yield the positions of words that a rule has to name to cover them, and does not.

    Args:
        words: A program's name and its arguments.
        named: For each of the first words, whether the rule has it literally.
    """
    if len(named) >= len(words) and all(named):
        return
    start = 0
    while start < len(words):
        reader = _CommandWords(words, named, start)
        yield from reader.unnamed()
        start = reader.carried_at


class _CommandWords:
    """The words of one command, up to the command that it carries.

    Attributes:
        carried_at: Where the carried command starts; behind the last word if there is none.
    """

    def __init__(self, words: Sequence[Argument], named: Sequence[bool], start: int) -> None:
        self._words = words
        self._named = named
        self._start = start
        texts = [word if isinstance(word, str) else None for word in words[start:]]
        plain = [word for word in texts if word and not word.startswith("-")][:_SUB_COMMANDS]
        first = texts[0] or ""
        self._program = program_name(first) or first
        self._options = _options_of(tuple(plain or [self._program]))
        runner = families().runner(texts)
        self._skipped = None if runner.before is None else sum(runner.before) - 1
        self._carrying = _tables().carrying.get(canonical(self._program), ())
        self._language = families().language_of(self._program)
        self._starts = runner.options
        self.carried_at = len(words)

    def unnamed(self) -> Iterator[int]:
        """Yield the positions of its words that are neither named nor covered."""
        is_value, is_ended, operands = False, False, 0
        for index in range(self._start + 1, len(self._words)):
            word = self._words[index]
            if is_value:
                is_value = False
                if _is_value(word):
                    continue
            if isinstance(word, str) and word[:1] == "-" and word != "-":
                if word == "--":
                    is_ended = True
                    continue
                if word in self._carrying and self._is_named(index):
                    self.carried_at = index + 1
                    return
                covered, is_value = self._option(word, is_ended=is_ended)
            else:
                if self._skipped is not None and operands >= self._skipped:
                    self.carried_at = index
                    return
                operands += 1
                covered = self._operand(word, first=operands == 1)
            if not covered and not self._is_named(index):
                yield index

    def _is_named(self, index: int) -> bool:
        return index < len(self._named) and self._named[index]

    def _option(self, word: str, *, is_ended: bool) -> tuple[bool, bool]:
        """Return whether an option is covered, and whether the next word is its value."""
        options = self._options
        name, equals, _ = word.partition("=")
        if not is_ended:
            if word in options.flags or _NUMBER.fullmatch(word):
                return True, False
            if name in options.valued:
                return True, not equals
            if word[:2] != "--" and options.clusters and (found := self._cluster(word[1:])):
                return found
        if options.is_known and not is_ended:
            return False, False
        return _is_harmless_anywhere(name), False

    def _runs_a_command(self, word: str) -> bool:
        """Return whether an operand is a text in the program's own language that runs a command."""
        if word.startswith(self._starts):
            return True
        return self._language is not None and self._language.fullmatch(word) is not None

    def _cluster(self, letters: str) -> tuple[bool, bool] | None:
        """Return what `_option` does for letters written together; None if one is not covered."""
        for place, letter in enumerate(letters, 1):
            if f"-{letter}" in self._options.valued:
                return True, place == len(letters)
            if f"-{letter}" not in self._options.flags:
                return None
        return True, False

    def _operand(self, word: Argument, *, first: bool) -> bool:
        is_text = self._program in _tables().text_operands
        if isinstance(word, str):
            if first and self._options.bundled and not (found := self._cluster(word)):
                return found is not None
            return is_text or not (_is_special(word) or self._runs_a_command(word))
        return _is_plain(word, is_text=is_text)


def _is_special(word: str) -> bool:
    """Return whether an operand is a setting, a file of options, or stands for the input."""
    return word == "-" or bool(INPUT.fullmatch(word) or _SETTING.match(word))


def _is_value(word: Argument) -> bool:
    """Return whether a word behind an option is its value, for every program.

    Some take a word with a dash for the next option: `npm --loglevel --script-shell=x`.
    """
    return word[:1] != "-" if isinstance(word, str) else word.single


def _is_plain(word: Unknown, *, is_text: bool) -> bool:
    """Return whether a computed operand is certainly neither an option nor a setting."""
    if word.choices:
        return not any(each[:1] == "-" or _SETTING.match(each) for each in word.choices)
    if word.option:
        return False
    if is_text or word.shape >= Shape.ALPHANUMERIC:
        return True
    return "/" in word.prefix.partition("=")[0]


@lru_cache(maxsize=512)
def _is_harmless_anywhere(name: str) -> bool:
    """Return whether the name of an option of an unknown program tells of nothing to be asked."""
    if name in _tables().general:
        return True
    if not name.startswith("--"):
        return set(name[1:]) <= _tables().unknown.letters
    pieces, endings = _tables().unknown.pieces, tuple(_tables().unknown.endings)
    long = [each for each in pieces if len(each) > _SHORT_PIECE]
    for piece in _PIECES.split(name):
        lower = piece.lower()
        if lower in pieces or lower.endswith(endings) or any(each in lower for each in long):
            return False
        if len(lower) >= _SHORT_PIECE and any(each.startswith(lower) for each in long):
            return False
    return True
