"""Answers the calls that a reply waits for, by a person or from a recording."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Protocol

from agentscope_like.cli.ask.ask_user import asks_questions, recorded_answers
from agentscope_like.cli.ask.call_question import Question, question_view, whole_view
from agentscope_like.cli.options import rule_text
from agentscope_like.cli.show import Renderer
from agentscope_like.event import ConfirmResult
from agentscope_like.message import ToolCallBlock, ToolResultBlock, ToolResultState
from agentscope_like.model import RecordedAnswer
from agentscope_like.permission import PermissionBehavior, PermissionRule

__all__ = ["SESSION_SOURCE", "Ended", "Interrupted", "Recorded", "Respondent", "external_result"]

SESSION_SOURCE = "session"
"""The `source` of rules remembered for one session."""

NOBODY_TO_ASK = (
    "Nobody is at the terminal to answer, so this call was rejected. Do without it, or say what "
    "you would need."
)
NOBODY_TO_ACT = "Nobody is at the terminal to do this, and no result was recorded for it."


class Interrupted(Exception):  # noqa: N818 - what the person did, not an error
    """The person pressed Ctrl-C at a question."""


class Ended(Exception):  # noqa: N818 - what the person did, not an error
    """The person ended the input; waiting calls can be answered after a later `--resume`."""


class Respondent(Protocol):
    """Answers the questions of calls, and gives the next message.

    Every method may raise `Interrupted` or `Ended`.
    """

    async def confirm(self, question: Question) -> ConfirmResult:
        """Approve or reject a call; the `source` of each rule tells where to remember it."""

    async def perform(self, call: ToolCallBlock) -> ToolResultBlock:
        """Return the result of a call that runs elsewhere."""

    async def next_message(self) -> str | None:
        """Return the next message to the agent, or None to end."""


def external_result(
    call: ToolCallBlock, output: str, state: ToolResultState = ToolResultState.SUCCESS
) -> ToolResultBlock:
    """Return the result of an external call."""
    return ToolResultBlock(id=call.id, name=call.name, output=output, state=state)


class Recorded:
    """Answers from a recording when there is no terminal; rejects calls without a recorded answer.

    Args:
        answers: The recorded answers by call id; empty if there is no recording.
        renderer: Where each answer is shown.
    """

    def __init__(self, answers: Mapping[str, RecordedAnswer], renderer: Renderer) -> None:
        self._answers = answers
        self._renderer = renderer

    async def confirm(self, question: Question) -> ConfirmResult:
        """Return the recorded answer to a call, or a rejection that says there is none."""
        call = question.call
        self._renderer.pause()
        console = self._renderer.console
        console.print(question_view(question, console.width))
        answer = self._answers.get(call.id)
        if answer is None or answer.confirmed is None:
            self._renderer.note("answer: no (nobody is at the terminal, nothing is recorded)")
            return ConfirmResult(confirmed=False, tool_call=call, message=NOBODY_TO_ASK)
        if not answer.confirmed:
            said = f": {answer.message}" if answer.message else ""
            self._renderer.note(f"answer (recorded): no{said}")
            return ConfirmResult(confirmed=False, tool_call=call, message=answer.message)
        rule = _rule(question, answer)
        remembered = f", and do not ask again for {rule_text(rule)}" if rule else ""
        self._renderer.note(f"answer (recorded): yes{remembered}")
        return ConfirmResult(confirmed=True, tool_call=call, rules=[rule] if rule else None)

    async def perform(self, call: ToolCallBlock) -> ToolResultBlock:
        """Return the recorded result of an external call, or an error that says there is none."""
        self._renderer.pause()
        self._renderer.console.print(whole_view(call), end="")
        answer = self._answers.get(call.id)
        if answer is None or answer.output is None:
            self._renderer.note("result: none (nobody is at the terminal, nothing is recorded)")
            return external_result(call, NOBODY_TO_ACT, ToolResultState.ERROR)
        self._renderer.note(f"result (recorded): {answer.output}")
        if not asks_questions(call):
            return external_result(call, answer.output)
        try:
            return recorded_answers(call, answer.output)
        except ValueError as error:
            text = f"The recorded answer does not fit: {error}."
            return external_result(call, text, ToolResultState.ERROR)

    async def next_message(self) -> str | None:
        """Return None: a recording ends with its task."""
        return None


def _rule(question: Question, answer: RecordedAnswer) -> PermissionRule | None:
    if answer.remember is None:
        return None
    return PermissionRule(
        tool_name=question.call.name,
        rule_content=answer.remember,
        behavior=PermissionBehavior.ALLOW,
        source=SESSION_SOURCE,
    )


def is_json_object(text: str) -> bool:
    """Return whether `text` is a JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
