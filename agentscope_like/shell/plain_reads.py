"""Proves at a glance that a plain line only reads and names no file: `git log -5 | wc -l`.

In a plain line nothing is quoted, computed or a pattern. Its proof needs no tree where each word is
an option or an operand that its program takes for a text, a number or a name. Which these are is
compiled from the catalog; the rest is left to `analyze`, which must agree with every proof.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain

from msgspec import Struct

from agentscope_like.shell.catalog import (
    Grammar,
    Operand,
    Role,
    RoleKind,
    lookup,
    programs_with,
    seen_steerings,
)
from agentscope_like.shell.facts import (
    choosing_option,
    may_show_content,
    showing_options,
)
from agentscope_like.shell.syntax import PLAIN_LINE, RESERVED
from agentscope_like.shell.walk import MAX_PARTS
from agentscope_like.toml_tables import Expression

__all__ = ["PlainRead", "plain_read"]

_INERT = frozenset(
    {RoleKind.TEXT, RoleKind.NUMBER, RoleKind.NAME, RoleKind.MATCHING, RoleKind.ONE_OF}
)
"""What an argument means that names no path, program or variable."""

_ANY = re.compile(r"(?s:.*)")
_DIGITS = re.compile(r"-[0-9]+")
_LETTER = 2
"""Length of an option of one letter, with its dash."""


class PlainRead(Struct, frozen=True):
    """A plain line that only reads and names no file.

    Attributes:
        command: The line.
        commands: The words of each of its commands.
    """

    command: str
    commands: Sequence[tuple[str, ...]]

    @property
    def programs(self) -> list[str]:
        """Return the names of its programs."""
        return [words[0] for words in self.commands]


def plain_read(command: str) -> PlainRead | None:
    """Return a plain line that is proven to only read and to name no file, or None.

    None means nothing: only `analyze` says what another command does.

    Args:
        command: The command line as it would be handed to bash.
    """
    if PLAIN_LINE.fullmatch(command) is None:
        return None
    commands = [tuple(stage.split()) for stage in command.split("|")]
    if len(commands) <= MAX_PARTS and all(map(_is_inert, commands)):
        return PlainRead(command, commands)
    return None


class _Level(Struct, frozen=True, gc=False):
    """What is inert in the grammar of one program or sub-command.

    Attributes:
        grammar: The grammar.
        flags: The options that may stand alone.
        letters: Those of one letter that never take a value, without their dashes.
        values: What the next word has to match, by the options that take it as their value.
        joined: What a value has to match that is joined, by the options that may have one.
        least: How many operands there have to be.
        bare: Whether there need be none.
        steering: Words beside which files of the project may steer the program.
        comes_first: Whether an option above the sub-command may change what is read here.
        showing: The options with which git shows the content of files here.
    """

    grammar: Grammar
    flags: frozenset[str]
    letters: frozenset[str]
    values: Mapping[str, re.Pattern[str]]
    joined: Mapping[str, re.Pattern[str]]
    least: int
    bare: bool
    steering: frozenset[str]
    comes_first: bool
    showing: Expression | None

    def takes(self, word: str) -> bool:
        """Return whether a word is a number, several letters, or an option with its value."""
        if word.startswith("--"):
            name, _, value = word.partition("=")
            pattern = self.joined.get(name)
        elif self.grammar.number and _DIGITS.fullmatch(word):
            return True
        else:
            pattern, value = self.joined.get(word[:_LETTER]), word[_LETTER:]
            if pattern is None:
                return self.letters.issuperset(word[1:])
        return pattern is not None and pattern.fullmatch(value) is not None

    def takes_operands(self, operands: Sequence[str]) -> bool:
        """Return whether operands are as many as there may be, and none may be a path."""
        places = self.grammar.operands
        spare = len(operands) - self.least
        if spare < 0:
            return False
        start = 0
        for place in places:
            end = start + 1
            if _varies(place):
                end = start + (spare if place.many else min(1, spare))
                spare -= end - start
            given, start = operands[start:end], end
            if not _all_fit(place.role, given):
                return False
        return start == len(operands)


def _varies(place: Operand) -> bool:
    return place.many or place.optional


def _all_fit(role: Role, given: Sequence[str]) -> bool:
    if role.kind not in _INERT:
        return False
    return role.pattern is None or all(map(role.pattern.fullmatch, given))


def _is_inert(words: tuple[str, ...]) -> bool:
    """Return whether every word of a command is inert, its program's name first."""
    path = words[:1]
    level = _level(path) if path else None
    operands: list[str] = []
    index, count = 1, len(words)
    while level is not None and index < count:
        grammar, word = level.grammar, words[index]
        if grammar.optionless or (operands and grammar.options_first):
            operands += words[index:]
            break
        index += 1
        if word[0] == "-" and word != "-":
            if word in level.flags:
                continue
            if (pattern := level.values.get(word)) is not None:
                value = words[index] if index < count else "-"
                if value[0] == "-" or pattern.fullmatch(value) is None:
                    return False
                index += 1
            elif not level.takes(word):
                return False
        elif grammar.subs and not operands:
            path = (*path, word)
            level = _level(path)
            if level is not None and level.comes_first and index > len(path):
                return False
        else:
            operands.append(word)
    if level is None or not (level.takes_operands(operands) if operands else level.bare):
        return False
    if level.showing is not None and any(map(level.showing.fullmatch, words)):
        return False
    return level.steering.isdisjoint(words)


