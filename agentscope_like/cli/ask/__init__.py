"""Asks the person at the terminal, or answers from a recording."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.cli.ask.call_question import Question
    from agentscope_like.cli.ask.echo import without_echo
    from agentscope_like.cli.ask.keyboard import Keyboard, Person
    from agentscope_like.cli.ask.respondent import (
        SESSION_SOURCE,
        Ended,
        Interrupted,
        Recorded,
        Respondent,
    )

__all__ = [
    "SESSION_SOURCE",
    "Ended",
    "Interrupted",
    "Keyboard",
    "Person",
    "Question",
    "Recorded",
    "Respondent",
    "without_echo",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Ended": "respondent",
        "Interrupted": "respondent",
        "Keyboard": "keyboard",
        "Person": "keyboard",
        "Question": "call_question",
        "Recorded": "respondent",
        "Respondent": "respondent",
        "SESSION_SOURCE": "respondent",
        "without_echo": "echo",
    },
)
