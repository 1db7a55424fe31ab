"""Defines `ChatModelBase`, the base class of models."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from types import TracebackType
from typing import Any, Self, TypeAlias

from agentscope_like.exception import ConfigurationError, DeveloperOrientedException
from agentscope_like.message import Msg
from agentscope_like.middleware import TokenEstimator
from agentscope_like.model.counting import estimated_tokens
from agentscope_like.model.response import ChatResponse
from agentscope_like.model.retry import Backoff, Sleep, as_model_error
from agentscope_like.tool import ToolChoice

__all__ = ["Answer", "ChatModelBase", "ResponseStream"]

ResponseStream: TypeAlias = AsyncGenerator[ChatResponse, None]
Answer: TypeAlias = ChatResponse | ResponseStream


class ChatModelBase(ABC):
    """A model that answers messages and may call tools; subclasses override `_call_api`.

    Args:
        model: Its name on the server.
        stream: Whether answers are streamed.
        max_retries: How often a call is retried after a transient failure.
        retry_delay: Seconds before the first retry; doubled each time.
        context_size: The model's token limit for a request and its answer.
        sleep: Waits between retries; `asyncio.sleep` by default.

    Raises:
        ConfigurationError: A number is out of range.
    """

    def __init__(
        self,
        model: str,
        *,
        stream: bool = True,
        max_retries: int = 3,
        retry_delay: float = 1.0,
        context_size: int = 32768,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        if max_retries < 0 or retry_delay < 0:
            raise ConfigurationError("`max_retries` and `retry_delay` cannot be negative")
        if context_size <= 0:
            raise ConfigurationError("`context_size` is a number of tokens: give more than 0")
        self.model = model
        self.stream = stream
        self.max_retries = max_retries
        self.retry_delay = retry_delay
        self.context_size = context_size
        self._sleep = sleep

    async def __call__(
        self,
        messages: list[Msg],
        tools: list[dict[str, Any]] | None = None,
        tool_choice: ToolChoice | None = None,
        **kwargs: Any,
    ) -> Answer:
        """Return the answer to `messages`.

        A transient failure (`TransientModelError`) is retried after a wait, unless a part of the
        stream was already yielded: then the caller handles the error.

        Args:
            messages: The conversation, oldest first.
            tools: The schemas of the tools, as `Toolkit.get_tool_schemas` returns them.
            tool_choice: Which tool it must call, if any; None leaves the choice to the model.
            kwargs: Passed on to `_call_api`.

        Returns:
            With `stream=False`, the response; else a stream of responses, which the caller closes
            (`contextlib.aclosing`).

        Raises:
            ModelError: The call failed; the stream raises it as well.
        """

        async def attempt() -> Answer:
            return await self._call_api(
                self.model, messages=messages, tools=tools, tool_choice=tool_choice, **kwargs
            )

        tries = Backoff(self.max_retries, self.retry_delay, self._sleep)
        answer = await self._open(attempt, tries)
        return answer if isinstance(answer, ChatResponse) else self._shown(answer, attempt, tries)

    @abstractmethod
    async def _call_api(
        self,
        model_name: str,
        messages: list[Msg],
        tools: list[dict[str, Any]] | None = None,
        tool_choice: ToolChoice | None = None,
        **kwargs: Any,
    ) -> Answer:
        """Call the model once, without retries; subclasses override this.

        Returns:
            The response, or an async generator that yields new parts and finally the whole
            response.

        Raises:
            TransientModelError: The call failed, and may be retried.
            ModelError: It failed, and a retry would not help.
        """

    async def count_tokens(
        self, messages: list[Msg], tools: list[dict[str, Any]] | None = None
    ) -> int:
        """Return the number of tokens of a request, an estimate unless a subclass counts exactly.

        Args:
            messages: The conversation.
            tools: As for a call.
        """
        return estimated_tokens(messages, tools, TokenEstimator())

    async def close(self) -> None:
        """Release resources such as connections; the model can be used again afterwards."""
        return

    async def __aenter__(self) -> Self:
        """Return the model itself, which is closed when the block ends."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _open(self, attempt: Callable[[], Awaitable[Answer]], tries: Backoff) -> Answer:
        while True:
            try:
                return await attempt()
            except Exception as error:
                failure = self._failure(error)
            await tries.pause(failure)

    async def _shown(
        self,
        stream: ResponseStream,
        attempt: Callable[[], Awaitable[Answer]],
        tries: Backoff,
    ) -> ResponseStream:
        answer: Answer = stream
        while not isinstance(answer, ChatResponse):
            shown = False
            async with aclosing(answer):
                item = await self._pull(answer)
                while isinstance(item, ChatResponse):
                    yield item
                    shown = True
                    item = await self._pull(answer)
            if item is None:
                return
            if shown:
                raise item
            await tries.pause(item)
            answer = await self._open(attempt, tries)
        yield answer

    async def _pull(
        self, stream: ResponseStream
    ) -> ChatResponse | DeveloperOrientedException | None:
        try:
            return await anext(stream, None)
        except Exception as error:
            return self._failure(error)

    def _failure(self, error: Exception) -> DeveloperOrientedException:
        failure = as_model_error(error, self.model)
        if failure is not error:
            failure.__cause__ = error
        return failure
