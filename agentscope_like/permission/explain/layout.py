"""Lays out an explanation as lines of plain text."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from typing import Any, NamedTuple

from agentscope_like.permission.explain.command import command_rows
from agentscope_like.permission.explain.explanation import Explanation, rule_flag
from agentscope_like.permission.explain.visible_text import visible
from agentscope_like.permission.mode import PermissionBehavior
from agentscope_like.shell import CommandAnalysis, Effect, Part
from agentscope_like.shell.syntax import Span

__all__ = ["VERDICTS", "Line", "LineRole", "argument_lines", "lay_out"]

VERDICTS = {
    PermissionBehavior.ALLOW: "allowed",
    PermissionBehavior.DENY: "denied",
    PermissionBehavior.ASK: "asks",
    PermissionBehavior.PASSTHROUGH: "no opinion",
}

MAX_ARGUMENT_LINES = 12
MAX_EFFECTS = 4
MAX_PARTS = 12
_INDENT = "  "
_LABEL_WIDTH = 8

_VERBS = {
    "read": "reads",
    "unknown": "may change",
    "write": "writes",
    "delete": "deletes",
    "network": "reaches",
    "execute": "runs",
}
_OBJECTS = {
    "read": "files",
    "unknown": "anything",
    "write": "files",
    "delete": "files",
    "network": "the network",
    "execute": "other programs",
}
_ON_FILES = frozenset({"read", "write", "delete"})


class LineRole(StrEnum):
    """What a line says; used to colour it."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"
    CALL = "call"
    MARK = "mark"
    PROVEN = "proven"
    PART = "part"
    EFFECT = "effect"
    DOUBT = "doubt"
    WHY = "why"
    ROW = "row"
    RULE = "rule"
    OFFER = "offer"


_ROLES = {each.value: each for each in (LineRole.ALLOW, LineRole.DENY)}


class Line(NamedTuple):
    """One line of an explanation; nothing in its text can steer a terminal."""

    role: LineRole
    text: str


def lay_out(explanation: Explanation, width: int) -> tuple[Line, ...]:
    """Return the lines of an explanation for a terminal of `width` columns."""
    decision = explanation.decision
    verdict = (
        f"{VERDICTS[decision.behavior]:<{_LABEL_WIDTH - 1}} {_one_line(explanation.tool_name)}"
    )
    role = _ROLES.get(decision.behavior, LineRole.ASK)
    return (
        Line(role, verdict),
        *_call(explanation, width),
        *_why(explanation, width),
        *_offers(explanation, width),
    )


