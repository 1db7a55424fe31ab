"""Calls models of OpenAI or of a server with a compatible chat-completions API."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from agentscope_like.exception import ConfigurationError, ModelError
from agentscope_like.message import Msg, ToolCallBlock
from agentscope_like.model.base import Answer, ChatModelBase, ResponseStream
from agentscope_like.model.dual import DualAsyncOpenAI, ModelType
from agentscope_like.model.openai.assembler import Assembler
from agentscope_like.model.openai.clean_text import clean_all
from agentscope_like.model.openai.connection import Connection
from agentscope_like.model.openai.formatter import format_messages
from agentscope_like.model.response import ChatResponse
from agentscope_like.model.retry import Sleep, TransientModelError
from agentscope_like.nearest import nearest
from agentscope_like.tool import ToolChoice

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["OpenAIChatModel"]

_OF_THE_MODEL = (
    *("model", "model_type", "messages"),
    *("stream", "stream_options", "tools", "tool_choice"),
)
_OF_THE_CLIENT = ("extra_headers", "extra_query", "extra_body", "timeout", "model_type")
_END: Any = object()


class OpenAIChatModel(ChatModelBase):
    """A model of OpenAI, or of a server with a compatible chat-completions API (vLLM, Ollama, ...).

    Reasoning (`reasoning_content`) becomes `ThinkingBlock`s. Arguments of a call are returned as
    the model wrote them, even if malformed; missing or repeated ids of calls are replaced. The
    server's reason for the end of an answer (`"length"` if it was cut) is in
    `metadata["finish_reason"]` of the last response.

    Args:
        model: Its name on the server; optional with a `DualAsyncOpenAI`.
        api_key: The key; by default the environment variable OPENAI_API_KEY. Other servers may need
            none.
        base_url: The base URL of the server's API, such as `http://localhost:11434/v1`; by default
            OPENAI_BASE_URL, else OpenAI's.
        stream: Whether answers are streamed.
        max_retries: How often a call is retried after a connection error, 408, 409, 429 or 5xx, if
            nothing of its answer was yielded yet.
        retry_delay: Seconds before the first retry, doubled each time; a server's `Retry-After` of
            up to a minute takes precedence.
        context_size: The model's token limit for a request and its answer.
        client: A client to use instead of a new one; the caller closes it.
        model_type: Which model of a `DualAsyncOpenAI`, "standard" by default.
        generate_kwargs: More fields for each request, such as `{"temperature": 0}`.
        send_thinking: Whether reasoning is sent back; some servers require it, others refuse it.
        sleep: Waits between retries; `asyncio.sleep` by default.

    Raises:
        ConfigurationError: `generate_kwargs` holds a field that the model sets itself, `base_url`
            is not a URL, or model and client do not fit together.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        stream: bool = True,
        max_retries: int = 3,
        retry_delay: float = 1.0,
        context_size: int = 128_000,
        client: AsyncOpenAI | DualAsyncOpenAI | None = None,
        model_type: ModelType | None = None,
        generate_kwargs: Mapping[str, Any] | None = None,
        send_thinking: bool = False,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._connection = Connection(
            model, api_key=api_key, base_url=base_url, client=client, model_type=model_type
        )
        super().__init__(
            self._connection.model,
            stream=stream,
            max_retries=max_retries,
            retry_delay=retry_delay,
            context_size=context_size,
            sleep=sleep,
        )
        self.base_url = base_url
        self.generate_kwargs = _checked(generate_kwargs or {})
        self.send_thinking = send_thinking
        self._asks_for_usage = True

    async def close(self) -> None:
        """Close the connections, unless the client was given."""
        await self._connection.close()

    async def _call_api(
        self,
        model_name: str,
        messages: list[Msg],
        tools: list[dict[str, Any]] | None = None,
        tool_choice: ToolChoice | None = None,
        **kwargs: Any,
    ) -> Answer:
        schemas = _chosen(tools or [], tool_choice)
        request = {
            "model": model_name,
            "messages": format_messages(
                messages, tool_names=_names(tools or []), send_thinking=self.send_thinking
            ),
            **_tool_fields(schemas, tool_choice),
            **self.generate_kwargs,
            **_checked(kwargs),
            **self._connection.fields,
        }
        ids = {
            block.id
            for message in messages
            for block in message.content
            if isinstance(block, ToolCallBlock)
        }
        assembler = Assembler(ids)
        if self.stream:
            return self._streamed(request, assembler)
        return await self._completed(request, assembler)

    async def _completed(self, request: dict[str, Any], assembler: Assembler) -> ChatResponse:
        began = time.monotonic()
        completion = await self._send({**request, "stream": False})
        assembler.take(completion)
        if not assembler.answered:
            raise self._no_completion(f"{completion!r:.200}")
        assembler.rest()
        return assembler.whole(time.monotonic() - began)

    async def _streamed(self, request: dict[str, Any], assembler: Assembler) -> ResponseStream:
        began = time.monotonic()
        async with aclosing(self._chunks({**request, "stream": True})) as chunks:
            async for chunk in chunks:
                if piece := assembler.take(chunk):
                    yield piece
        if assembler.answered and assembler.finish_reason is None:
            raise TransientModelError(
                f"The model {self.model!r} at {self._connection.where} broke off in the middle of "
                "its answer: the stream ended without a finish_reason; try again."
            )
        if piece := assembler.rest():
            yield piece
        yield assembler.whole(time.monotonic() - began)

    async def _chunks(self, request: dict[str, Any]) -> AsyncGenerator[Any, None]:
        stream = await self._send(request)
        empty = True
        try:
            while True:
                try:
                    chunk = await anext(stream, _END)
                except Exception as error:
                    raise self._connection.error(error) from error
                if chunk is _END:
                    break
                empty = False
                yield chunk
        finally:
            await stream.close()
        if empty:
            kind = stream.response.headers.get("content-type", "")
            if "event-stream" not in kind:
                raise self._no_completion(f"a body of type {kind!r}")

    async def _send(self, request: dict[str, Any]) -> Any:
        """Send the request and return a completion, or a stream of it.

        `Any`, since the client does not validate the server's data.
        """
        client = await self._connection.client()
        while True:
            asks_for_usage = request["stream"] and self._asks_for_usage
            extra = {"stream_options": {"include_usage": True}} if asks_for_usage else {}
            try:
                return await client.chat.completions.create(**_arguments({**request, **extra}))
            except Exception as error:
                if not (asks_for_usage and _refuses_usage(error)):
                    raise self._connection.error(error) from error
            self._asks_for_usage = False

    def _no_completion(self, what: str) -> ModelError:
        mend = f"check base_url, or try stream={not self.stream}"
        return self._connection.no_completion(what, mend)


