"""Shows the question about a call: what would happen, and why it asks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from agentscope_like.cli.options import rule_text
from agentscope_like.cli.show import diff_lines, one_line, plain, role_line
from agentscope_like.message import ApplyQuestion, ToolCallBlock
from agentscope_like.permission import PermissionRule
from agentscope_like.permission.explain import Explanation, LineRole, lay_out

__all__ = [
    "Question",
    "apply_choices",
    "apply_view",
    "choices_view",
    "question_view",
    "whole_view",
]

_NOT_ASKED = (LineRole.RULE, LineRole.ROW)
_SHOWN_BY_DIFF = ("content", "old_string", "new_string")


@dataclass(frozen=True, slots=True)
class Question:
    """A call that waits for a person.

    Attributes:
        call: The call as it is stored.
        explanation: Why it asks.
        diff: What an edit would change in the file, or what a held command changed, as a unified
            diff.
        failure: Why an edit can only fail as the file is now.
        can_remember: Whether rules can be remembered for this project.
    """

    call: ToolCallBlock
    explanation: Explanation
    diff: str | None = None
    failure: str | None = None
    can_remember: bool = True

    @property
    def rules(self) -> tuple[PermissionRule, ...]:
        """Return the rules that would allow such a call the next time."""
        return tuple(self.call.suggested_rules)


def question_view(question: Question, width: int) -> RenderableType:
    """Return the question in a frame of at most `width` columns."""
    inner = max(width - 4, 24)
    if question.call.apply is not None:
        return apply_view(question, question.call.apply)
    title = Text(" ") + one_line(question.call.name, "call") + Text(" asks ", "ask")
    return Panel(
        Group(*_body(question, inner)), title=title, title_align="left", border_style="ask"
    )


def apply_view(question: Question, asked: ApplyQuestion) -> RenderableType:
    """Return the question about what a held command changed, in a frame."""
    command = question.explanation.tool_input.get("command", "")
    lines = [Text("") + one_line(str(command), "call"), Text("") + one_line(asked.title, "ask")]
    for line in asked.lines:
        style = "error" if line.startswith("! ") else ""
        lines.append(Text("") + one_line(line, style))
    if asked.output:
        lines.append(Text("The end of its output:", "quiet"))
        lines += [Text("") + one_line(line, "quiet") for line in asked.output]
    lines.append(Text(f"The command ended with status {asked.exit_status}.", "quiet"))
    title = Text(" ") + one_line(question.call.name, "call") + Text(" ran held; apply? ", "ask")
    return Panel(Group(*lines), title=title, title_align="left", border_style="ask")


def apply_choices(question: Question) -> Text:
    """Return the keys that answer a question about what a held command changed."""
    rows = [
        ("y", "yes, apply these changes"),
        ("n", "no, leave the files as they are, and tell the agent why"),
        *([("d", "show the difference")] if question.diff else []),
        ("v", "view the whole call"),
    ]
    return Text("\n").join(Text(f"  {key}  ", "key") + Text(text) for key, text in rows)


def _body(question: Question, width: int) -> Iterator[Text]:
    explanation = question.explanation
    if question.diff is not None:
        rest = _without(explanation.tool_input, _SHOWN_BY_DIFF)
        explanation = replace(explanation, tool_input=rest)
    lines = [line for line in lay_out(explanation, width)[1:] if line.role not in _NOT_ASKED]
    calls = [line for line in lines if line.role not in (LineRole.WHY, LineRole.OFFER)]
    yield from (role_line(line) for line in calls)
    if question.diff is not None:
        yield from diff_lines(question.diff)
    if question.failure is not None:
        yield Text("") + one_line(f"It would fail: {question.failure}", "error")
    yield Text("")
    yield from (role_line(line) for line in lines if line.role in (LineRole.WHY, LineRole.OFFER))


def choices_view(question: Question) -> Text:
    """Return the keys that answer the question, one per line."""
    rows: list[tuple[str, Text]] = [("y", Text("yes, this once"))]
    for number, rule in enumerate(question.rules, start=1):
        shown = one_line(rule_text(rule), "rule")
        rows.append((str(number), Text("yes, and do not ask again for ") + shown))
    rows += [
        ("e", Text("edit it first")),
        ("n", Text("no, and tell the agent why")),
        ("v", Text("view the whole call")),
    ]
    lines = [Text(f"  {key}  ", "key") + text for key, text in rows]
    return Text("\n").join(lines)


def whole_view(call: ToolCallBlock) -> Text:
    """Return all arguments of a call in full."""
    try:
        arguments = json.loads(call.input)
    except (ValueError, RecursionError):
        return plain(call.input)
    if not isinstance(arguments, dict):
        return plain(call.input)
    shown = Text()
    for name, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
        shown.append_text(one_line(f"{name}:", "call")).append("\n")
        shown.append_text(plain(text)).append("\n")
    return shown


def _without(arguments: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name not in names}
