"""Matches Bash rules against the commands that were read from a command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agentscope_like.permission.command.command_index import CommandIndex
from agentscope_like.permission.command.command_patterns import CommandPattern, refuse_lone_word
from agentscope_like.permission.command.command_reading import CommandReading
from agentscope_like.permission.command.edits import part_objection
from agentscope_like.permission.mode import PermissionBehavior
from agentscope_like.shell import CommandAnalysis, Part, Words
from agentscope_like.shell.catalog import program_name
from agentscope_like.shell.facts import (
    bare_name,
    runs_unseen_text,
    started_by,
    started_in,
)
from agentscope_like.shell.touches import link_objection

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

    def extended(self, content: str) -> CommandRules:
        """Return a matcher for these patterns and one more.

        Raises:
            PatternError: The pattern cannot be compiled.
        """
        extended = CommandRules((), self._behavior)
        extended._index = self._index.extended(content)
        return extended

    def match(self, call: CommandReading) -> int | None:
        """Return the position of a pattern that matches the command, or None."""
        if self._behavior is PermissionBehavior.ALLOW:
            return self._allowing(call)
        if self._names_none_of(call):
            return None
        runs_otherwise = call.context.mode.properties.otherwise == "allow"
        in_doubt = self._behavior is PermissionBehavior.ASK or runs_otherwise
        return self._forbidding(call.read, call, guess=in_doubt)

    def may_match(self, call: CommandReading) -> bool:
        """Return whether a pattern matches the command for some value of its unknown words."""
        if self._names_none_of(call):
            return False
        return self._forbidding(call.analysis, call, guess=True) is not None

    def _names_none_of(self, call: CommandReading) -> bool:
        """Return whether no pattern begins with a program that the command may run."""
        return call.names is not None and not self._index.may_begin_in(call.names)

    def _allowing(self, call: CommandReading) -> int | None:
        analysis = call.analysis
        if not analysis.understood or len(self._index) == 0:
            return None
        surroundings = call.surroundings
        proofs_count = not analysis.doubts
        accepts_edits = proofs_count and call.context.mode.properties.edits_run
        first: int | None = None
        if self._index.has_lines and proofs_count and (line := call.coverage.line):
            first = self._index.find_line(line)
        for part in analysis.parts if first is None else ():
            is_known = not call.programs.is_brought(part)
            is_proven = part.read_only and is_known
            found = self._allowed(part, call, is_proven=is_proven)
            if found is not None:
                first = found if first is None else min(first, found)
            elif proofs_count and is_proven:
                continue
            elif (
                not accepts_edits or not is_known or part_objection(part, surroundings) is not None
            ):
                return None
        return None if link_objection(analysis, surroundings) else first

    def uncovered(self, call: CommandReading) -> tuple[int, str] | None:
        """Return a pattern that matches a part without allowing it, and why; None if none does."""
        analysis = call.analysis
        for part in analysis.parts if analysis.understood else ():
            if part.read_only or not part.argv or part.argv[0] is None:
                continue
            position = self._index.find((_trusted_name(part.argv[0]), *part.argv[1:]))
            if position is None or self._allowed(part, call, is_proven=False) is not None:
                continue
            pattern = self._index.pattern(position)
            words = call.coverage.words_objection(pattern, part)
            if reason := words or call.coverage.surroundings_objection(part):
                return position, reason
        return None

    def _allowed(self, part: Part, call: CommandReading, *, is_proven: bool) -> int | None:
        if not part.argv or part.argv[0] is None:
            return None
        words = (_trusted_name(part.argv[0]), *part.argv[1:])

        def covers(pattern: CommandPattern) -> bool:
            return is_proven or call.coverage.words_objection(pattern, part) is None

        found = self._index.find(words, covers=covers)
        if found is None or is_proven:  # the same, whatever it is given
            return found
        return None if call.coverage.surroundings_objection(part) else found

    def _forbidding(
        self, analysis: CommandAnalysis, call: CommandReading, *, guess: bool
    ) -> int | None:
        if analysis.script is None:
            return self._in_raw(analysis.command, guess=guess)
        if guess and any(part.argv and part.argv[0] is None for part in analysis.parts):
            return 0 if len(self._index) else None
        around = call.surroundings
        every = (
            words
            for part in analysis.parts
            for words in started_by(part, analysis, around, lambda: call.git_aliases, guess=guess)
        )
        found = self._first(every, guess=guess)
        if found is None and any(map(runs_unseen_text, analysis.parts)):
            return self._in_raw(analysis.command, guess=guess)
        return found

    def _in_raw(self, text: str, *, guess: bool) -> int | None:
        return self._first(started_in(text, guess=guess), guess=guess, open_end=True)

    def _first(
        self, every: Iterable[Words], *, guess: bool = False, open_end: bool = False
    ) -> int | None:
        found = (self._index.find(words, guess=guess, open_end=open_end) for words in every)
        return next((position for position in found if position is not None), None)


def _trusted_name(name: str) -> str:
    """Return the name that an allow rule must match: bare for a system program."""
    return program_name(name) or name
