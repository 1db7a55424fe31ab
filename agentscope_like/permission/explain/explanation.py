"""Explains a decision, and finds what would allow the call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agentscope_like.permission.context import PermissionContext
from agentscope_like.permission.decision import DecisionRow, PermissionDecision
from agentscope_like.permission.engine import PermissionEngine
from agentscope_like.permission.explain.explained_decision import ExplainedDecision
from agentscope_like.permission.explain.layout import Line, lay_out, rule_flag
from agentscope_like.permission.explain.omission import omissions, without
from agentscope_like.permission.mode import PermissionBehavior
from agentscope_like.permission.protocol import PermissionTool

if TYPE_CHECKING:
    from agentscope_like.shell import CommandAnalysis, Doubt, Effect, Part

__all__ = ["Explanation", "explain_call"]

_SPARED_BY_READING = (
    DecisionRow.NOT_READ_ONLY,
    DecisionRow.SAFETY_CHECK,
    DecisionRow.NOTHING_MATCHED,
)
"""Rows that a command proven to read only would pass."""


class Explanation(ExplainedDecision, frozen=True):
    """An explained decision as text and JSON; for its attributes, see `ExplainedDecision`."""

    def lines(self, width: int = 80) -> tuple[Line, ...]:
        """Return the explanation as lines of text, each with its role, for `width` columns."""
        return lay_out(self, width)

    def to_text(self, width: int = 80) -> str:
        """Return the explanation as plain text; nothing in it can steer a terminal."""
        return "\n".join(line.text for line in self.lines(width))

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
            "doubts": [_doubt(doubt) for doubt in analysis.doubts],
        }


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
    import asyncio

    engine = PermissionEngine(context, session)
    decision = decision or await engine.check_permission(tool, tool_input)
    explanation = Explanation(decision, tool.name, tool_input, analysis)
    if decision.row is DecisionRow.NOTHING_MATCHED and not _allows(decision):
        near = await engine.near_rules(tool, tool_input)
        offered = explanation.suggested_rules
        wider = tuple(rule for rule in near.wider if rule not in offered)
        explanation = replace(explanation, wider=wider, uncovered=near.uncovered)
    if analysis is None or decision.row not in _SPARED_BY_READING or _allows(decision):
        return explanation
    pieces: list[str] = []
    for span in await asyncio.to_thread(omissions, analysis):  # it reads up to a dozen commands
        shorter = {**tool_input, "command": without(analysis.command, span)}
        if _allows(await engine.check_permission(tool, shorter)):
            pieces.append(analysis.command[span.start : span.end].strip())
    return replace(explanation, without=tuple(pieces))


def _allows(decision: PermissionDecision) -> bool:
    return decision.behavior is PermissionBehavior.ALLOW


def _part(command: str, part: Part) -> dict[str, Any]:
    return {
        "text": command[part.span.start : part.span.end],
        "start": part.span.start,
        "end": part.span.end,
        "argv": list(part.argv),
        "program": part.program,
        "directory": part.directory,
        "parent": part.parent,
        "read_only": part.read_only,
        "effects": [_effect(effect) for effect in part.effects],
        "doubts": [_doubt(doubt) for doubt in part.doubts],
    }


def _effect(effect: Effect) -> dict[str, Any]:
    return {
        "kind": effect.kind.value,
        "target": effect.target,
        "path": effect.path,
        "recursive": effect.recursive,
        "start": effect.span.start,
        "end": effect.span.end,
    }


def _doubt(doubt: Doubt) -> dict[str, Any]:
    return {"message": doubt.message, "start": doubt.span.start, "end": doubt.span.end}
