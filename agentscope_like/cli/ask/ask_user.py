"""Answers `AskUser`'s questions at the terminal or from a recording."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from rich.console import Console
from rich.text import Text

from agentscope_like.cli.show import one_line, plain
from agentscope_like.message import ToolCallBlock, ToolResultBlock
from agentscope_like.tool import AskUser, UserAnswer, UserQuestion
from agentscope_like.tool.builtin.people import answer_of

__all__ = ["ask", "asks_questions", "recorded_answers"]


def asks_questions(call: ToolCallBlock) -> bool:
    """Return whether the call is a call of `AskUser`."""
    return call.name == AskUser.name


async def ask(
    call: ToolCallBlock, console: Console, read: Callable[[str], Awaitable[str]]
) -> ToolResultBlock:
    """Ask the person each question of the call until they have answered it.

    Args:
        call: A call of `AskUser`.
        console: Where the questions are shown.
        read: Shows a prompt and returns the typed line.
    """
    answers = []
    for question in AskUser.questions(call):
        console.print(question_text(question))
        answers.append(await _answered(question, console, read))
    return AskUser.result(call, answers)


async def _answered(
    question: UserQuestion, console: Console, read: Callable[[str], Awaitable[str]]
) -> UserAnswer:
    while True:
        try:
            return answer_of(question, await read(_prompt(question)))
        except ValueError as error:
            console.print(Text("Not understood: ", "quiet") + one_line(str(error), "quiet"))


def question_text(question: UserQuestion) -> Text:
    """Return the text of a question, with numbered options."""
    shown = Text()
    if question.header:
        shown.append_text(one_line(question.header, "call")).append("\n")
    if question.context:
        shown.append_text(plain(question.context)).append("\n")
    shown.append_text(plain(question.question, "ask"))
    for number, option in enumerate(question.options, start=1):
        shown.append(f"\n  {number}  ", "key").append_text(one_line(option.label))
        if option.description:
            shown.append("  ").append_text(one_line(option.description, "quiet"))
    return shown


def _prompt(question: UserQuestion) -> str:
    if not question.options:
        return "Answer: "
    which = "numbers, separated by commas" if question.multi_select else "a number"
    return f"Answer ({which}, or your own words): "


def recorded_answers(call: ToolCallBlock, output: str) -> ToolResultBlock:
    """Return the result of a call from recorded answers, one per line.

    Args:
        call: A call of `AskUser`.
        output: The answers as typed; the answer to a single question may have several lines.

    Raises:
        ValueError: The number of lines differs from that of questions, or an answer is invalid.
    """
    questions = AskUser.questions(call)
    lines = [output] if len(questions) == 1 else output.splitlines()
    if len(lines) != len(questions):
        raise ValueError(f"the recording has {len(lines)} answers to {len(questions)} questions")
    return AskUser.result(call, list(map(answer_of, questions, lines)))
