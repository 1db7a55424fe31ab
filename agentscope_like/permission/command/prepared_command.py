"""A shell command, read once for the decision; checks, rules and confinement share it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, TypeAlias

from typing_extensions import override

from agentscope_like.lazy_property import lazy_property
from agentscope_like.paths import LookBudget, PathError, TooManyFilesError, is_below
from agentscope_like.permission.command.command_patterns import (
    line_pattern,
    suggest_patterns,
    suggest_wider_patterns,
)
from agentscope_like.permission.command.edits import edit_objection
from agentscope_like.permission.command.rule_coverage import RuleCoverage
from agentscope_like.permission.command.safety_checks import find_danger
from agentscope_like.permission.context import PermissionContext
from agentscope_like.permission.decision import PermissionDecision, private_denial, safety_question
from agentscope_like.permission.mode import PermissionBehavior
from agentscope_like.permission.protocol import PermissionTool, PreparedCall
from agentscope_like.permission.rule import PermissionRule
from agentscope_like.permission.rules import rules_of
from agentscope_like.shell import (
    CHANGES,
    CommandAnalysis,
    Effect,
    EffectKind,
    KnownPrograms,
    PlainRead,
    Surroundings,
)
from agentscope_like.shell.catalog import programs_with
from agentscope_like.shell.facts import GitAliases, names_in_words

__all__ = ["CheckedAnalysis", "PreparedCommand"]

CheckedAnalysis: TypeAlias = Callable[
    [CommandAnalysis, Callable[[], Surroundings]], CommandAnalysis
]
"""Returns an analysis with further doubts, which depend on files."""

_PROGRAM = attrgetter("program")

_MOST_DOUBTS = 2
_MOST_PLACES = 64

_MAY_BE_DENIED = (
    "Some words of this command are only known at run time, and a deny rule may match them."
)
_MAY_RUN_DENIED = (
    "This command may run its arguments as a command, and a deny rule matches that command."
)
_ONLY_READS = PermissionDecision(PermissionBehavior.ALLOW, "It only reads.")
_ONLY_EDITS = PermissionDecision(
    PermissionBehavior.ALLOW, "It only edits files inside the working directories."
)


class PreparedCommand(PreparedCall):
    """A shell command, read once for a decision, and where it would run.

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
        private: Absolute paths without symlinks that no command may be about: what the tool keeps
            from models.
    """

    private: Sequence[str] = ()

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

    # What the engine asks

    @override
    async def check(self) -> PermissionDecision:
        """Return the tool's own opinion of the command."""
        if not self.stands_for("check_permissions"):
            return await super().check()
        return _ONLY_READS if self.plain is not None else await self.opinion()

    async def opinion(self) -> PermissionDecision:
        """Return a safety ASK for danger, ALLOW for proven reads and edits, or PASSTHROUGH."""
        if self.plain is not None:
            return _ONLY_READS
        analysis = self.analysis
        if analysis.read_only and analysis.names_no_file:
            return _ONLY_READS  # wherever it runs
        if analysis.has_globs:  # files to look for
            import asyncio  # deciding as such needs none of it

            return await asyncio.to_thread(self._opinion)
        return self._opinion()

    def _opinion(self) -> PermissionDecision:
        if (place := self._private_place()) is not None:
            return private_denial(place)
        if danger := find_danger(self.analysis, self.surroundings):
            return danger
        if self.analysis.read_only:
            return _ONLY_READS
        if self._may_be_denied():
            known = all(None not in part.argv for part in self.analysis.parts)
            message = _MAY_RUN_DENIED if known else _MAY_BE_DENIED
            return safety_question(message, "a deny rule may match")
        if self.only_edits:
            return _ONLY_EDITS
        reason = self.edit_objection if self.context.mode.properties.edits_run else None
        return PermissionDecision(
            PermissionBehavior.PASSTHROUGH,
            _not_harmless(self.analysis, reason),
            decision_reason=reason,
        )

    def _private_place(self) -> str | None:
        """Return the first private path that an effect of the command is about, or None.

        What is known only at run time, and what lies below a directory, is hidden by the kernel
        where commands are confined.
        """
        for effect in self.analysis.effects if self.private else ():
            try:
                located = self.surroundings.locations(effect) or ()
            except (PathError, TooManyFilesError):
                continue
            for reading in (reading for each in located for reading in each.readings):
                if any(is_below(reading, each) for each in self.private):
                    return reading
        return None

    def _may_be_denied(self) -> bool:
        parts = self.analysis.parts
        if not (self.context.deny_rules and any(p.doubts or None in p.argv for p in parts)):
            return False
        return rules_of(self.tool, PermissionBehavior.DENY, self.context).may_match(self)

    @override
    async def only_reads(self) -> bool:
        """Return whether the command is proven to read only."""
        if not self.stands_for("check_read_only"):
            return await super().only_reads()
        return self.reads_only

    @override
    async def suggestions(self) -> list[PermissionRule]:
        """Return rules for the parts of the command that are not proven to read only."""
        if not self.stands_for("generate_suggestions"):
            return await super().suggestions()
        return self.own_suggestions()

    def own_suggestions(self) -> list[PermissionRule]:
        """Return a rule for each part that is not proven to read only."""
        return [self._suggestion(pattern) for pattern in suggest_patterns(self.analysis)]

    @override
    async def fallback_suggestions(self) -> list[PermissionRule]:
        """Return a rule for the whole line, where no rule for a part of it would be enough."""
        if not self.stands_for("generate_suggestions"):
            return await super().fallback_suggestions()
        line = self.coverage.line
        return [] if line is None else [self._suggestion(line_pattern(line))]

    @override
    def wider_rules(self) -> list[PermissionRule]:
        """Return rules that open the operands of the parts, such as `npm run build:*`."""
        return [self._suggestion(pattern) for pattern in suggest_wider_patterns(self.analysis)]

    def _suggestion(self, pattern: str) -> PermissionRule:
        return PermissionRule(
            tool_name=self.tool.name,
            rule_content=pattern,
            behavior=PermissionBehavior.ALLOW,
            source="suggestion",
        )

    # What the grant is bound to

    @override
    def basis(self, *, now: bool = False) -> str | None:
        """Return the directory that the command was read for, or that the next one starts in."""
        if not self.stands_for("decision_basis"):
            return super().basis(now=now)
        if not now:
            return f"{self.directory}{self.place}"
        directory = self._surroundings_now().directory
        return f"{directory}{self._place_of(directory)}"

    @lazy_property
    def _changes(self) -> list[Effect]:
        if self.plain is not None:
            return []
        return [
            effect
            for effect in self.read.effects
            if effect.kind in CHANGES and effect.way is not None and not effect.glob
        ][:_MOST_PLACES]

    @override
    def places(self, *, now: bool = False) -> tuple[str, ...]:
        """Return where the paths led that the command changes, or where they lead now."""
        if not self._changes:
            return ()
        surroundings = self._surroundings_now() if now else self.surroundings
        places = []
        for effect in self._changes:
            try:
                follow = effect.kind is not EffectKind.DELETE
                places.append(surroundings.locate(effect.way or "", follow=follow).resolved)
            except (PathError, TooManyFilesError):
                places.append("")
        return tuple(places)


def _not_harmless(analysis: CommandAnalysis, reason: str | None) -> str:
    """Return why the command is not known to be harmless, in one or two sentences."""
    messages = dict.fromkeys([doubt.message.rstrip(".") for doubt in analysis.all_doubts])
    told = "; ".join(list(messages)[:_MOST_DOUBTS]) or "Nothing in it is proven harmless"
    more = len(messages) - _MOST_DOUBTS
    told += f" (and {more} more)" if more > 0 else ""
    told = f"Not known to be harmless: {told}."
    return told if reason is None or reason in messages else f"{told} Not a plain edit: {reason}."
