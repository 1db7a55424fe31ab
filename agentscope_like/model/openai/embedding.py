"""Embeds texts with OpenAI or a compatible server (seed 003, 2.1)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from agentscope_like.exception import ConfigurationError, ModelError
from agentscope_like.model.dual import DualAsyncOpenAI
from agentscope_like.model.openai.clean_text import clean
from agentscope_like.model.openai.connection import Connection
from agentscope_like.model.retry import Backoff, Sleep
from agentscope_like.types import ErrorType

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["OpenAIEmbeddingModel"]


class OpenAIEmbeddingModel:
    """A model that computes a vector for each text.

    Args:
        model: Its name on the server.
        api_key: The key; by default the environment variable OPENAI_API_KEY.
        base_url: The base URL of the server's API; by default OPENAI_BASE_URL, else OpenAI's.
        client: A client to use instead of a new one; the caller closes it. With a
            `DualAsyncOpenAI`, the standard client computes embeddings.
        dimensions: The length of a vector (default 1,024); None for the model's own length, which
            models without this setting require.
        batch_size: The maximum number of texts in one request (default 10).
        max_retries: How often a request is retried after a transient failure.
        retry_delay: Seconds before the first retry, doubled each time; a server's `Retry-After` of
            up to a minute takes precedence.
        sleep: Waits between retries; `asyncio.sleep` by default.

    Raises:
        ConfigurationError: A number is out of range, or `base_url` is not a URL.
    """

    def __init__(
        self,
        model: str = "text-embedding-3-large",
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        client: AsyncOpenAI | DualAsyncOpenAI | None = None,
        dimensions: int | None = 1024,
        batch_size: int = 10,
        max_retries: int = 3,
        retry_delay: float = 1.0,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        if batch_size < 1 or (dimensions is not None and dimensions < 1):
            raise ConfigurationError("`batch_size` and `dimensions` are numbers from 1 on")
        if max_retries < 0 or retry_delay < 0:
            raise ConfigurationError("`max_retries` and `retry_delay` cannot be negative")
        self.model = model
        self.dimensions = dimensions
        self.batch_size = batch_size
        self._retries = max_retries, retry_delay, sleep
        self._connection = Connection(model, api_key=api_key, base_url=base_url, client=client)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the vector of each text, in the order of the texts.

        Args:
            texts: The texts; none of them may be empty.

        Raises:
            ConfigurationError: One text was given instead of a sequence of them.
            ModelError: A text is empty; the server failed, or did not return a vector for each
                text.
        """
        if isinstance(texts, str):
            raise ConfigurationError("`texts` is one text: give a list of texts")
        for number, text in enumerate(texts):
            if not text.strip():
                raise ModelError(
                    f"Text {number} is empty and has no vector: leave it out.",
                    type=ErrorType.INVALID_REQUEST,
                )
        vectors: list[list[float]] = []
        for start in range(0, len(texts), self.batch_size):
            batch = [clean(text) for text in texts[start : start + self.batch_size]]
            vectors += await self._embedded(batch)
        return vectors

    async def close(self) -> None:
        """Close the connections, unless the client was given."""
        await self._connection.close()

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

    async def _embedded(self, batch: list[str]) -> list[list[float]]:
        tries = Backoff(*self._retries)
        while True:
            try:
                return self._vectors(await self._send(batch), len(batch))
            except ModelError as error:
                failure = error
            await tries.pause(failure)

    async def _send(self, batch: list[str]) -> Any:
        """Return the response, which the client does not validate."""
        client = await self._connection.client()
        fields: dict[str, Any] = {} if self.dimensions is None else {"dimensions": self.dimensions}
        try:
            return await client.embeddings.create(model=self.model, input=batch, **fields)
        except Exception as error:
            raise self._connection.error(error) from error

    def _vectors(self, answer: Any, count: int) -> list[list[float]]:
        """Return the vectors by index; there must be one of the right size for each text."""
        items = getattr(answer, "data", None) or []
        found = {getattr(item, "index", None): getattr(item, "embedding", None) for item in items}
        vectors = [found.get(index) for index in range(count)]
        sizes = {len(vector) if isinstance(vector, list) else None for vector in vectors}
        if len(items) != count or None in sizes or len(sizes) > 1:
            what = f"{len(items)} vectors for {count} texts, of the sizes {sizes}"
        elif self.dimensions not in (None, *sizes):
            what = f"vectors of the size {sizes.pop()}, where {self.dimensions} was asked for"
        else:
            return [vector for vector in vectors if vector is not None]
        raise ModelError(
            f"The model {self.model!r} at {self._connection.where} answered with {what}: give the "
            "`dimensions` that it has, or None, and check base_url.",
            type=ErrorType.UPSTREAM,
        )
