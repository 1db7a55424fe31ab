"""Defines questions to a person, and validates the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, ValidationError, convert

__all__ = [
    "QuestionOption",
    "UserAnswer",
    "UserQuestion",
    "answer_of",
    "answers_of",
    "misfit",
    "questions_of",
]


class QuestionOption(Struct, frozen=True):
    """One of the offered answers.

    Attributes:
        label: Its name, unique within the question.
        description: Its meaning or consequences.
    """

    label: str
    description: str = ""


class UserQuestion(Struct, frozen=True):
    """A question to a person.

    Attributes:
        question: The question, unique within the call.
        header: A heading of one or two words.
        context: Information to read before answering.
        options: The offered answers; none for an open question.
        multi_select: Whether several of them may be chosen.
    """

    question: str
    header: str = ""
    context: str = ""
    options: tuple[QuestionOption, ...] = ()
    multi_select: bool = False

    @property
    def labels(self) -> list[str]:
        """Return the labels of the options."""
        return [option.label for option in self.options]


class UserAnswer(Struct, frozen=True):
    """A person's answer to one question.

    Attributes:
        question: The question, verbatim.
        selected: The labels of the chosen options.
        other: The answer in the person's own words, or None.
    """

    question: str
    selected: tuple[str, ...] = ()
    other: str | None = None

    def as_metadata(self) -> dict[str, Any]:
        """Return the answer in the format of a result's metadata."""
        return {"question": self.question, "selected": list(self.selected), "other": self.other}


def questions_of(tool_input: Mapping[str, Any]) -> list[UserQuestion]:
    """Return the questions of a call; fields that are None count as missing.

    Raises:
        ValueError: They do not fit the schema.
    """
    try:
        return convert(_without_none(tool_input["questions"]), list[UserQuestion])
    except (KeyError, ValidationError) as error:
        raise ValueError(f"the questions are not valid: {error}") from error


def answers_of(metadata: Mapping[str, Any]) -> list[UserAnswer]:
    """Return the answers in a result's metadata.

    Raises:
        ValueError: There are none, or they do not fit the schema.
    """
    try:
        return convert(metadata["answers"], list[UserAnswer])
    except KeyError:
        raise ValueError("`metadata` holds no `answers`: one for each question") from None
    except ValidationError as error:
        raise ValueError(f"the answers are not valid: {error}") from error


def misfit(questions: Sequence[UserQuestion], answers: Sequence[UserAnswer]) -> str | None:
    """Return what is wrong with the answers, or None if each question has a valid one."""
    known = {question.question: question for question in questions}
    counted = Counter(answer.question for answer in answers)
    for text, count in counted.items():
        if text not in known:
            return f"{text!r} was not asked: repeat a question word by word"
        if count > 1:
            return f"{text!r} is answered {count} times: answer it once"
    for text in known:
        if text not in counted:
            return f"{text!r} has no answer"
    found = (_misfit(known[answer.question], answer) for answer in answers)
    return next(filter(None, found), None)


def _misfit(question: UserQuestion, answer: UserAnswer) -> str | None:
    asked, says = question.question, answer.other is not None and bool(answer.other.strip())
    for label in answer.selected:
        if label not in question.labels:
            offered = ", ".join(map(repr, question.labels)) or "none: say it in `other`"
            return f"{label!r} is not an option of {asked!r}; there are {offered}"
    if len(set(answer.selected)) < len(answer.selected):
        return f"an option of {asked!r} is chosen twice"
    if not question.multi_select and len(answer.selected) + says > 1:
        return f"{asked!r} takes one option, or `other` instead"
    if not answer.selected and not says:
        return f"the answer to {asked!r} is empty: choose an option, or say something in `other`"
    return None


def answer_of(question: UserQuestion, typed: str) -> UserAnswer:
    """Parse a typed answer: numbers or labels of options, or the person's own words.

    Args:
        question: The question.
        typed: The text; several options are separated by commas.

    Raises:
        ValueError: The text is empty, or the number of an unknown option.
    """
    typed = typed.strip()
    if not typed:
        raise ValueError("type an answer")
    parts = typed.split(",") if question.multi_select else [typed]
    chosen = [_option(question, part.strip()) for part in parts if part.strip()]
    if chosen and None not in chosen:
        return UserAnswer(question.question, tuple(dict.fromkeys(filter(None, chosen))))
    numbers = [part.strip() for part in parts if part.strip().isdecimal()]
    if question.options and len(numbers) == len(parts):
        raise ValueError(f"there are options 1 to {len(question.options)}")
    return UserAnswer(question.question, other=typed)


def _option(question: UserQuestion, typed: str) -> str | None:
    for label in question.labels:
        if label.casefold() == typed.casefold():
            return label
    if typed.isascii() and typed.isdecimal() and 1 <= int(typed) <= len(question.options):
        return question.labels[int(typed) - 1]
    return None


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_none(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_without_none(inner) for inner in value]
    return value
