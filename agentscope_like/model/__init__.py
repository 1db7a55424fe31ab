"""Models: what answers messages, perhaps by calling tools."""

from agentscope_like.model.base import Answer, ChatModelBase, ResponseStream
from agentscope_like.model.openai import OpenAIChatModel
from agentscope_like.model.response import ChatResponse, ChatUsage, FinishedReason, ResponseBlock
from agentscope_like.model.retry import TransientModelError
from agentscope_like.model.script import RecordedAnswer, RecordedCall, Script, Turn
from agentscope_like.model.scripted import ScriptedModel

__all__ = [
    "Answer",
    "ChatModelBase",
    "ChatResponse",
    "ChatUsage",
    "FinishedReason",
    "OpenAIChatModel",
    "RecordedAnswer",
    "RecordedCall",
    "ResponseBlock",
    "ResponseStream",
    "Script",
    "ScriptedModel",
    "TransientModelError",
    "Turn",
]
