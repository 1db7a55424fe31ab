"""Decides about calls by the table of docs/design/decisions.md, from top to bottom."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

from agentscope_like.permission.context import PermissionContext
from agentscope_like.permission.decision import (
    DecisionRow,
    PermissionDecision,
    safety_question,
)
from agentscope_like.permission.mode import PermissionBehavior, PermissionMode
from agentscope_like.permission.protocol import (
    PermissionTool,
    Preparation,
    PreparedCall,
    RuleMatch,
    prepare_call,
)
from agentscope_like.permission.rule import PermissionRule
from agentscope_like.permission.rules import compile_large_tables, is_large, rules_of

__all__ = ["MAX_SUGGESTIONS", "CallDecision", "PermissionEngine"]

# Looking up a member of an enumeration takes as long as all else that a row of the table does.
ALLOW, DENY, ASK = PermissionBehavior.ALLOW, PermissionBehavior.DENY, PermissionBehavior.ASK
TOOL_ALLOWS = DecisionRow.TOOL_ALLOWS

MAX_SUGGESTIONS = 5
"""How many rules a question offers at most."""


class CallDecision(NamedTuple):
    """A decision and the prepared call that it rests on.

    Attributes:
        decision: What was decided.
        call: The prepared call; None if preparing it failed.
    """

    decision: PermissionDecision
    call: PreparedCall | None


class PermissionEngine:
    """Decides about calls under one context.

    Args:
        context: The policy. It is read anew at each decision.
        session: What the tools' `prepare_call` is given of the session, such as the agent's state;
            None where calls belong to no session.
    """

    def __init__(self, context: PermissionContext, session: object = None) -> None:
        self.context = context
        self._session = session

    def add_rule(self, rule: PermissionRule | str) -> None:
        """Add the rule to the list of its behaviour; the next decision uses it.

        Args:
            rule: The rule, or its text: `allow Bash(npm run:*)`.

        Raises:
            RuleError: The text is not a rule.
        """
        if isinstance(rule, str):
            rule = PermissionRule.parse(rule)
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
        return (await self.decide(tool, tool_input)).decision

    async def decide(self, tool: PermissionTool, tool_input: dict[str, Any]) -> CallDecision:
        """Do what `check_permission` does, and also return the prepared call.

        The call is run from the same prepared call, so that decision and run agree about it.
        """
        context = self.context
        mode = context.mode
        try:
            if type(mode) is not PermissionMode:  # text, set past the model
                mode = PermissionMode(mode)
            look_up: Preparation | None = getattr(tool, "prepare_decision", None)
            if look_up is not None:
                await look_up(tool_input, context, self._session)
            call = await prepare_call(tool, tool_input, context, self._session)
            return CallDecision(_warned(await _decide(call, mode), call), call)
        except BaseException as error:
            if not _is_failure(error):
                raise
            return CallDecision(_undecided(tool, mode, error), None)


def _warned(decision: PermissionDecision, call: PreparedCall) -> PermissionDecision:
    """Return a question with what a person should know besides its reason."""
    if decision.behavior is not ASK or (warning := call.warning()) is None:
        return decision
    # as they are: suggestions are found as late
    fields = {**vars(decision), "message": f"{decision.message} {warning}"}
    return PermissionDecision(**fields)


async def _decide(  # noqa: PLR0911 - one step for each row
    call: PreparedCall, mode: PermissionMode
) -> PermissionDecision:
    """Apply the rows of the table, strictest first."""
    tool, context, properties = call.tool, call.context, mode.properties
    denial = await _rule(DENY, call) if context.deny_rules else None
    if denial is not None and denial.certain:
        return _by_rule(mode, DecisionRow.DENY_RULE, denial)

    try:
        check = _opinion(await call.check())
    except Exception as error:
        check = _failed(f"{tool.name}'s own check failed", error)
    if check.behavior is DENY:
        return replace(check, row=DecisionRow.TOOL_DENIES, suggested_rules=None)
    if getattr(tool, "touches_only_agent_state", False):
        return _allowed(TOOL_ALLOWS, "It changes only the agent's own state.")

    read_only = False
    if properties.reads_run:
        read_only, check = await _proven_read_only(call, check)
    if properties.only_reads and not read_only:
        return _not_read_only(tool, check)

    if check.bypass_immune and properties.safety_asks:
        reason, row = check.decision_reason, DecisionRow.SAFETY_CHECK
        return _ask_or_deny(mode, row, check.message, reason, place=check.place)
    question = await _rule(ASK, call) if context.ask_rules else None
    if question := question or denial:
        return _by_rule(mode, DecisionRow.ASK_RULE, question)
    if read_only:
        return _allowed(DecisionRow.READ_ONLY, "It only reads.", check.decision_reason)
    if check.behavior is ALLOW:
        return _allowed(TOOL_ALLOWS, check.message, check.decision_reason)
    permission = await _rule(ALLOW, call) if context.allow_rules else None
    if permission is not None:
        return _by_rule(mode, DecisionRow.ALLOW_RULE, permission)
    return await _nothing_matched(call, mode, check)


async def _rule(behavior: PermissionBehavior, call: PreparedCall) -> RuleMatch | None:
    """Return a rule of `behavior` that matches this call, or that may, or None."""
    if is_large(call.tool, behavior, call.context):
        await compile_large_tables([call.tool], call.context)
    return await rules_of(call.tool, behavior, call.context).find(call)


def _opinion(check: object) -> PermissionDecision:
    """Return the decision of a tool's own check; raise if it is none."""
    if isinstance(check, PermissionDecision):
        return check
    raise TypeError(f"{check!r} is not a PermissionDecision")