@lru_cache(maxsize=1024)
def _level(path: tuple[str, ...]) -> _Level | None:
    """Return what is inert in a program or a sub-command; None where all is left to the walk.

    Args:
        path: The name of the program, and those of its sub-commands down to this one.
    """
    program, *subs = path
    git_command = subs[0] if program == "git" and subs else ""
    steered = [words for words, _ in seen_steerings(program)]
    grammar = top = lookup(program)
    if grammar is None or top is None or not all(steered) or _is_left(program, git_command):
        return None
    above = frozenset[str]()
    for name in subs:
        if name not in grammar.subs:
            return None
        above |= grammar.flags.keys()
        grammar = grammar.subs[name]
    if any(map(_is_special, (top, grammar))):
        return None
    changing = grammar.changing_flags | grammar.endless | top.endless
    flags = [
        (name, flag)
        for name, flag in grammar.flags.items()
        if name not in changing and (len(name) == _LETTER or name.startswith("--"))
    ]
    plain = [name for name, flag in flags if flag.role is None]
    valued = [
        (name, flag.role.pattern or _ANY, flag.joined)
        for name, flag in flags
        if flag.role is not None and flag.role.kind in _INERT and not flag.named
    ]
    least = sum(not _varies(place) for place in grammar.operands)
    return _Level(
        grammar=grammar,
        flags=frozenset(name for name, flag in flags if flag.role is None or flag.joined),
        letters=frozenset(name[1] for name in plain if len(name) == _LETTER),
        values={name: pattern for name, pattern, joined in valued if not joined},
        joined={name: pattern for name, pattern, _ in valued},
        least=least,
        bare=least == 0 and (grammar.bare or bool(grammar.operands)),
        steering=frozenset(chain.from_iterable(steered)),
        comes_first=not changing.isdisjoint(above),
        showing=showing_options(git_command),
    )


def _is_left(program: str, git_command: str) -> bool:
    """Return whether a program is left to the walk, whatever its grammar is."""
    is_special = program in RESERVED or program in programs_with("condition")
    return is_special or choosing_option(program) is not None or may_show_content(git_command)


def _is_special(grammar: Grammar) -> bool:
    """Return whether a grammar says more than which words are inert."""
    style = grammar.single_dash or grammar.bundled or grammar.builtin
    return style or any(
        (
            *(grammar.doubt, grammar.refuses, grammar.pairs, grammar.feed, grammar.needs),
            *(grammar.modules, grammar.default),
        )
    )
