"""`ChatModelBase`: the base class of models."""

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
    """A model that answers messages, perhaps by calling tools; subclasses override `_call_api`.

    Args:
        model: The name that the server knows it by.
        stream: Whether answers come piece by piece.
        max_retries: How often a call that failed for a passing reason is tried again.
        retry_delay: Seconds before the first such try; doubled each time.
        context_size: Tokens that the model can read and write at once.
        sleep: Waits between tries; `asyncio.sleep` by default.

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

        A failure that may pass (`TransientModelError`) is tried again after a wait, but never once
        a part of a stream was given out: that error is the caller's to handle.

        Args:
            messages: The conversation, oldest first.
            tools: What the model may call, as `Toolkit.get_tool_schemas` returns it.
            tool_choice: Whether and what it must call; None means as it sees fit.
            kwargs: Passed on to `_call_api`, whose own they are.

        Returns:
            With `stream=False`, the response; else a stream of them, to be closed by the caller
            (`contextlib.aclosing`).

        Raises:
            ModelError: The call failed; from the stream too.
        """

        async def attempt() -> Answer:
            return await self._call_api(self.model, messages, tools, tool_choice, **kwargs)

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
        """Call the model once, without trying again; the override point.

        Returns:
            The response, or an async generator that yields what is new and, as its last, the whole.

        Raises:
            TransientModelError: The call failed, and may be tried again.
            ModelError: It failed, and trying again would not help.
        """

    async def count_tokens(
        self, messages: list[Msg], tools: list[dict[str, Any]] | None = None
    ) -> int:
        """Return how many tokens a request takes: an estimate, unless a subclass knows better.

        Args:
            messages: The conversation.
            tools: As for a call.
        """
        return estimated_tokens(messages, tools, TokenEstimator())

    async def close(self) -> None:
        """Give back what the model holds, such as connections; it may be called again after."""
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
