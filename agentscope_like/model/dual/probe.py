"""Probes what a model can do by sending it requests (seed 003, 2.3)."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agentscope_like.exception import ModelError
from agentscope_like.model.dual.capabilities import ModelCapabilities, sanitize_model_request_kwargs
from agentscope_like.model.failure import model_error, no_completion

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = [
    "probe_capabilities",
    "probe_connection",
    "probe_multimodal",
    "probe_structured_output",
]

_log = logging.getLogger(__name__)

# Seconds that one request of each probe may take, and tokens that its answer may have.
CONNECTION_TIMEOUT, CONNECTION_TOKENS = 10.0, 5
STRUCTURED_TIMEOUT, STRUCTURED_TOKENS = 20.0, 20
IMAGE_TIMEOUT, IMAGE_TOKENS = 30.0, 20

ROOM_FOR_REASONING = 2_000
"""Further tokens for an answer that was cut off: some models reason before they answer."""

_SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}
# Nothing in the question asks for JSON: a server that ignores the format gives itself away.
_STRUCTURED: dict[str, Any] = {
    "messages": [{"role": "user", "content": "Can you read this?"}],
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "probe", "strict": True, "schema": _SCHEMA},
    },
}

_RED_SQUARE = (  # PNG, 64 x 64: some servers refuse smaller images
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAS0lEQVR42u3PQQkAAAgAsetfWiP4FgYrsKZeS0BAQEBA"
    "QEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEDgsqnc8OJg6Ln3AAAAAElFTkSuQmCC"
)
_LOOK = "What colour is the square in this image? Answer with one word, in English."
_IMAGE: dict[str, Any] = {
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": _LOOK},
                {
                    "type": "image_url",
                    "image_url": {"url": f"data:image/png;base64,{_RED_SQUARE}"},
                },
            ],
        }
    ]
}
_RED = re.compile(r"\bred\b", re.IGNORECASE)

_BAD_REQUEST = 400
_NO_ROOM = "output limit was reached"
_OTHER_LIMIT = "max_completion_tokens"


async def probe_capabilities(
    client: AsyncOpenAI, model: str, known: ModelCapabilities | None = None
) -> ModelCapabilities:
    """Return what a model can do, after checking that it answers.

    Args:
        client: Reaches the model.
        model: Its name.
        known: Known capabilities; only those that are None are probed.

    Raises:
        ModelError: The model cannot be reached; see `probe_connection`.
    """
    known = known or ModelCapabilities()
    await probe_connection(client, model)
    async with asyncio.TaskGroup() as probes:
        structured = probes.create_task(
            _unless_known(
                known.supports_structured_output, lambda: probe_structured_output(client, model)
            )
        )
        images = probes.create_task(
            _unless_known(known.supports_multimodal, lambda: probe_multimodal(client, model))
        )
    return replace(
        known,
        supports_structured_output=structured.result(),
        supports_multimodal=images.result(),
    )


async def probe_connection(client: AsyncOpenAI, model: str) -> None:
    """Check that the model answers a request of one word.

    Raises:
        ModelError: It does not answer within 10 seconds: the server cannot be reached or is not a
            chat-completions server, or the key or the model's name is wrong. The message says how
            to fix it.
    """
    request = {"messages": [{"role": "user", "content": "Hi"}]}
    try:
        await _ask(client, model, request, CONNECTION_TOKENS, CONNECTION_TIMEOUT)
    except Exception as error:
        raise _told(error, client, model) from error


async def probe_structured_output(client: AsyncOpenAI, model: str) -> bool:
    """Return whether the model's answer follows a JSON Schema; False after any failure.

    An answer that is cut at 20 tokens is asked for again with room for reasoning.
    """
    answer = await _answer(client, model, _STRUCTURED, STRUCTURED_TOKENS, STRUCTURED_TIMEOUT)
    try:
        found = json.loads(answer)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "ok" in found


async def probe_multimodal(client: AsyncOpenAI, model: str) -> bool:
    """Return whether the model sees that an image is red; False after any failure.

    An answer that is cut at 20 tokens is asked for again with room for reasoning.
    """
    answer = await _answer(client, model, _IMAGE, IMAGE_TOKENS, IMAGE_TIMEOUT)
    return _RED.search(answer) is not None


async def _unless_known(known: bool | None, probe: Callable[[], Awaitable[bool]]) -> bool:
    return await probe() if known is None else known


async def _answer(
    client: AsyncOpenAI, model: str, request: dict[str, Any], tokens: int, seconds: float
) -> str:
    """Return the model's answer, empty if it failed."""
    try:
        answer = await _ask(client, model, request, tokens, seconds)
        if answer is None:
            answer = await _ask(client, model, request, tokens + ROOM_FOR_REASONING, seconds)
    except Exception as error:
        _log.info("A probe failed: %s", _told(error, client, model).message)
        return ""
    return answer or ""


async def _ask(
    client: AsyncOpenAI, model: str, request: dict[str, Any], tokens: int, seconds: float
) -> str | None:
    """Return the model's answer, or None if the token limit cut it off."""
    sent = sanitize_model_request_kwargs({**request, "model": model, "max_tokens": tokens})
    try:
        completion = await _completion(client, sent, seconds)
    except Exception as error:
        if _refuses(error, _NO_ROOM):
            return None
        raise
    choices = getattr(completion, "choices", None)
    if not isinstance(choices, list) or not choices:
        raise no_completion(f"{completion!r:.200}", str(client.base_url))
    if getattr(choices[0], "finish_reason", None) == "length":
        return None
    content = getattr(getattr(choices[0], "message", None), "content", None)
    return content if isinstance(content, str) else ""


async def _completion(client: AsyncOpenAI, request: dict[str, Any], seconds: float) -> Any:
    """Return the completion, which the client does not validate.

    A model of an unknown family, such as a named deployment, may require the other name of the
    token limit.
    """
    async with asyncio.timeout(seconds):
        try:
            return await client.chat.completions.create(**request)
        except Exception as error:
            if "max_tokens" not in request or not _refuses(error, _OTHER_LIMIT):
                raise
        limit = {_OTHER_LIMIT: request.pop("max_tokens")}
        return await client.chat.completions.create(**request, **limit)


def _refuses(error: Exception, words: str) -> bool:
    return getattr(error, "status_code", None) == _BAD_REQUEST and words in str(error)


def _told(error: Exception, client: AsyncOpenAI, model: str) -> ModelError:
    where = str(client.base_url)
    return model_error(error, model=model, where=where, secret=client.api_key)
