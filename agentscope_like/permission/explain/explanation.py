"""Explains a decision, and finds what would allow the call."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from agentscope_like.permission.context import PermissionContext
from agentscope_like.permission.decision import DecisionRow, PermissionDecision
from agentscope_like.permission.engine import PermissionEngine
from agentscope_like.permission.mode import PermissionBehavior
from agentscope_like.permission.protocol import PermissionTool
from agentscope_like.permission.rule import PermissionRule
from agentscope_like.permission.rules import rules_of
from agentscope_like.shell import CommandAnalysis, Doubt, Effect, Part
from agentscope_like.shell.syntax import Span

__all__ = ["ROW_WORDS", "Explanation", "explain_call", "rule_flag"]

_NOT_SETTLED = (DecisionRow.HELD, DecisionRow.NOTHING_MATCHED)
_SPARED_BY_READING = (DecisionRow.NOT_READ_ONLY, DecisionRow.SAFETY_CHECK, *_NOT_SETTLED)
"""Rows that a command proven to read only would pass."""


ROW_WORDS: Mapping[DecisionRow, str] = {
    DecisionRow.DENY_RULE: "a deny rule matches it",
    DecisionRow.TOOL_DENIES: "the tool itself denies it",
    DecisionRow.NOT_READ_ONLY: "explore mode runs only calls proven to read only",
    DecisionRow.SAFETY_CHECK: "a safety check requires a person's approval",
    DecisionRow.ASK_RULE: "an ask rule matches it, or a deny rule may",
    DecisionRow.READ_ONLY: "it is proven to read only",
    DecisionRow.TOOL_ALLOWS: "the tool itself allows it",
    DecisionRow.ALLOW_RULE: "an allow rule matches it",
    DecisionRow.HELD: "nothing forbids it, and it can run held: a Toolkit runs it on a layer",
    DecisionRow.NOTHING_MATCHED: "no rule or check applies, so the mode decides",
}
"""The rows of the decision table (docs/design/decisions.md) in words."""


class Explanation(Struct, frozen=True):
    """Why a call was decided as it was, and what would allow it.

    Attributes:
        decision: The decision.
        tool_name: The tool.
        tool_input: The arguments that were decided upon.
        analysis: How a command line was read; None for other tools.
        without: Pieces of the command without which it would be allowed, each tried.
        wider: Rules that would allow it and open its operands, each tried. No question offers them,
            since more than the person saw would run.
        uncovered: An allow rule that matches the call and does not cover all of it, and why.
        held: What comes of the call where commands run held; empty if that was not looked at, or is
            the same.
    """

    decision: PermissionDecision
    tool_name: str
    tool_input: Mapping[str, Any]
    analysis: CommandAnalysis | None = None
    without: tuple[str, ...] = ()
    wider: tuple[PermissionRule, ...] = ()
    uncovered: tuple[PermissionRule, str] | None = None
    held: str = ""

    @property
    def row_words(self) -> str | None:
        """Return the row of the decision table in words, or None for a tool's own opinion."""
        return None if self.decision.row is None else ROW_WORDS[self.decision.row]

    @property
    def uncovered_words(self) -> str:
        """Return which allow rule does not cover the call, and why; empty if none matches."""
        if self.uncovered is None:
            return ""
        rule, reason = self.uncovered
        return f"`{rule}` (from {rule.source}) does not cover it: {reason}"

    @property
    def suggested_rules(self) -> tuple[PermissionRule, ...]:
        """Return the rules under which the same call would be allowed."""
        return tuple(self.decision.suggested_rules or ())

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as an object that `json.dumps` takes."""
        decision = self.decision
        row = decision.row
        return {
            "decision": decision.behavior.value,
            "tool": self.tool_name,
            "input": dict(self.tool_input),
            "row": None if row is None else {"number": row.value, "text": self.row_words},
            "rule": None if decision.rule is None else str(decision.rule),
            "rule_source": None if decision.rule is None else decision.rule.source,
            "message": decision.message,
            "reason": decision.decision_reason,
            "uncovered": self.uncovered_words or None,
            "safety_check": decision.bypass_immune,
            "held": self.held or None,
            **self._reading(),
            "allowed_by": {
                "rules": [str(rule) for rule in self.suggested_rules],
                "flags": [rule_flag(rule) for rule in self.suggested_rules],
                "without": list(self.without),
                "wider": [rule_flag(rule) for rule in self.wider],
            },
        }

    def _reading(self) -> dict[str, Any]:
        analysis = self.analysis
        if analysis is None:
            return {}
        return {
            "directory": analysis.directory,
            "understood": analysis.script is not None,
            "read_only": analysis.read_only,
            "parts": [_part(analysis.command, part) for part in analysis.parts],
            "doubts": [_placed(each, "message") for each in analysis.doubts],
        }


def rule_flag(rule: PermissionRule) -> str:
    """Return the rule as an option of the command line: `--allow 'Bash(npm run:*)'`."""
    content = "" if rule.rule_content is None else f"({rule.rule_content})"
    return f"--{rule.behavior.value} {shlex.quote(rule.tool_name + content)}"


async def explain_call(
    tool: PermissionTool,
    tool_input: dict[str, Any],
    context: PermissionContext,
    *,
    decision: PermissionDecision | None = None,
    analysis: CommandAnalysis | None = None,
    session: object = None,
) -> Explanation:
    """Decide a call and return why; every offer in the answer has been decided too.

    Args:
        tool: The tool.
        tool_input: Its validated arguments.
        context: What is permitted.
        decision: The decision, where it has been made already.
        analysis: How the command line in `tool_input["command"]` was read, for a shell tool.
        session: The agent's state, where the call belongs to one.
    """
    engine = PermissionEngine(context, session)
    decision = decision or await engine.check_permission(tool, tool_input)
    explanation = Explanation(decision, tool.name, tool_input, analysis)
    if decision.row in _NOT_SETTLED and not _allows(decision):
        explanation = await _with_near_rules(explanation, engine, tool)
    if analysis is None or decision.row not in _SPARED_BY_READING or _allows(decision):
        return explanation
    found: list[Span] = []
    for span in _omissions(analysis):
        shorter = {**tool_input, "command": _without(analysis.command, span)}
        if any(span.holds(inner) for inner in found):
            continue
        if _allows(await engine.check_permission(tool, shorter)):
            found.append(span)
    pieces = (analysis.command[span.start : span.end].strip() for span in found)
    return replace(explanation, without=tuple(pieces))


async def _with_near_rules(
    explanation: Explanation, engine: PermissionEngine, tool: PermissionTool
) -> Explanation:
    """Return an explanation with the rules that nearly allow the call, or more than was shown."""
    call = (await engine.decide(tool, dict(explanation.tool_input))).call
    if call is None:
        return explanation
    rules = rules_of(tool, PermissionBehavior.ALLOW, engine.context)
    tried = [rule for rule in call.wider_rules() if await rules.would_find(rule, call)]
    wider = tuple(rule for rule in tried if rule not in explanation.suggested_rules)
    return replace(explanation, wider=wider, uncovered=rules.uncovered(call))


def _allows(decision: PermissionDecision) -> bool:
    return decision.behavior is PermissionBehavior.ALLOW


def _part(command: str, part: Part) -> dict[str, Any]:
    return {
        "text": command[part.span.start : part.span.end],
        **_placed(part, "argv", "program", "directory", "parent", "read_only"),
        "effects": [_placed(each, "kind", "target", "path", "recursive") for each in part.effects],
        "doubts": [_placed(each, "message") for each in part.doubts],
    }


def _placed(record: Part | Effect | Doubt, *fields: str) -> dict[str, Any]:
    """Return some fields of a record, and where in the command it stands."""
    found = {name: getattr(record, name) for name in fields}
    return {**found, "start": record.span.start, "end": record.span.end}


_MAX_TRIALS = 12
"""How many shortened commands are decided about at most for one explanation."""

_CONNECTOR_BEFORE = re.compile(r"\s*(?:\|\||&&|\|&|[|;&\n])\s*$")
_CONNECTOR_AFTER = re.compile(r"\s*(?:\|\||&&|\|&|[|;&\n])\s*")


def _without(command: str, span: Span) -> str:
    """Return the command without the characters of `span`, and without the gap they leave."""
    before, after = command[: span.start], command[span.end :]
    if not before.strip():
        return after.lstrip()
    if not after.strip():
        return before.rstrip()
    if before[-1].isspace() and after[0].isspace():
        after = after.lstrip(" \t")
    return before + after


def _omissions(analysis: CommandAnalysis) -> list[Span]:
    """Return pieces of the command that could be the only ones in doubt, the shortest first.

    A piece is a redirection, an option, an environment prefix, or a whole part with its connector.
    """
    if analysis.read_only:
        return []
    fitting = {
        piece
        for index, part in enumerate(analysis.parts)
        for piece in _pieces(analysis.command, part)
        if _touches_all(piece, analysis, but=index)
    }
    return sorted(fitting, key=lambda span: (span.end - span.start, span))[:_MAX_TRIALS]


def _touches_all(piece: Span, analysis: CommandAnalysis, *, but: int) -> bool:
    """Return whether every doubt touches the piece, but those of the part `but` itself."""
    others = [part for index, part in enumerate(analysis.parts) if index != but]
    doubts = [*analysis.doubts, *(doubt for part in others for doubt in part.doubts)]
    return all(d.span.start < piece.end and piece.start < d.span.end for d in doubts)


def _pieces(command: str, part: Part) -> Iterator[Span]:
    for redirect in part.redirects:
        yield redirect.span
    for assignment in part.assignments:
        yield assignment.span
    for word, argument in zip(part.words[1:], part.argv[1:], strict=False):
        if argument is not None and argument.startswith("-"):
            yield word.span
    if part.parent is None:
        yield from _with_connector(command, part)


def _with_connector(command: str, part: Part) -> Iterator[Span]:
    ends = [part.span.end, *(redirect.span.end for redirect in part.redirects)]
    starts = [part.span.start, *(redirect.span.start for redirect in part.redirects)]
    start, end = min(starts), max(ends)
    if joined := _CONNECTOR_BEFORE.search(command[:start]):
        yield Span(joined.start(), end)
    elif joined := _CONNECTOR_AFTER.match(command, end):
        yield Span(start, joined.end())
