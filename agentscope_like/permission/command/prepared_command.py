"""A shell command, read once for one decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeAlias

from typing_extensions import override

from agentscope_like.lazy_property import lazy_property
from agentscope_like.paths import LookBudget, PathError, TooManyFilesError
from agentscope_like.permission.command.command_patterns import (
    line_pattern,
    suggest_patterns,
    suggest_wider_patterns,
)
from agentscope_like.permission.command.command_rules import CommandRules
from agentscope_like.permission.command.edits import edit_objection
from agentscope_like.permission.command.rule_coverage import RuleCoverage
from agentscope_like.permission.command.safety_checks import find_danger
from agentscope_like.permission.context import PermissionContext
from agentscope_like.permission.decision import PermissionDecision
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
    Surroundings,
)
from agentscope_like.shell.catalog import programs_with

__all__ = ["CheckedAnalysis", "PreparedCommand"]

CheckedAnalysis: TypeAlias = Callable[
    [CommandAnalysis, Sequence[str], Callable[[], Surroundings]], CommandAnalysis
]
"""Returns an analysis with further doubts, which depend on files."""

GitAliases: TypeAlias = Callable[
    [CommandAnalysis, Surroundings], Mapping[str, Sequence[str]] | None
]
"""Returns what git's aliases stand for, by their names."""

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
    """A shell command, read once; checks, rules, suggestions and confinement all use this reading.

    Args:
        tool: The tool that runs commands.
        tool_input: Its arguments.
        context: What is permitted.
        owner: The class whose public methods this reading replaces.
        read: The strict reader's analysis: used to deny and ask.
        analysis: The same, unless a second reader dissents: used to allow.
        surroundings: Returns where the command would run, as the decision sees it.
        surroundings_now: Returns where the next command of the session would run, as things are.
        place_of: Returns which directory stands at a path, so that a swapped one is noticed.
        programs: Where it finds its programs without approval.
        checked: Returns an analysis with the doubts that files give rise to, for a decision.
        aliases: Returns what git's aliases stand for; None where that is not known.

    Attributes:
        read: As given.
        analysis: As given, with these doubts and one for each program that only a working
            directory has.
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
        read: CommandAnalysis,
        analysis: CommandAnalysis,
        surroundings: Callable[[], Surroundings],
        surroundings_now: Callable[[], Surroundings],
        place_of: Callable[[str], str],
        programs: KnownPrograms,
        checked: CheckedAnalysis | None = None,
        aliases: GitAliases | None = None,
    ) -> None:
        super().__init__(tool, tool_input, context, owner=owner)
        self.read = read
        self._surroundings = surroundings
        self._surroundings_now = surroundings_now
        self._place_of = place_of
        self.place = place_of(read.directory)
        self.programs = programs
        self._aliases = aliases
        self.analysis = programs.doubted(analysis)
        if checked is not None and not programs_with("runs_git").isdisjoint(
            map(_PROGRAM, analysis.parts)
        ):
            self.analysis = checked(self.analysis, context.directories, lambda: self.surroundings)

    @lazy_property
    def surroundings(self) -> Surroundings:
        """Where the command runs; each path is located once."""
        around = self._surroundings()
        around.effort.left = LookBudget().left  # whatever its reading has looked at
        return around

    @lazy_property
    def git_aliases(self) -> Mapping[str, Sequence[str]] | None:
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
        return self.analysis.read_only or self.only_edits

    def begin_run(self) -> None:
        """Let the run look at as many files as the decision could; paths stay where they led."""
        self.surroundings.effort.left = LookBudget().left

    # What the engine asks

    @override
    async def check(self) -> PermissionDecision:
        """Return the tool's own opinion of the command."""
        return await (self.opinion() if self.stands_for("check_permissions") else super().check())

    async def opinion(self) -> PermissionDecision:
        """Return a safety ASK for danger, ALLOW for proven reads and edits, or PASSTHROUGH."""
        analysis = self.analysis
        if analysis.read_only and analysis.names_no_file:
            return _ONLY_READS  # wherever it runs
        if analysis.has_globs:  # files to look for
            import asyncio  # deciding as such needs none of it

            return await asyncio.to_thread(self._opinion)
        return self._opinion()

    def _opinion(self) -> PermissionDecision:
        if danger := find_danger(self.analysis, self.surroundings):
            return _safety_ask(
                danger.message, danger.reason, place=(danger.span.start, danger.span.end)
            )
        if self.analysis.read_only:
            return _ONLY_READS
        if self._may_be_denied():
            known = all(None not in part.argv for part in self.analysis.parts)
            message = _MAY_RUN_DENIED if known else _MAY_BE_DENIED
            return _safety_ask(message, "a deny rule may match")
        edits_run = self.context.mode.properties.edits_run
        if edits_run and self.edit_objection is None:
            return _ONLY_EDITS
        reason = self.edit_objection if edits_run else None
        return PermissionDecision(
            PermissionBehavior.PASSTHROUGH,
            _not_harmless(self.analysis, reason),
            decision_reason=reason,
        )

    def _may_be_denied(self) -> bool:
        parts = self.analysis.parts
        if not (self.context.deny_rules and any(p.doubts or None in p.argv for p in parts)):
            return False
        rules = rules_of(self.tool, PermissionBehavior.DENY, self.context)
        matcher = None if rules is None else rules.matcher
        return isinstance(matcher, CommandRules) and matcher.may_match(self)

    @override
    async def only_reads(self) -> bool:
        """Return whether the command is proven to read only."""
        if not self.stands_for("check_read_only"):
            return await super().only_reads()
        return self.analysis.read_only

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
        coverage = RuleCoverage(self.analysis, self.surroundings, edits_run=False)
        return [self._suggestion(pattern) for pattern in map(line_pattern, coverage.lines())]

    @override
    def wider_rules(self) -> list[PermissionRule]:
        """Return rules that open the operands of the parts, such as `npm run build:*`."""
        return [self._suggestion(pattern) for pattern in suggest_wider_patterns(self.analysis)]

    @override
    def uncovered(self) -> tuple[PermissionRule, str] | None:
        """Return an allow rule that matches a part and does not cover all of it, and why."""
        rules = rules_of(self.tool, PermissionBehavior.ALLOW, self.context)
        if rules is None or not isinstance(rules.matcher, CommandRules):
            return None
        found = rules.matcher.uncovered(self)
        return None if found is None else (rules.rule_at(found[0]), found[1])

    def _suggestion(self, pattern: str) -> PermissionRule:
        return PermissionRule(
            tool_name=self.tool.name,
            rule_content=pattern,
            behavior=PermissionBehavior.ALLOW,
            source="suggestion",
        )

    # What the grant is bound to

    @override
    def basis(self) -> str | None:
        """Return the directory that the command was read for, and which one it was."""
        if not self.stands_for("decision_basis"):
            return super().basis()
        return f"{self.read.directory}{self.place}"

    @override
    def basis_now(self) -> str | None:
        """Return the directory that the next command of the session starts in."""
        if not self.stands_for("decision_basis"):
            return super().basis_now()
        directory = self._surroundings_now().directory
        return f"{directory}{self._place_of(directory)}"

    @override
    def places(self) -> tuple[str, ...]:
        """Return where the paths led that the command changes, as the decision located them."""
        return self._places_in(self.surroundings) if self._changes else ()

    @override
    def places_now(self) -> tuple[str, ...]:
        """Return the same as things are now."""
        return self._places_in(self._surroundings_now()) if self._changes else ()

    @lazy_property
    def _changes(self) -> list[Effect]:
        return [
            effect
            for effect in self.read.effects
            if effect.kind in CHANGES and effect.way is not None and not effect.glob
        ][:_MOST_PLACES]

    def _places_in(self, surroundings: Surroundings) -> tuple[str, ...]:
        places = []
        for effect in self._changes:
            try:
                follow = effect.kind is not EffectKind.DELETE
                places.append(surroundings.locate(effect.way or "", follow=follow).resolved)
            except (PathError, TooManyFilesError):
                places.append("")
        return tuple(places)


def _safety_ask(
    message: str, reason: str, *, place: tuple[int, int] | None = None
) -> PermissionDecision:
    return PermissionDecision(
        PermissionBehavior.ASK, message, decision_reason=reason, bypass_immune=True, place=place
    )


def _not_harmless(analysis: CommandAnalysis, reason: str | None) -> str:
    """Return why the command is not known to be harmless, in one or two sentences."""
    messages = dict.fromkeys([doubt.message.rstrip(".") for doubt in analysis.all_doubts])
    told = "; ".join(list(messages)[:_MOST_DOUBTS]) or "Nothing in it is proven harmless"
    more = len(messages) - _MOST_DOUBTS
    told += f" (and {more} more)" if more > 0 else ""
    told = f"Not known to be harmless: {told}."
    return told if reason is None or reason in messages else f"{told} Not a plain edit: {reason}."
