"""Keeps the model's context within the token limit."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.agent.context.compression import (
        COMPRESSED,
        Compression,
        CompressionReport,
        CompressionWish,
    )
    from agentscope_like.agent.context.history import summary_messages, without_images
    from agentscope_like.agent.context.result_limit import ResultLimit
    from agentscope_like.agent.context.runtime_state import RuntimeState

__all__ = [
    "COMPRESSED",
    "Compression",
    "CompressionReport",
    "CompressionWish",
    "ResultLimit",
    "RuntimeState",
    "summary_messages",
    "without_images",
]

__getattr__ = on_first_use(
    __name__,
    {
        "COMPRESSED": "compression",
        "Compression": "compression",
        "CompressionReport": "compression",
        "CompressionWish": "compression",
        "ResultLimit": "result_limit",
        "RuntimeState": "runtime_state",
        "summary_messages": "history",
        "without_images": "history",
    },
)
