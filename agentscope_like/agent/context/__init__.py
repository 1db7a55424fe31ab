"""Keeps the model's context within the token limit."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.agent.context.compression import COMPRESSED, Compression, CompressionWish
    from agentscope_like.agent.context.prompt_context import PromptContext
    from agentscope_like.agent.context.result_limit import ResultLimit
    from agentscope_like.agent.context.runtime_state import RuntimeState

__all__ = [
    "COMPRESSED",
    "Compression",
    "CompressionWish",
    "PromptContext",
    "ResultLimit",
    "RuntimeState",
]

__getattr__ = on_first_use(
    __name__,
    {
        "COMPRESSED": "compression",
        "Compression": "compression",
        "CompressionWish": "compression",
        "PromptContext": "prompt_context",
        "ResultLimit": "result_limit",
        "RuntimeState": "runtime_state",
    },
)
