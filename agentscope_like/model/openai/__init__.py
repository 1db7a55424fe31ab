"""Calls models through the OpenAI chat-completions API."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.model.openai.chat_model import OpenAIChatModel
    from agentscope_like.model.openai.embedding import OpenAIEmbeddingModel
    from agentscope_like.model.openai.failure import model_error, no_completion

__all__ = [
    "OpenAIChatModel",
    "OpenAIEmbeddingModel",
    "model_error",
    "no_completion",
]

__getattr__ = on_first_use(
    __name__,
    {
        "OpenAIChatModel": "chat_model",
        "OpenAIEmbeddingModel": "embedding",
        "model_error": "failure",
        "no_completion": "failure",
    },
)