def argument_lines(value: Any, width: int, *, most: int = MAX_ARGUMENT_LINES) -> list[str]:
    """Return an argument as lines that fit `width`; what is left out in the middle is counted."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
    rows = [
        row
        for line in visible(text).expandtabs(4).split("\n")
        for row in (textwrap.wrap(line, width, **_EXACT) or [""])
    ]
    if len(rows) <= most:
        return rows
    head, tail = most - most // 3 - 1, most // 3
    left_out = f"... {len(rows) - head - tail} more lines ..."
    return [*rows[:head], left_out, *rows[len(rows) - tail :]]


_EXACT: dict[str, Any] = {
    "drop_whitespace": False,
    "break_on_hyphens": False,
}


def _one_line(text: str) -> str:
    return visible(text, layout="")


def _wrapped(role: LineRole, text: str, width: int, *, indent: str, hang: str) -> list[Line]:
    rows = textwrap.wrap(
        _one_line(text),
        max(width, 20),
        initial_indent=indent,
        subsequent_indent=hang,
        break_on_hyphens=False,
    )
    return [Line(role, row) for row in rows]


def _labelled(role: LineRole, label: str, text: str, width: int) -> list[Line]:
    return _wrapped(role, text, width, indent=f"{label:<{_LABEL_WIDTH}}", hang=" " * _LABEL_WIDTH)


def _call(explanation: Explanation, width: int) -> Iterator[Line]:
    room = max(width - len(_INDENT), 20)
    if explanation.analysis is not None:
        place = explanation.decision.place
        yield from _command(explanation.analysis, room, None if place is None else Span(*place))
        return
    for name, value in explanation.tool_input.items():
        rows = argument_lines(value, room - 2)
        label = f"{_INDENT}{_one_line(name)}: "
        if len(rows) == 1 and len(label) + len(rows[0]) <= width:
            yield Line(LineRole.CALL, label + rows[0])
        else:
            yield Line(LineRole.CALL, label.rstrip())
            yield from (Line(LineRole.CALL, f"{_INDENT}{_INDENT}{row}") for row in rows)


def _command(analysis: CommandAnalysis, room: int, found: Span | None) -> Iterator[Line]:
    for row, is_mark in command_rows(analysis, room, found=found):
        yield Line(LineRole.MARK if is_mark else LineRole.CALL, f"{_INDENT}{row}")
    listed = [
        (number, part)
        for number, part in enumerate(analysis.parts, start=1)
        if len(analysis.parts) <= MAX_PARTS or not part.read_only or part.span == found
    ]
    for number, part in listed:
        yield from _part(analysis.command, number, part, room)
    if more := len(analysis.parts) - len(listed):
        proven = sum(part.read_only for part in analysis.parts)
        yield Line(LineRole.PART, f"{_INDENT}... and {more} more parts; {proven} in all read only")
    for doubt in analysis.doubts[:MAX_EFFECTS]:
        yield from _item(LineRole.DOUBT, doubt.message, room)


def _part(command: str, number: int, part: Part, room: int) -> Iterator[Line]:
    text = " ".join(command[part.span.start : part.span.end].split())
    text = textwrap.shorten(_one_line(text), max(room - 24, 16), placeholder=" ...")
    if part.read_only:
        reads = _effects(part.effects, part)
        yield from _numbered(LineRole.PROVEN, number, f"{text}: {reads or 'changes nothing'}", room)
        return
    yield from _numbered(LineRole.PART, number, f"{text}: not proven to read only", room)
    messages = dict.fromkeys(doubt.message for doubt in part.doubts)
    for message in islice(messages, MAX_EFFECTS):
        yield from _item(LineRole.DOUBT, message, room)
    if does := _effects(_untold(part), part):
        yield from _item(LineRole.EFFECT, does, room)


def _untold(part: Part) -> tuple[Effect, ...]:
    """Return the effects that matter and that no doubt of the part mentions."""
    told = " ".join(doubt.message for doubt in part.doubts)
    return tuple(
        effect
        for effect in part.effects
        if effect.kind.value != "read"
        and (effect.target not in told if effect.target else effect.kind.value != "unknown")
    )


def _numbered(role: LineRole, number: int, text: str, room: int) -> list[Line]:
    label = f"{_INDENT}{number} "
    return _wrapped(role, text, room, indent=label, hang=" " * len(label))


def _item(role: LineRole, text: str, room: int) -> list[Line]:
    return _wrapped(role, text, room, indent=_INDENT * 2 + "- ", hang=_INDENT * 3)


def _effects(effects: tuple[Effect, ...], part: Part) -> str:
    told: dict[str, list[str]] = {}
    for effect in effects:
        targets = told.setdefault(effect.kind.value, [])
        target = effect.target + (" and all below" if effect.recursive else "")
        if effect.target and target not in targets and not _is_fed(effect, part):
            targets.append(target)
    return "; ".join(f"{_VERBS[kind]} {_listed(kind, targets)}" for kind, targets in told.items())


def _is_fed(effect: Effect, part: Part) -> bool:
    """Return whether a file's name is not in the command's text, but printed by another command."""
    return effect.kind.value in _ON_FILES and effect.path is None and effect.span == part.span


def _listed(kind: str, targets: list[str]) -> str:
    more = len(targets) - MAX_EFFECTS
    shown = ", ".join(targets[:MAX_EFFECTS]) or _OBJECTS[kind]
    return f"{shown} and {more} more" if more > 0 else shown


def _why(explanation: Explanation, width: int) -> Iterator[Line]:
    decision = explanation.decision
    yield from _labelled(LineRole.WHY, "why", decision.message, width)
    reason = decision.decision_reason
    if reason and reason.rstrip(".") not in decision.message:
        yield from _labelled(LineRole.WHY, "found", reason, width)
    if decision.row is not None:
        words = explanation.row_words or ""
        yield from _labelled(LineRole.ROW, f"row {decision.row.label}", words, width)
    if explanation.held:
        yield from _labelled(LineRole.WHY, "held", explanation.held, width)
    if explanation.uncovered is not None:
        yield from _labelled(LineRole.WHY, "rule", explanation.uncovered_words, width)
    if decision.rule is not None:
        rule = f"{decision.rule} (from {decision.rule.source})"
        yield from _labelled(LineRole.WHY, "rule", rule, width)


def _offers(explanation: Explanation, width: int) -> Iterator[Line]:
    narrow = [f"with {rule_flag(rule)}" for rule in explanation.suggested_rules]
    wider = [f"with {rule_flag(rule)}, whatever its operands are" for rule in explanation.wider]
    pieces = [" ".join(piece.split()) for piece in explanation.without]
    shorter = [f"would be allowed without `{piece}`" for piece in pieces]
    for role, label, texts in (
        (LineRole.RULE, "allow", narrow),
        (LineRole.OFFER, "wider", wider),
        (LineRole.OFFER, "offer", shorter),
    ):
        for number, text in enumerate(texts):
            yield from _labelled(role, "" if number else label, text, width)
