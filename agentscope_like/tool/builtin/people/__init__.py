"""Provides the tools that a person answers."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.people.ask_user import AskUser
    from agentscope_like.tool.builtin.people.human_approval import HumanApproval
    from agentscope_like.tool.builtin.people.person import PersonTool
    from agentscope_like.tool.builtin.people.questions import UserAnswer, UserQuestion, answer_of

__all__ = [
    "AskUser",
    "HumanApproval",
    "PersonTool",
    "UserAnswer",
    "UserQuestion",
    "answer_of",
]

__getattr__ = on_first_use(
    __name__,
    {
        "AskUser": "ask_user",
        "HumanApproval": "human_approval",
        "PersonTool": "person",
        "UserAnswer": "questions",
        "UserQuestion": "questions",
        "answer_of": "questions",
    },
)
