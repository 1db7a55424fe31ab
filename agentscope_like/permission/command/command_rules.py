"""Matches Bash rules against the commands that were read from a command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from agentscope_like.permission.command.command_index import CommandIndex
from agentscope_like.permission.command.command_patterns import CommandPattern
from agentscope_like.permission.command.edits import part_objection
from agentscope_like.permission.command.prepared_command import PreparedCommand
from agentscope_like.permission.mode import PermissionBehavior
from agentscope_like.shell import CommandAnalysis, Part, Words
from agentscope_like.shell.facts import (
    runs_unseen_text,
    started_by,
    started_in,
)
from agentscope_like.shell.touches import link_objection

__all__ = ["CommandRules"]


class CommandRules(CommandIndex):
    """The command patterns of rules with the same behaviour.

    To allow, every simple command at any depth must match a pattern or be proven to read only;
    where the text may hold more than was read, each must match. What a pattern does not name is
    not allowed by it (see `RuleCoverage`). To deny or ask, one is enough: through wrappers,
    whatever its path, and in text that could not be read, where every word may be a command.
    """

    def match(self, call: PreparedCommand) -> int | None:
        """Return the position of a pattern that matches the command, or None."""
        if self.behavior is PermissionBehavior.ALLOW:
            return self._allowing(call)
        runs_otherwise = call.context.mode.properties.otherwise == "allow"
        in_doubt = self.behavior is PermissionBehavior.ASK or runs_otherwise
        return self._forbidding(call, lambda: call.read, guess=in_doubt)

    def may_match(self, call: PreparedCommand) -> bool:
        """Return whether a pattern matches the command for some value of its unknown words."""
        return self._forbidding(call, lambda: call.analysis, guess=True) is not None

    def _allowing(self, call: PreparedCommand) -> int | None:
        analysis = call.analysis
        if not analysis.understood or not self.patterns:
            return None
        surroundings = call.surroundings
        proofs_count = not analysis.doubts
        accepts_edits = proofs_count and call.context.mode.properties.edits_run
        first: int | None = None
        if self.lines and proofs_count and (line := call.coverage.line):
            first = self.find_line(line)
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

    def uncovered(self, call: PreparedCommand) -> tuple[int, str] | None:
        """Return a pattern that matches a part without allowing it, and why; None if none does."""
        analysis = call.analysis
        for part in analysis.parts if analysis.understood else ():
            if part.read_only or not part.argv or part.argv[0] is None:
                continue
            position = self.find((self.program(part.argv[0]), *part.argv[1:]))
            if position is None or self._allowed(part, call, is_proven=False) is not None:
                continue
            pattern = self.patterns[position]
            words = call.coverage.words_objection(pattern, part)
            if reason := words or call.coverage.surroundings_objection(part):
                return position, reason
        return None

    def _allowed(self, part: Part, call: PreparedCommand, *, is_proven: bool) -> int | None:
        if not part.argv or part.argv[0] is None:
            return None
        words = (self.program(part.argv[0]), *part.argv[1:])

        def covers(pattern: CommandPattern) -> bool:
            return is_proven or call.coverage.words_objection(pattern, part) is None

        found = self.find(words, covers=covers)
        if found is None or is_proven:  # the same, whatever it is given
            return found
        return None if call.coverage.surroundings_objection(part) else found

    def _forbidding(
        self, call: PreparedCommand, analyzed: Callable[[], CommandAnalysis], *, guess: bool
    ) -> int | None:
        if call.names is not None and not self.may_begin_in(call.names):
            return None
        analysis = analyzed()
        if analysis.script is None:
            return self._in_raw(analysis.command, guess=guess)
        if guess and any(part.argv and part.argv[0] is None for part in analysis.parts):
            return 0 if self.patterns else None
        around = call.surroundings
        for part in analysis.parts:
            every = started_by(part, analysis, around, lambda: call.git_aliases, guess=guess)
            found = self._first(every, guess=guess, several=guess and _may_split(part))
            if found is not None:
                return found
        if any(map(runs_unseen_text, analysis.parts)):
            return self._in_raw(analysis.command, guess=guess)
        return None

    def _in_raw(self, text: str, *, guess: bool) -> int | None:
        return self._first(started_in(text, guess=guess), guess=guess, open_end=True)

    def _first(
        self,
        every: Iterable[Words],
        *,
        guess: bool = False,
        several: bool = False,
        open_end: bool = False,
    ) -> int | None:
        found = (
            self.find(words, guess=guess, several=several, open_end=open_end) for words in every
        )
        return next((position for position in found if position is not None), None)


def _may_split(part: Part) -> bool:
    """Return whether a word of the part that bash computes may be no word, or several."""
    whole = [each for each in part.computed if each.single and not each.optional]
    return part.argv.count(None) > len(whole)