def _checked(fields: Mapping[str, Any]) -> dict[str, Any]:
    for name in fields:
        if name in _OF_THE_MODEL:
            raise ConfigurationError(
                f"{name!r} cannot be given as a field of the request: the model sets it itself"
            )
    return dict(fields)


def _arguments(request: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments for the client, which refuses unknown names.

    Further fields of compatible servers (`top_k`, ...) are sent in `extra_body`.
    """
    given = {name: request.pop(name) for name in _OF_THE_CLIENT if name in request}
    body = {**given.pop("extra_body", {})}
    named = {name: request.pop(name) for name in ("model", "messages", "stream")}
    return {**named, **given, "extra_body": clean_all({**request, **body})}


def _names(tools: list[dict[str, Any]]) -> list[str]:
    return [tool["function"]["name"] for tool in tools]


def _chosen(tools: list[dict[str, Any]], choice: ToolChoice | None) -> list[dict[str, Any]]:
    """Return the tools in the request: those that the choice lists."""
    if choice is None:
        return tools
    known = _names(tools)
    for name in [*(choice.tools or []), *([choice.tool_name] if choice.tool_name else [])]:
        if name not in known:
            modes = () if choice.tools and name in choice.tools else ("auto", "none", "required")
            raise ConfigurationError(
                f"the tool choice names {name!r}, which is not a tool that the model is shown"
                f"{nearest(name, [*known, *modes])}"
            )
    if choice.tools is None:
        return tools
    return [tool for tool in tools if tool["function"]["name"] in choice.tools]


def _tool_fields(tools: list[dict[str, Any]], choice: ToolChoice | None) -> dict[str, Any]:
    if not tools:
        return {}
    if choice is None:
        return {"tools": tools}
    name = choice.tool_name
    wanted = {"type": "function", "function": {"name": name}} if name else choice.mode
    return {"tools": tools, "tool_choice": wanted}


def _refuses_usage(error: Exception) -> bool:
    """Return whether the server refused the request because it asks for the token usage."""
    status = getattr(error, "status_code", None)
    told = f"{error} {getattr(error, 'body', '')}"
    return status in (400, 422) and ("stream_options" in told or "include_usage" in told)
