"""Prepares a restoration for its decision: the files, where they lead, what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from agentscope_like.checkpoint import Restoration
from agentscope_like.exception import AgentOrientedException
from agentscope_like.paths import PathError
from agentscope_like.permission import (
    ContentMatcher,
    PathRules,
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionRule,
    PreparedCall,
    RuleMatch,
)
from agentscope_like.tool.builtin.file_system import PreparedPath

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.undo.restore import Restore

__all__ = ["FileRulesOfRestorations", "PreparedRestoration", "RulesOfRestorations"]

_SHOWN = 5
_ALLOW, _ASK, _DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY


class PreparedRestoration(PreparedCall):
    """A restoration whose files are looked up once: rules, checks and grant speak of them.

    Args:
        tool: The tool.
        tool_input: The arguments of the call.
        context: What is permitted.
        find: Returns what is to be restored.
    """

    tool: Restore

    def __init__(
        self,
        tool: Restore,
        tool_input: dict[str, Any],
        context: PermissionContext,
        find: Callable[[], Sequence[Restoration]],
    ) -> None:
        super().__init__(tool, tool_input, context)
        self._find = find
        self.error: str | None = None
        self.restorations: Sequence[Restoration] = ()
        try:
            self.restorations = find()
        except AgentOrientedException as error:
            self.error = error.message
        self.files = [
            PreparedPath(tool.writer, {"file_path": each.path}, context)
            for each in self.restorations
        ]

    @override
    async def check(self) -> PermissionDecision:
        """Return the strictest of what is thought of writing each file."""
        if self.error is not None:
            return PermissionDecision(_DENY, self.error, decision_reason="nothing to restore")
        writer, context = self.tool.writer, self.context
        opinions = [writer.judge(file.location, context) for file in self.files]
        moved = [
            each.path
            for each, file in zip(self.restorations, self.files, strict=True)
            if isinstance(file.location, PathError) or file.location.resolved != each.path
        ]
        if moved:
            return PermissionDecision(
                _DENY,
                f"{moved[0]} leads elsewhere than when it was changed, so it cannot be restored.",
                decision_reason="a path leads elsewhere",
            )
        for opinion in opinions:
            if opinion.behavior is _DENY or opinion.bypass_immune:
                return PermissionDecision(
                    opinion.behavior,
                    f"{self._intention()}. {opinion.message}",
                    decision_reason=opinion.decision_reason,
                    bypass_immune=opinion.bypass_immune,
                )
        if all(opinion.behavior is _ALLOW for opinion in opinions):
            return PermissionDecision(_ALLOW, f"{self._intention()}.")
        return PermissionDecision(
            PermissionBehavior.PASSTHROUGH,
            f"{self._intention()}. It asks because no rule allows it.",
        )

    def _intention(self) -> str:
        shown = [f"`{self.tool.writer.shown(each.path)}`" for each in self.restorations]
        more = f" and {len(shown) - _SHOWN:,} more" if len(shown) > _SHOWN else ""
        number, when = self.tool_input["checkpoint"], self.tool_input.get("when", "after")
        return f"Restore would make {', '.join(shown[:_SHOWN])}{more} as {when} checkpoint {number}"

    @override
    async def suggestions(self) -> list[PermissionRule]:
        """Return nothing: each restoration is a question of its own."""
        return []

    @override
    def basis(self) -> str | None:
        """Return what the files are to become."""
        return _basis(self.restorations)

    @override
    def basis_now(self) -> str | None:
        """Return the same as things are now."""
        try:
            return _basis(self._find())
        except AgentOrientedException:
            return None

    @override
    def places(self) -> tuple[str, ...]:
        """Return the files."""
        return tuple(each.path for each in self.restorations)

    @override
    def places_now(self) -> tuple[str, ...]:
        """Return where their paths lead now."""
        return tuple(_resolved_now(self.tool, each.path) for each in self.restorations)


def _resolved_now(tool: Restore, path: str) -> str:
    try:
        return tool.writer.locate({"file_path": path}).resolved
    except PathError:
        return ""


def _basis(restorations: Sequence[Restoration]) -> str:
    return repr(
        [
            (each.path, each.last, None if each.wanted is None else each.wanted.digest)
            for each in restorations
        ]
    )


class RulesOfRestorations:
    """Patterns of paths: to allow, each file has to match one; to deny or ask, one file.

    Args:
        matcher: The patterns, for one file.
        behavior: What the rules say.
    """

    def __init__(self, matcher: ContentMatcher, behavior: PermissionBehavior) -> None:
        self._matcher = matcher
        self._needs_all = behavior is _ALLOW

    def match(self, call: PreparedRestoration) -> int | None:
        """Return the position of a pattern that applies, or None."""
        found = [self._matcher.match(file) for file in call.files]
        if self._needs_all and None in found:
            return None
        positions = [position for position in found if isinstance(position, int)]
        return min(positions, default=None)


class FileRulesOfRestorations:
    """Deny or ask rules of Write and Edit, which hold for restored files too.

    Args:
        rules: The rules.
    """

    def __init__(self, rules: Sequence[PermissionRule]) -> None:
        self._rules = PathRules(rules)

    def match(self, call: PreparedRestoration) -> RuleMatch | None:
        """Return the first rule that applies to one of the files, or None."""
        for file in call.files:
            if not isinstance(file.location, PathError):
                rule = self._rules.match(file.location, file.directories)
                if rule is not None:
                    return RuleMatch(rule, told=f"it restores {file.location.resolved}")
        return None