async def _proven_read_only(
    call: PreparedCall, check: PermissionDecision
) -> tuple[bool, PermissionDecision]:
    """Return whether the call is proven to read only; a proof that fails is a safety ASK."""
    try:
        return await call.only_reads() is True, check
    except Exception as error:
        return False, _failed(f"Checking whether {call.tool.name} only reads failed", error)


async def _nothing_matched(
    call: PreparedCall, mode: PermissionMode, check: PermissionDecision
) -> PermissionDecision:
    """Return the last rows: the kernel can hold the call, or the mode decides."""
    tool = call.tool
    if mode.properties.otherwise == "allow":
        return _allowed(DecisionRow.NOTHING_MATCHED, "Nothing forbids it in bypass mode.")
    row = DecisionRow.HELD if await _can_be_held(call) else DecisionRow.NOTHING_MATCHED
    message = check.message or f"No rule allows this {tool.name} call."
    if mode.properties.otherwise == "deny":
        return _ask_or_deny(mode, row, message, check.decision_reason)
    suggested: list[PermissionRule] | Callable[[], list[PermissionRule]]
    if _suggests_at_once(tool):  # with arguments of their own, as the caller may change its
        suggested = partial(_found_later, call, dict(call.tool_input))
    else:
        suggested = await _suggestions(call)
    return PermissionDecision(
        ASK, message, decision_reason=check.decision_reason, suggested_rules=suggested, row=row
    )


async def _can_be_held(call: PreparedCall) -> bool:
    """Return whether the kernel can hold the call; not if that cannot be found out."""
    try:
        return await call.can_be_held() is True
    except Exception:
        return False


def _suggests_at_once(tool: PermissionTool) -> bool:
    """Return whether suggestions can be found and tried later, without awaiting anything."""
    if getattr(tool, "prepare_decision", None) is not None:
        return False  # what is needed for them is looked up for the decision
    for method in (tool.generate_suggestions, getattr(tool, "fallback_suggestions", None)):
        if method is not None and not getattr(method, "never_waits", False):
            return False
    return getattr(tool, "compile_rules", None) is not None


def _found_later(call: PreparedCall, tool_input: dict[str, Any]) -> list[PermissionRule]:
    """Return the suggestions for a prepared call with these arguments."""
    later = copy(call)
    later.tool_input = tool_input
    finding = _suggestions(later)
    try:
        finding.send(None)
    except StopIteration as found:
        suggested: list[PermissionRule] = found.value
        return suggested
    return []  # it would have waited


