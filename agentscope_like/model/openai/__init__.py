"""Calls models through the OpenAI chat-completions API."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.model.openai.chat_model import OpenAIChatModel
    from agentscope_like.model.openai.embedding import OpenAIEmbeddingModel

__all__ = [
    "OpenAIChatModel",
    "OpenAIEmbeddingModel",
]

__getattr__ = on_first_use(
    __name__,
    {
        "OpenAIChatModel": "chat_model",
        "OpenAIEmbeddingModel": "embedding",
    },
)
