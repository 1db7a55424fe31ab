"""A shell command, read once for one decision."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from agentscope_like.lazy_property import lazy_property
from agentscope_like.paths import PathError, TooManyFilesError, is_below
from agentscope_like.permission.command.command_patterns import (
    line_pattern,
    suggest_patterns,
    suggest_wider_patterns,
)
from agentscope_like.permission.command.command_reading import CommandReading
from agentscope_like.permission.command.command_rules import CommandRules
from agentscope_like.permission.command.safety_checks import find_danger
from agentscope_like.permission.decision import PermissionDecision, private_denial
from agentscope_like.permission.mode import PermissionBehavior
from agentscope_like.permission.rule import PermissionRule
from agentscope_like.permission.rules import rules_of
from agentscope_like.shell import CHANGES, CommandAnalysis, Effect, EffectKind

__all__ = ["PreparedCommand"]

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


class PreparedCommand(CommandReading):
    """A shell command, read once, as the engine asks about it.

    Attributes:
        private: Absolute paths without symlinks that no command may be about: what the tool keeps
            from models.
    """

    private: Sequence[str] = ()

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
        matcher = rules_of(self.tool, PermissionBehavior.DENY, self.context).matcher
        return isinstance(matcher, CommandRules) and matcher.may_match(self)

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

    @override
    def uncovered(self) -> tuple[PermissionRule, str] | None:
        """Return an allow rule that matches a part and does not cover all of it, and why."""
        rules = rules_of(self.tool, PermissionBehavior.ALLOW, self.context)
        if not isinstance(rules.matcher, CommandRules):
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
