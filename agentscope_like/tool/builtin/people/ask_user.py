"""Defines `AskUser`, the tool that asks a person questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

from typing_extensions import override

from agentscope_like.message import ToolCallBlock, ToolResultBlock, ToolResultState
from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionDecision
from agentscope_like.tool.arguments import parse_arguments
from agentscope_like.tool.builtin.people.person import PersonTool
from agentscope_like.tool.builtin.people.questions import (
    UserAnswer,
    UserQuestion,
    answers_of,
    misfit,
    questions_of,
)

__all__ = ["AskUser"]

MOST_QUESTIONS = 4
MOST_OPTIONS = 10

_OPTION = {
    "type": "object",
    "properties": {
        "label": {"type": "string", "minLength": 1, "description": "The choice in a few words."},
        "description": {
            "type": ["string", "null"],
            "description": "What it means, or its consequences.",
        },
    },
    "required": ["label"],
}
_QUESTION = {
    "type": "object",
    "properties": {
        "question": {
            "type": "string",
            "minLength": 1,
            "description": "The whole question, ending in a question mark.",
        },
        "header": {
            "type": ["string", "null"],
            "description": "A label of at most 12 characters, such as `Library`.",
        },
        "context": {
            "type": ["string", "null"],
            "description": "What to look at while answering: a draft, an error, two designs.",
        },
        "options": {
            "type": ["array", "null"],
            "maxItems": MOST_OPTIONS,
            "items": _OPTION,
            "description": "Two or more choices; leave it out for an answer in free text. The user "
            "can always answer in their own words, so add no option such as `Other`.",
        },
        "multi_select": {
            "type": ["boolean", "null"],
            "default": False,
            "description": "Whether several options may be chosen.",
        },
    },
    "required": ["question"],
}
_ANSWER = {
    "type": "object",
    "properties": {
        "question": {"type": "string"},
        "selected": {"type": "array", "items": {"type": "string"}},
        "other": {"type": ["string", "null"]},
    },
    "required": ["question"],
    "additionalProperties": False,
}


class AskUser(PersonTool):
    """Asks a person up to four questions, each with or without options.

    It is external: the agent waits after a `RequireExternalExecutionEvent`. The result has the
    answers twice: as text for the model, and in its metadata, `{"answers": [{"question": ...,
    "selected": [...], "other": ...}]}`, for programs; `AskUser.result` writes both. A result with
    invalid answers is refused, and the call keeps waiting. Answers inform the model but allow
    nothing: every call is still decided.
    """

    name = "AskUser"
    description = (
        "Asks the user questions, with options to choose from or in free text, and returns their "
        "answers. Ask only what you cannot find out yourself and what changes what you do next; "
        "ask what belongs together in one call. If you would recommend an option, put it first and "
        "say so in its label. What the user answers permits no tool call: each is still decided "
        "when it is made."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "questions": {
                "type": "array",
                "minItems": 1,
                "maxItems": MOST_QUESTIONS,
                "items": _QUESTION,
                "description": "The questions, each with a text of its own.",
            }
        },
        "required": ["questions"],
    }
    metadata_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {"answers": {"type": "array", "items": _ANSWER}},
        "required": ["answers"],
    }
    is_read_only = True

    @override
    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Allow distinct questions if a person can answer them."""
        unclear = _unclear(questions_of(tool_input))
        if unclear is not None:
            return PermissionDecision(PermissionBehavior.DENY, unclear)
        return await super().check_permissions(tool_input, context)

    @override
    async def check_external_result(
        self, result: ToolResultBlock, *, tool_input: dict[str, Any] | None = None
    ) -> None:
        """Refuse a successful result unless it has one valid answer to each question.

        Args:
            result: The result that was sent.
            tool_input: The call's arguments; without them only the format is checked.

        Raises:
            ValueError: The result is invalid; the message says why.
        """
        await super().check_external_result(result)
        if result.state is not ToolResultState.SUCCESS:
            return
        if not result.output:
            raise ValueError("`output` is empty: say the answers in words, for the model")
        if tool_input is not None:
            wrong = misfit(questions_of(tool_input), answers_of(result.metadata))
            if wrong is not None:
                raise ValueError(wrong)

    @staticmethod
    def questions(call: ToolCallBlock) -> list[UserQuestion]:
        """Return the questions of a call.

        Raises:
            ValueError: Its input has no valid questions.
        """
        return questions_of(parse_arguments(call.name, call.input))

    @staticmethod
    def result(call: ToolCallBlock, answers: Sequence[UserAnswer]) -> ToolResultBlock:
        """Return the result of an answered call.

        Args:
            call: The call.
            answers: One answer for each of its questions.

        Raises:
            ValueError: An answer is missing or invalid.
        """
        wrong = misfit(AskUser.questions(call), answers)
        if wrong is not None:
            raise ValueError(wrong)
        return ToolResultBlock(
            id=call.id,
            name=call.name,
            output="\n".join(map(_told, answers)),
            state=ToolResultState.SUCCESS,
            metadata={"answers": [answer.as_metadata() for answer in answers]},
        )


def _unclear(questions: Sequence[UserQuestion]) -> str | None:
    texts = Counter(question.question for question in questions)
    twice = next((text for text, count in texts.items() if count > 1), None)
    if twice is not None:
        return f"{twice!r} is asked twice: give each question a text of its own."
    for question in questions:
        labels = question.labels
        if len(labels) == 1:
            return f"{question.question!r} has one option, which is no choice: give two, or none."
        if len({label.casefold() for label in labels}) < len(labels):
            return f"Two options of {question.question!r} have the same label: tell them apart."
        if question.multi_select and any("," in label for label in labels):
            return f"An option of {question.question!r} has a comma in its label: leave it out."
    return None


def _told(answer: UserAnswer) -> str:
    said = list(answer.selected)
    if answer.other is not None and answer.other.strip():
        said.append(f"{answer.other.strip()} (in their own words)")
    return f"{answer.question}\n-> {', '.join(said)}"
