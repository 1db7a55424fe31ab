"""The one decision procedure: the table of docs/design/decisions.md, read from top to bottom."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from agentscope_like.permission.context import PermissionContext
from agentscope_like.permission.decision import DecisionRow, PermissionDecision
from agentscope_like.permission.mode import PermissionBehavior, PermissionMode
from agentscope_like.permission.protocol import (
    FallbackSuggester,
    PermissionTool,
    Preparation,
    RuleMatch,
)
from agentscope_like.permission.rule import PermissionRule
from agentscope_like.permission.rules import ToolRules, rules_of

__all__ = ["MAX_SUGGESTIONS", "PermissionEngine"]

ALLOW, DENY, ASK, PASSTHROUGH = (
    PermissionBehavior.ALLOW,
    PermissionBehavior.DENY,
    PermissionBehavior.ASK,
    PermissionBehavior.PASSTHROUGH,
)

MAX_SUGGESTIONS = 5
"""How many rules a question offers at most."""

_READ_ONLY_RUNS = (PermissionMode.EXPLORE, PermissionMode.ACCEPT_EDITS, PermissionMode.DONT_ASK)


class PermissionEngine:
    """Decides about calls under one context.

    Args:
        context: What is permitted. It is read anew at each decision.
    """

    __slots__ = ("context",)

    def __init__(self, context: PermissionContext) -> None:
        self.context = context

    def add_rule(self, rule: PermissionRule) -> None:
        """Add the rule to the list of its behaviour; the next decision counts with it."""
        self.context.table(rule.behavior).add(rule)

    async def check_permission(
        self, tool: PermissionTool, tool_input: dict[str, Any]
    ) -> PermissionDecision:
        """Decide about one call, without running anything.

        Args:
            tool: The tool to be called.
            tool_input: Its arguments, already validated; they are not changed.

        Returns:
            ALLOW, DENY or ASK with its message, its row of the table and, on a question that a rule
            could spare, the rules that would. Never raises: what fails while checking asks.
        """
        mode = _known_mode(self.context.mode)
        call = _Call(tool, tool_input, self.context, mode or PermissionMode.EXPLORE)
        try:
            if mode is None:
                raise ValueError(f"{self.context.mode!r} is no permission mode")
            return await call.decide()
        except BaseException as error:
            if not _is_failure(error):
                raise
            message = f"The rules for {tool.name} could not be checked: {_told(error)}"
            failed = _failed(message, error)
            if call.mode is PermissionMode.EXPLORE:
                return call.not_read_only(failed)
            return call.ask_or_deny(
                DecisionRow.SAFETY_CHECK,
                message,
                reason=failed.decision_reason,
                bypass_immune=True,
            )


class _Call:
    """One call while it is being decided."""

    __slots__ = ("context", "input", "mode", "tool")

    def __init__(
        self,
        tool: PermissionTool,
        tool_input: dict[str, Any],
        context: PermissionContext,
        mode: PermissionMode,
    ) -> None:
        self.tool = tool
        self.input = tool_input
        self.context = context
        self.mode = mode

    async def decide(self) -> PermissionDecision:  # noqa: PLR0911 - one return for each row
        """Go through the table, strictest row first."""
        prepare: Preparation | None = getattr(self.tool, "prepare_decision", None)
        if prepare is not None:
            await prepare(self.input, self.context)
        denial = await self.find(DENY)
        if denial is not None and denial.certain:
            return self.by_rule(DecisionRow.DENY_RULE, denial)

        check = await self.tool_check()
        if check.behavior is DENY:
            return replace(check, row=DecisionRow.TOOL_DENIES, suggested_rules=None)
        if getattr(self.tool, "touches_only_agent_state", False):
            return self.allow(DecisionRow.TOOL_ALLOWS, "It touches only the agent's own state.")

        read_only = False
        if self.mode in _READ_ONLY_RUNS:
            read_only, check = await self.proven_read_only(check)
        if self.mode is PermissionMode.EXPLORE and not read_only:
            return self.not_read_only(check)

        is_safety_check = check.behavior is ASK and check.bypass_immune
        if is_safety_check and self.mode is not PermissionMode.BYPASS:
            return self.ask_or_deny(
                DecisionRow.SAFETY_CHECK,
                check.message,
                reason=check.decision_reason,
                bypass_immune=True,
            )
        if question := await self.find(ASK) or denial:
            return self.by_rule(DecisionRow.ASK_RULE, question)
        if read_only:
            return self.allow(DecisionRow.READ_ONLY, "It only reads.", check.decision_reason)
        if check.behavior is ALLOW:
            return self.allow(DecisionRow.TOOL_ALLOWS, check.message, check.decision_reason)
        if permission := await self.find(ALLOW):
            return self.by_rule(DecisionRow.ALLOW_RULE, permission)
        return await self.nothing_matched(check)

    async def find(self, behavior: PermissionBehavior) -> RuleMatch | None:
        """Return a rule that says `behavior` of this call, or that may, or None."""
        rules = rules_of(self.tool, behavior, self.context)
        return None if rules is None else await rules.find(self.input, self.context)

    async def tool_check(self) -> PermissionDecision:
        """Return the tool's own opinion; a check that fails is a safety ASK."""
        try:
            check = await self.tool.check_permissions(self.input, self.context)
        except Exception as error:
            return _failed(f"{self.tool.name}'s own check failed: {_told(error)}", error)
        if isinstance(check, PermissionDecision):
            return check
        found = TypeError(f"{check!r} is not a PermissionDecision")
        return _failed(f"{self.tool.name}'s own check failed: {_told(found)}", found)

    async def proven_read_only(self, check: PermissionDecision) -> tuple[bool, PermissionDecision]:
        """Return whether the call is proven to read only; a proof that fails is a safety ASK."""
        try:
            return await self.tool.check_read_only(self.input) is True, check
        except Exception as error:
            message = f"Whether {self.tool.name} only reads could not be told: {_told(error)}"
            return False, _failed(message, error)

    def allow(
        self, row: DecisionRow, message: str, reason: str | None = None
    ) -> PermissionDecision:
        """Return ALLOW."""
        return _allowed(row, message, reason)

    def not_read_only(self, check: PermissionDecision) -> PermissionDecision:
        """Return the DENY of EXPLORE, where only proven reads run."""
        found = f" {check.message}" if check.message and check.behavior is not ALLOW else ""
        return PermissionDecision(
            DENY,
            f"Only what is proven to read runs in explore mode; "
            f"this {self.tool.name} call is not.{found}",
            decision_reason=check.decision_reason,
            row=DecisionRow.NOT_READ_ONLY,
        )

    def by_rule(self, row: DecisionRow, match: RuleMatch) -> PermissionDecision:
        """Return what the rule says, as the mode has it; a denial that is in doubt asks."""
        rule = match.rule
        reason = f"rule `{rule}` from {rule.source}"
        told = f": {match.told}." if match.told else "."
        if row is DecisionRow.ASK_RULE:
            verb = "wants to be asked" if rule.behavior is ASK else "may deny this"
            return self.ask_or_deny(row, f"The {reason} {verb}{told}", reason=reason, rule=rule)
        verb = "allows" if rule.behavior is ALLOW else "denies"
        return PermissionDecision(
            rule.behavior,
            f"The {reason} {verb} this{told}",
            decision_reason=reason,
            row=row,
            rule=rule,
        )

    def ask_or_deny(
        self,
        row: DecisionRow,
        message: str,
        *,
        reason: str | None = None,
        rule: PermissionRule | None = None,
        bypass_immune: bool = False,
    ) -> PermissionDecision:
        """Return ASK, or DENY in the mode where nobody can answer."""
        if self.mode is PermissionMode.DONT_ASK:
            return PermissionDecision(
                DENY,
                f"{message} Nobody can be asked in dont_ask mode, so it is denied.",
                decision_reason=reason,
                row=row,
                rule=rule,
            )
        return PermissionDecision(
            ASK,
            message,
            decision_reason=reason,
            bypass_immune=bypass_immune,
            row=row,
            rule=rule,
        )

    async def nothing_matched(self, check: PermissionDecision) -> PermissionDecision:
        """Return the last row: the mode decides."""
        if self.mode is PermissionMode.BYPASS:
            return self.allow(DecisionRow.NOTHING_MATCHED, "Nothing forbids it in bypass mode.")
        message = check.message if check.message else f"No rule says that {self.tool.name} may run."
        decision = self.ask_or_deny(
            DecisionRow.NOTHING_MATCHED, message, reason=check.decision_reason
        )
        if decision.behavior is not ASK:
            return decision
        return replace(decision, suggested_rules=await self.suggestions())

    async def suggestions(self) -> list[PermissionRule]:
        """Return rules that are proven to allow this very call, the best first.

        Every row above the allow rules has been passed, and no allow rule changes those: so the
        call is decided anew by asking the allow rules again with the suggested one among them.
        """
        tool = self.tool
        try:
            working = await self.working(await tool.generate_suggestions(self.input))
            if not working and isinstance(tool, FallbackSuggester):
                working = await self.working(await tool.fallback_suggestions(self.input))
        except Exception:
            return []
        return working[:MAX_SUGGESTIONS]

    async def working(self, suggested: Iterable[PermissionRule]) -> list[PermissionRule]:
        """Return those of the rules under which the call is allowed."""
        rules = rules_of(self.tool, ALLOW, self.context) or ToolRules(self.tool, ALLOW, ())
        return [
            rule
            for rule in suggested
            if rule.behavior is ALLOW
            and rule.tool_name == self.tool.name
            and await rules.would_find(rule, self.input, self.context)
        ]


@lru_cache(maxsize=256)
def _allowed(row: DecisionRow, message: str, reason: str | None) -> PermissionDecision:
    return PermissionDecision(ALLOW, message, decision_reason=reason, row=row)


def _known_mode(mode: str) -> PermissionMode | None:
    """Return the mode, also where it was set as text past the model; None where there is none."""
    if isinstance(mode, PermissionMode):
        return mode
    try:
        return PermissionMode(mode)
    except ValueError:
        return None


def _is_failure(error: BaseException) -> bool:
    """Return whether a check failed by this, a cancellation that nobody asked for included."""
    if isinstance(error, Exception):
        return True
    import asyncio  # loaded where it matters; deciding as such needs none of it

    if not isinstance(error, asyncio.CancelledError):
        return False
    task = asyncio.current_task()
    return task is not None and not task.cancelling()


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")


def _failed(message: str, error: BaseException) -> PermissionDecision:
    return PermissionDecision(
        ASK, message, decision_reason=f"{type(error).__name__} while checking", bypass_immune=True
    )
