"""Calls a model inside the agent's `on_model_call` hooks."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from agentscope_like.agent.config import ModelConfig
from agentscope_like.exception import ModelError
from agentscope_like.message import Msg
from agentscope_like.middleware import MiddlewareBase, hook_onion
from agentscope_like.model import Answer, ChatModelBase, ChatResponse
from agentscope_like.tool import ToolChoice
from agentscope_like.types import ErrorType

__all__ = ["ModelCalls"]


class ModelCalls:
    """Calls the models of an agent.

    Args:
        model: The model.
        config: Retries and the fallback model.
        agent: The agent, passed to the hooks.
        middlewares: The agent's middlewares.

    Attributes:
        models: The models in the order in which they are tried.
        summary_models: The same for summaries.
    """

    def __init__(
        self,
        model: ChatModelBase,
        config: ModelConfig,
        *,
        agent: Any,
        middlewares: Sequence[MiddlewareBase] = (),
    ) -> None:
        self.models = [model] * (1 + config.max_retries)
        if config.fallback_model is not None:
            self.models.append(config.fallback_model)
        self.summary_models = list(self.models)
        if config.compression_model is not None:
            self.summary_models.insert(0, config.compression_model)
        self._call = hook_onion(middlewares, "on_model_call", agent, _call)

    async def answers(
        self,
        model: ChatModelBase,
        messages: list[Msg],
        tools: list[dict[str, Any]] | None,
        tool_choice: ToolChoice | None,
    ) -> AsyncGenerator[ChatResponse, None]:
        """Yield the model's answer as a stream, even if the model does not stream.

        Raises:
            ModelError: The model failed; or a hook returned something other than an answer.
        """
        answer: object = await self._call(
            current_model=model, messages=messages, tools=tools, tool_choice=tool_choice
        )
        if isinstance(answer, ChatResponse):
            yield answer
        elif isinstance(answer, AsyncGenerator):
            async with aclosing(answer) as stream:
                async for part in stream:
                    yield part
        else:
            raise ModelError(
                f"the call of {model.model!r} returned {answer!r:.200}, which is not an answer: "
                "a model, and a hook around it, returns a ChatResponse or an async generator "
                "of them",
                type=ErrorType.INTERNAL,
            )

    async def whole_answer(
        self,
        model: ChatModelBase,
        messages: list[Msg],
        tools: list[dict[str, Any]] | None,
        tool_choice: ToolChoice | None,
    ) -> ChatResponse:
        """Return the model's complete answer.

        Raises:
            ModelError: As for `answers`; or the stream ended early.
        """
        async with aclosing(self.answers(model, messages, tools, tool_choice)) as answers:
            async for answer in answers:
                if answer.is_last:
                    return answer
        raise ModelError(f"the answer of {model.model!r} broke off", type=ErrorType.UPSTREAM)


async def _call(
    current_model: ChatModelBase,
    messages: list[Msg],
    tools: list[dict[str, Any]] | None,
    tool_choice: ToolChoice | None,
) -> Answer:
    return await current_model(messages, tools=tools, tool_choice=tool_choice)
