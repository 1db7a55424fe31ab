"""Masks secrets in the results of tools."""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any
from urllib.parse import quote

from pydantic import AnyUrl
from typing_extensions import override

from agentscope_like.exception import AgentOrientedException, ToolInterruptedError
from agentscope_like.message import (
    Base64Source,
    DataBlock,
    TextBlock,
    ToolChunk,
    ToolResponse,
    URLSource,
)
from agentscope_like.middleware import MiddlewareBase, NextHandler, ToolMiddlewareBase
from agentscope_like.observability.masker import SecretMasker

__all__ = ["MaskSecretsMiddleware"]


class MaskSecretsMiddleware(ToolMiddlewareBase, MiddlewareBase):
    """Masks secrets in the output, the metadata and the failures of tools.

    As a tool's middleware, it masks the tool's results before they are truncated, stored or shown;
    as an agent's, the results of all tools. Text is masked across chunks, and binary data within
    one block: there a secret is replaced by as many asterisks.

    Args:
        masker: Knows the secrets.
    """

    def __init__(self, masker: SecretMasker) -> None:
        self._masker = masker

    @override
    async def on_tool_call(
        self, tool: Any, input_kwargs: dict[str, Any], next_handler: NextHandler
    ) -> AsyncGenerator[ToolChunk, None]:
        output = _MaskedOutput(self._masker)
        try:
            async with aclosing(next_handler(**input_kwargs)) as stream:
                async for chunk in stream:
                    yield output.chunk(chunk)
        except Exception as error:
            masked = self._failure(tool.name, error)
            if (rest := output.rest()) is not None:
                yield rest
            if masked is None:
                raise
            raise masked from None
        if (rest := output.rest()) is not None:
            yield rest

    @override
    async def on_acting(
        self,
        agent: Any,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., AsyncGenerator[Any, None]],
    ) -> AsyncGenerator[Any, None]:
        output = _MaskedOutput(self._masker)
        async with aclosing(next_handler()) as stream:
            async for item in stream:
                if isinstance(item, ToolResponse):
                    if (rest := output.rest()) is not None:
                        yield rest
                    yield _MaskedOutput(self._masker).response(item)
                else:
                    yield output.chunk(item)

    def _failure(self, tool_name: str, error: Exception) -> Exception | None:
        """Return the exception to raise instead of one that contains a secret; else None."""
        told = error.message if isinstance(error, AgentOrientedException) else str(error)
        masked = self._masker.mask(told)
        if masked == told:
            return None
        if isinstance(error, ToolInterruptedError):
            return ToolInterruptedError(masked)
        if isinstance(error, AgentOrientedException):
            return AgentOrientedException(masked)
        return AgentOrientedException(f"{tool_name} failed: {type(error).__name__}: {masked}")


class _MaskedOutput:
    """The output of one run; its text is masked as one stream."""

    def __init__(self, masker: SecretMasker) -> None:
        self._masker = masker
        self._text = masker.stream()

    def chunk(self, chunk: ToolChunk) -> ToolChunk:
        """Return the chunk, without an end that may be the beginning of a secret."""
        content = [self._block(block) for block in chunk.content]
        metadata = self._masker.mask_value(chunk.metadata)
        return chunk.model_copy(update={"content": content, "metadata": metadata})

    def response(self, response: ToolResponse) -> ToolResponse:
        """Return the response with its texts masked as one."""
        content = [self._block(block) for block in response.content]
        if rest := self._text.flush():
            content.append(TextBlock(text=rest))
        metadata = self._masker.mask_value(response.metadata)
        return response.model_copy(update={"content": content, "metadata": metadata})

    def rest(self) -> ToolChunk | None:
        """Return a chunk with the text held back, if any."""
        text = self._text.flush()
        return ToolChunk(content=[TextBlock(text=text)]) if text else None

    def _block(self, block: TextBlock | DataBlock) -> TextBlock | DataBlock:
        if isinstance(block, TextBlock):
            return block.model_copy(update={"text": self._text.feed(block.text)})
        name = None if block.name is None else self._masker.mask(block.name)
        return block.model_copy(update={"source": self._source(block.source), "name": name})

    def _source(self, source: Base64Source | URLSource) -> Base64Source | URLSource:
        if isinstance(source, URLSource):
            masked = self._masker.mask(str(source.url))
            if masked == str(source.url):
                return source
            # The mask holds brackets, which stand in no address.
            return source.model_copy(
                update={"url": AnyUrl(quote(masked, safe="/:?#@!$&'()*+,;=%"))}
            )
        try:
            data = base64.b64decode(source.data, validate=True)
        except binascii.Error:  # a piece of a longer text, perhaps
            return source.model_copy(update={"data": self._masker.mask(source.data)})
        masked_data = self._masker.mask_bytes(data)
        if masked_data == data:
            return source
        return source.model_copy(update={"data": base64.b64encode(masked_data).decode()})
