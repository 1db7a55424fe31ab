"""Matches Bash rules against the commands that a command line may start, in every spelling."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from agentscope_like.permission.command.command_index import CommandIndex
from agentscope_like.permission.command.command_patterns import CommandPattern, refuse_lone_word
from agentscope_like.permission.command.edits import part_objection
from agentscope_like.permission.command.rule_coverage import RuleCoverage
from agentscope_like.permission.mode import PermissionBehavior
from agentscope_like.shell import CommandAnalysis, Part, Words
from agentscope_like.shell.catalog import families, program_name
from agentscope_like.shell.facts import (
    alias_readings,
    bare_name,
    carried_readings,
    led_to,
    may_be_alias,
    may_set_aliases,
    other_names,
    other_spellings,
    perhaps_aliased,
    perhaps_carried_readings,
    perhaps_spelled,
    raw_commands,
    raw_readings,
    readings,
    renamed_in,
    runs_unseen_text,
    unread_texts,
)
from agentscope_like.shell.touches import link_objection

if TYPE_CHECKING:
    from agentscope_like.permission.command.prepared_command import PreparedCommand

__all__ = ["CommandRules"]


class CommandRules:
    """The command patterns of rules with the same behaviour.

    To allow, every simple command at any depth must match a pattern or be proven to read only;
    where the text may hold more than was read, each must match. What a pattern does not name is
    not allowed by it (see `RuleCoverage`). To deny or ask, one is
    enough: through wrappers, whatever its path, and in text that could not be read, where every
    word may be a command.

    Args:
        contents: The patterns.
        behavior: ALLOW, DENY or ASK.

    Raises:
        PatternError: One of the patterns cannot be compiled.
    """

    def __init__(self, contents: Sequence[str], behavior: PermissionBehavior) -> None:
        self._behavior = behavior
        if behavior is PermissionBehavior.ALLOW:
            self._index = CommandIndex(contents, program=_trusted_name)
        else:
            self._index = CommandIndex(contents, program=bare_name, refuse=refuse_lone_word)

    def add(self, content: str) -> None:
        """Count with one more pattern, at the next position.

        Raises:
            PatternError: The pattern cannot be compiled; nothing has changed then.
        """
        self._index.add(content)

    def extended(self, content: str) -> CommandRules:
        """Return a matcher for these patterns and one more.

        Raises:
            PatternError: The pattern cannot be compiled.
        """
        extended = CommandRules((), self._behavior)
        extended._index = self._index.extended(content)
        return extended

    def match(self, call: PreparedCommand) -> int | None:
        """Return the position of a pattern that matches the command, or None."""
        if self._behavior is PermissionBehavior.ALLOW:
            return self._allowing(call)
        runs_otherwise = call.context.mode.properties.otherwise == "allow"
        in_doubt = self._behavior is PermissionBehavior.ASK or runs_otherwise
        return self._forbidding(call.read, call, guess=in_doubt)

    def may_match(self, call: PreparedCommand) -> bool:
        """Return whether a pattern matches the command for some value of its unknown words."""
        return self._forbidding(call.analysis, call, guess=True) is not None

    def _allowing(self, call: PreparedCommand) -> int | None:
        analysis = call.analysis
        if not analysis.understood or len(self._index) == 0:
            return None
        surroundings = call.surroundings
        edits_run = call.context.mode.properties.edits_run
        coverage = RuleCoverage(analysis, surroundings, edits_run=edits_run)
        proofs_count = not analysis.doubts
        accepts_edits = proofs_count and edits_run
        first: int | None = None
        if self._index.has_lines and proofs_count:
            first = self._index.find_line(coverage.lines())
        for part in analysis.parts if first is None else ():
            is_known = not call.programs.is_brought(part)
            is_proven = part.read_only and is_known
            found = self._allowed(part, coverage, is_proven=is_proven)
            if found is not None:
                first = found if first is None else min(first, found)
            elif proofs_count and is_proven:
                continue
            elif (
                not accepts_edits or not is_known or part_objection(part, surroundings) is not None
            ):
                return None
        return None if link_objection(analysis, surroundings) else first

    def uncovered(self, call: PreparedCommand) -> tuple[int, str] | None:
        """Return a pattern that matches a part without allowing it, and why; None if none does."""
        analysis = call.analysis
        edits_run = call.context.mode.properties.edits_run
        coverage = RuleCoverage(analysis, call.surroundings, edits_run=edits_run)
        for part in analysis.parts if analysis.understood else ():
            if part.read_only or not part.argv or part.argv[0] is None:
                continue
            position = self._index.find((_trusted_name(part.argv[0]), *part.argv[1:]))
            if position is None or self._allowed(part, coverage, is_proven=False) is not None:
                continue
            pattern = self._index.pattern(position)
            words = coverage.words_objection(pattern, part)
            if reason := words or coverage.surroundings_objection(part):
                return position, reason
        return None

    def _allowed(self, part: Part, coverage: RuleCoverage, *, is_proven: bool) -> int | None:
        if not part.argv or part.argv[0] is None:
            return None
        words = (_trusted_name(part.argv[0]), *part.argv[1:])

        def covers(pattern: CommandPattern) -> bool:
            return is_proven or coverage.words_objection(pattern, part) is None

        found = self._index.find_covering(words, covers)
        if found is None or is_proven:  # the same, whatever it is given
            return found
        return None if coverage.surroundings_objection(part) else found

    def _forbidding(
        self, analysis: CommandAnalysis, call: PreparedCommand, *, guess: bool
    ) -> int | None:
        if len(self._index) == 0:
            return None
        if analysis.script is None:
            return self._in_raw(analysis.command, guess=guess)
        if self._speaks_of_others(analysis):
            return None
        if guess and any(part.argv and part.argv[0] is None for part in analysis.parts):
            return 0
        every = (words for part in analysis.parts for words in _started_by(part, call, guess=guess))
        found = self._first(every, guess=guess)
        if found is None and any(map(runs_unseen_text, analysis.parts)):
            return self._in_raw(analysis.command, guess=guess)
        return found

    def _speaks_of_others(self, analysis: CommandAnalysis) -> bool:
        """Return whether no pattern can match, since no word holds the first word of one."""
        text = _all_names(analysis)
        return text is not None and not self._index.may_begin_in(text)

    def _in_raw(self, text: str, *, guess: bool) -> int | None:
        return self._first(_started_in(text, guess=guess), guess=guess, open_end=True)

    def _first(
        self, every: Iterable[Words], *, guess: bool = False, open_end: bool = False
    ) -> int | None:
        found = (self._index.find(words, guess=guess, open_end=open_end) for words in every)
        return next((position for position in found if position is not None), None)


def _trusted_name(name: str) -> str:
    """Return the name that an allow rule must match: bare for a system program."""
    return program_name(name) or name


_PLAIN = re.compile(r"[A-Za-z0-9_+./:,@%^=\- |&;]+")
"""A text in which nothing is quoted, computed or a pattern."""

_ALL_NAMES = "names of all programs"
_MARKS = str.maketrans("=[]", "   ")


def _all_names(analysis: CommandAnalysis) -> str | None:
    """Return a text that holds the names of all programs that may run; None if any program may.

    They stand in the text or in a part, where none is computed or quoted, or are other names of
    these; but an alias or a link may be any. The answer is kept with the analysis.
    """
    known: dict[str, str | None] = analysis.__dict__
    if _ALL_NAMES not in known:
        known[_ALL_NAMES] = _names_of_all(analysis)
    return known[_ALL_NAMES]


def _names_of_all(analysis: CommandAnalysis) -> str | None:
    if _PLAIN.fullmatch(analysis.command) is None or any(map(_may_be_another, analysis.parts)):
        return None
    words = [word for part in analysis.parts for word in part.argv]
    if None in words:
        return None
    known = [analysis.command, *filter(None, words)]
    return " ".join((*known, *map(other_names, filter(None, words)))).casefold()


def _may_be_another(part: Part) -> bool:
    """Return whether a part may start a program of any name: by an alias of git, or a link."""
    if not part.argv:
        return False
    if part.argv[0] is not None and "/" in part.argv[0] and part.program is None:
        return True
    gits = (
        at
        for at, word in enumerate(part.argv)
        if word is not None and "git" in word.casefold() and bare_name(word) == "git"
    )
    return any(may_be_alias(("git", *part.argv[at + 1 :])) for at in gits)


def _started_by(part: Part, call: PreparedCommand, *, guess: bool) -> Iterator[Words]:
    """Yield each command that a part starts.

    Args:
        part: The part.
        call: The command that it is of.
        guess: Whether commands count that it may start.
    """
    opened: set[Words] = set()
    for words in _read(part, call, guess=guess):
        yield from _spelled(words, guess=guess)
        if words in opened or not may_be_alias(words):
            continue
        opened.add(tuple(families().without_leading_options(words)))
        known = call.git_aliases
        yield from alias_readings(words, known or {})
        if guess:
            changes = may_set_aliases(call.read.command)
            yield from perhaps_aliased(words, part, known, may_change=changes)


def _started_in(text: str, *, guess: bool) -> Iterator[Words]:
    """Yield each command that a text may start which could not be read.

    Args:
        text: The text, of which every word may be a program.
        guess: Whether commands count that another name of these may be.
    """
    for words in raw_commands(text):
        yield from _spelled(words, guess=guess)
        yield from alias_readings(words, {})
        if guess:
            yield from perhaps_aliased(words, None, None, may_change=True)
    marked = text.translate(_MARKS)  # for arrays that say what a name stands for
    if marked != text:
        yield from raw_commands(marked)


def _read(part: Part, call: PreparedCommand, *, guess: bool) -> Iterator[Words]:
    yield from readings(part)
    yield from led_to(part, call.surroundings)
    for words in unread_texts(part):
        yield from raw_readings(words)
    yield from carried_readings(part)
    if guess:
        yield from perhaps_carried_readings(part)
        yield from renamed_in(call.read, part)


def _spelled(words: Words, *, guess: bool) -> Iterator[Words]:
    yield words
    if words and words[0] is not None:
        yield from other_spellings(words)
        if guess:
            yield from perhaps_spelled(words)
