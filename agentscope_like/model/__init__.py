"""Calls language models, which answer messages and may call tools."""

from agentscope_like.model.base import Answer, ChatModelBase, ResponseStream
from agentscope_like.model.dual import (
    DualAsyncOpenAI,
    ModelCapabilities,
    ModelEndpoint,
    ModelType,
    probe_capabilities,
    probe_connection,
    probe_multimodal,
    probe_structured_output,
    sanitize_model_request_kwargs,
)
from agentscope_like.model.openai import OpenAIChatModel, OpenAIEmbeddingModel
from agentscope_like.model.response import ChatResponse, ChatUsage, FinishedReason, ResponseBlock
from agentscope_like.model.retry import TransientModelError
from agentscope_like.model.scripted import RecordedAnswer, RecordedCall, Script, ScriptedModel, Turn

SageAsyncOpenAI = DualAsyncOpenAI
"""The name of `DualAsyncOpenAI` in seed 003."""

__all__ = [
    "Answer",
    "ChatModelBase",
    "ChatResponse",
    "ChatUsage",
    "DualAsyncOpenAI",
    "FinishedReason",
    "ModelCapabilities",
    "ModelEndpoint",
    "ModelType",
    "OpenAIChatModel",
    "OpenAIEmbeddingModel",
    "RecordedAnswer",
    "RecordedCall",
    "ResponseBlock",
    "ResponseStream",
    "SageAsyncOpenAI",
    "Script",
    "ScriptedModel",
    "TransientModelError",
    "Turn",
    "probe_capabilities",
    "probe_connection",
    "probe_multimodal",
    "probe_structured_output",
    "sanitize_model_request_kwargs",
]
