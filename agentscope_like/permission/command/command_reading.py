"""The reading of a shell command that checks, rules and confinement share."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeAlias

from agentscope_like.lazy_property import lazy_property
from agentscope_like.paths import LookBudget
from agentscope_like.permission.command.edits import edit_objection
from agentscope_like.permission.command.rule_coverage import RuleCoverage
from agentscope_like.permission.context import PermissionContext
from agentscope_like.permission.protocol import PermissionTool, PreparedCall
from agentscope_like.shell import CommandAnalysis, KnownPrograms, PlainRead, Surroundings
from agentscope_like.shell.catalog import programs_with
from agentscope_like.shell.facts import GitAliases, names_in_words

__all__ = ["CheckedAnalysis", "CommandReading"]

CheckedAnalysis: TypeAlias = Callable[
    [CommandAnalysis, Callable[[], Surroundings]], CommandAnalysis
]
"""Returns an analysis with further doubts, which depend on files."""

_PROGRAM = attrgetter("program")


class CommandReading(PreparedCall):
    """A shell command as it was read, once for a decision, and where it would run.

    Args:
        tool: The tool that runs commands.
        tool_input: Its arguments.
        context: What is permitted.
        owner: The class whose public methods this reading replaces.
        directory: The directory that it is read for.
        analyses: Returns the strict reader's analysis, used to deny and ask, and the same unless a
            second reader dissents, used to allow.
        surroundings: Returns where the command would run, as the decision sees it.
        surroundings_now: Returns where the next command of the session would run, as things are.
        place_of: Returns which directory stands at a path, so that a swapped one is noticed.
        programs: Where it finds its programs without approval.
        checked: Returns an analysis with the doubts that files give rise to, for a decision.
        aliases: Returns what git's aliases stand for; None where that is not known.
        plain: The command, where it is plain and proven to read, and no file puts a doubt on it. It
            is analysed then when somebody asks for more.

    Attributes:
        directory: As given.
        plain: As given.
        programs: As given.
        place: Which directory it was read for; empty if that does not matter.
    """

    def __init__(
        self,
        tool: PermissionTool,
        tool_input: dict[str, Any],
        context: PermissionContext,
        *,
        owner: type,
        directory: str,
        analyses: Callable[[], tuple[CommandAnalysis, CommandAnalysis]],
        surroundings: Callable[[], Surroundings],
        surroundings_now: Callable[[], Surroundings],
        place_of: Callable[[str], str],
        programs: KnownPrograms,
        checked: CheckedAnalysis | None = None,
        aliases: Callable[[CommandAnalysis, Surroundings], GitAliases | None] | None = None,
        plain: PlainRead | None = None,
    ) -> None:
        super().__init__(tool, tool_input, context, owner=owner)
        self.directory = directory
        self.plain = plain
        self._analyses = analyses
        self._checked = checked
        self._surroundings = surroundings
        self._surroundings_now = surroundings_now
        self._place_of = place_of
        self.place = place_of(directory)
        self.programs = programs
        self._aliases = aliases
        if plain is None:
            _ = self.analysis  # as the files are now

    @lazy_property
    def read(self) -> CommandAnalysis:
        """The strict reader's analysis."""
        return self._analyses()[0]

    @lazy_property
    def analysis(self) -> CommandAnalysis:
        """The analysis used to allow, with the doubts that files give rise to.

        There is one for each program that only a working directory has.
        """
        analysis = self._analyses()[1]
        if self.plain is not None:
            return analysis
        analysis = self.programs.doubted(analysis)
        runs_git = programs_with("runs_git")
        if self._checked is None or runs_git.isdisjoint(map(_PROGRAM, analysis.parts)):
            return analysis
        return self._checked(analysis, lambda: self.surroundings)

    @lazy_property
    def names(self) -> str | None:
        """A text that holds the names of all programs that may run; None if any program may."""
        if self.plain is not None:
            return names_in_words(self.plain.command, self.plain.commands)
        if self.read.script is None:
            return None
        return names_in_words(self.read.command, [part.argv for part in self.read.parts])

    @property
    def reads_only(self) -> bool:
        """Whether the command is proven to read only."""
        return self.plain is not None or self.analysis.read_only

    @lazy_property
    def surroundings(self) -> Surroundings:
        """Where the command runs; each path is located once."""
        around = self._surroundings()
        around.effort.left = LookBudget().left  # whatever its reading has looked at
        return around

    @lazy_property
    def coverage(self) -> RuleCoverage:
        """What allow rules cover of the command."""
        edits_run = self.context.mode.properties.edits_run
        return RuleCoverage(self.analysis, self.surroundings, edits_run=edits_run)

    @lazy_property
    def git_aliases(self) -> GitAliases | None:
        """What git's aliases stand for, by their names; None where that is not known."""
        return None if self._aliases is None else self._aliases(self.read, self.surroundings)

    @lazy_property
    def edit_objection(self) -> str | None:
        """Why the command is more than edits inside the working directories; None if it is not."""
        return edit_objection(self.analysis, self.surroundings)

    @property
    def only_edits(self) -> bool:
        """Whether the mode lets edits run and the command only edits."""
        return self.context.mode.properties.edits_run and self.edit_objection is None

    @property
    def runs_unasked(self) -> bool:
        """Whether the command runs without approval: a proven read or an accepted edit."""
        return self.reads_only or self.only_edits

    def begin_run(self) -> None:
        """Let the run look at as many files as the decision could; paths stay where they led."""
        self.surroundings.effort.left = LookBudget().left