async def _suggestions(call: PreparedCall) -> list[PermissionRule]:
    """Return rules that are proven to allow this very call, the best first.

    No allow rule changes the rows above the allow rules, and these rows have been passed. So it
    suffices to match the allow rules again with the suggested one among them.
    """
    rules = rules_of(call.tool, ALLOW, call.context)

    async def working(suggested: Iterable[PermissionRule]) -> list[PermissionRule]:
        return [
            rule
            for rule in suggested
            if rule.behavior is ALLOW
            and rule.tool_name == call.tool.name
            and await rules.would_find(rule, call)
        ]

    try:
        found = await working(await call.suggestions())
        if not found:
            found = await working(await call.fallback_suggestions())
    except Exception:
        return []
    return found[:MAX_SUGGESTIONS]


@lru_cache(maxsize=256)
def _allowed(row: DecisionRow, message: str, reason: str | None = None) -> PermissionDecision:
    return PermissionDecision(ALLOW, message, decision_reason=reason, row=row)


def _by_rule(mode: PermissionMode, row: DecisionRow, match: RuleMatch) -> PermissionDecision:
    """Return the decision by a rule, adjusted to the mode; an uncertain denial asks."""
    rule = match.rule
    reason = f"rule `{rule}` from {rule.source}"
    told = f": {match.told}." if match.told else "."
    if row is DecisionRow.ASK_RULE:
        verb = "requires approval" if rule.behavior is ASK else "may deny this"
        return _ask_or_deny(mode, row, f"The {reason} {verb}{told}", reason, rule=rule)
    verb = "allows" if rule.behavior is ALLOW else "denies"
    message = f"The {reason} {verb} this{told}"
    return PermissionDecision(rule.behavior, message, decision_reason=reason, row=row, rule=rule)


def _not_read_only(tool: PermissionTool, check: PermissionDecision) -> PermissionDecision:
    """Return the DENY of EXPLORE, where only proven reads run."""
    found = f" {check.message}" if check.message and check.behavior is not ALLOW else ""
    return PermissionDecision(
        DENY,
        f"Explore mode runs only calls proven to read only; this {tool.name} call is not.{found}",
        decision_reason=check.decision_reason,
        row=DecisionRow.NOT_READ_ONLY,
    )


def _ask_or_deny(
    mode: PermissionMode,
    row: DecisionRow,
    message: str,
    reason: str | None,
    *,
    rule: PermissionRule | None = None,
    place: tuple[int, int] | None = None,
) -> PermissionDecision:
    """Return ASK, or DENY in the mode where nobody can answer."""
    behavior = ASK
    if mode.properties.otherwise == "deny":
        behavior = DENY
        message = f"{message} Nobody can be asked in dont_ask mode, so it is denied."
    return PermissionDecision(
        behavior,
        message,
        decision_reason=reason,
        bypass_immune=behavior is ASK and row is DecisionRow.SAFETY_CHECK,
        row=row,
        rule=rule,
        place=place,
    )


def _undecided(tool: PermissionTool, mode: str, error: BaseException) -> PermissionDecision:
    """Return the decision where applying the table failed."""
    failed = _failed(f"The rules for {tool.name} could not be checked", error)
    known = mode if isinstance(mode, PermissionMode) else PermissionMode.EXPLORE
    if known.properties.only_reads:
        return _not_read_only(tool, failed)
    return _ask_or_deny(known, DecisionRow.SAFETY_CHECK, failed.message, failed.decision_reason)


def _is_failure(error: BaseException) -> bool:
    """Return whether the error is a failed check, such as a cancellation that nobody requested."""
    if isinstance(error, Exception):
        return True
    import asyncio  # loaded where it matters; deciding as such needs none of it

    if not isinstance(error, asyncio.CancelledError):
        return False
    task = asyncio.current_task()
    return task is not None and not task.cancelling()


def _failed(what: str, error: BaseException) -> PermissionDecision:
    """Return the safety ASK of a check that failed."""
    kind = type(error).__name__
    return safety_question(f"{what}: {kind}: {error}".rstrip(": "), f"{kind} while checking")
