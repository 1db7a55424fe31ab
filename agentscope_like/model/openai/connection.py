"""Connects to a model server, and turns failures into errors that say how to fix them."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from agentscope_like.exception import ConfigurationError, ModelError
from agentscope_like.model.dual import DualAsyncOpenAI, ModelType
from agentscope_like.model.failure import model_error, no_completion
from agentscope_like.types import ErrorType

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["Connection"]


class Connection:
    """A client of one model, created on first use unless one was given.

    Args:
        model: The model's name, for messages; None for that of a `DualAsyncOpenAI`.
        api_key: The key; by default the environment variable OPENAI_API_KEY.
        base_url: The base URL of the server's API; by default OPENAI_BASE_URL, else OpenAI's.
        client: A client to use instead of a new one; the caller closes it.
        model_type: Which model of a `DualAsyncOpenAI`.

    Attributes:
        model: The model's name.
        fields: Fields of every chat-completions request.

    Raises:
        ConfigurationError: `base_url` is not a URL, the model has no name, or model and client do
            not fit together.
    """

    def __init__(
        self,
        model: str | None,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        client: AsyncOpenAI | DualAsyncOpenAI | None = None,
        model_type: ModelType | None = None,
    ) -> None:
        if base_url is not None and not base_url.startswith(("http://", "https://")):
            raise ConfigurationError(
                f"`base_url` is {base_url!r}: give a whole URL, such as http://localhost:11434/v1"
            )
        self.fields: dict[str, Any] = {}
        self._server: AsyncOpenAI | None = None
        if isinstance(client, DualAsyncOpenAI):
            model = self._take_route(model, client, model_type or "standard")
        elif model_type is not None:
            raise ConfigurationError(
                "`model_type` is for a client of two models: give a DualAsyncOpenAI as `client`"
            )
        elif client is not None:
            self._server = client
        if model is None:
            raise ConfigurationError("`model` is missing: give the name that the server knows")
        self.model = model
        self._client = None if client is None else client.with_options(max_retries=0)
        self._owns_client = client is None
        self._api_key = api_key
        self._base_url = base_url
        self._making_client = asyncio.Lock()

    def _take_route(self, model: str | None, client: DualAsyncOpenAI, model_type: ModelType) -> str:
        endpoint = client.endpoint(model_type)
        if model_type == "fast" and model not in (None, endpoint.model):
            raise ConfigurationError(
                f"`model` is {model!r}, but the client's fast model is {endpoint.model!r}: leave "
                "`model` out, or name it in the client"
            )
        self.fields, self._server = {"model_type": model_type}, endpoint.client
        return model or endpoint.model

    async def client(self) -> AsyncOpenAI | DualAsyncOpenAI:
        """Return the client.

        Raises:
            ModelError: There is no key for OpenAI.
        """
        async with self._making_client:
            if self._client is None:
                self._client = self._server = await asyncio.to_thread(self._make_client)
            return self._client

    async def close(self) -> None:
        """Close the connections, unless the client was given."""
        if self._owns_client and self._client is not None:
            client, self._client = self._client, None
            await client.close()

    def error(self, error: Exception) -> ModelError:
        """Return the model error for an exception of the client."""
        secret = self._server.api_key if self._server is not None else self._api_key
        return model_error(error, model=self.model, where=self.where, secret=secret)

    def no_completion(self, what: str, mend: str) -> ModelError:
        """Return the error for a response without an answer."""
        return no_completion(what, self.where, mend)

    @property
    def where(self) -> str:
        """Return the server's address."""
        return str(self._server.base_url) if self._server is not None else str(self._base_url)

    def _make_client(self) -> AsyncOpenAI:
        """Return a new client; blocks while the library and certificates are loaded."""
        from openai import AsyncOpenAI

        key = self._api_key or os.environ.get("OPENAI_API_KEY")
        own_server = self._base_url or os.environ.get("OPENAI_BASE_URL")
        if not key and not own_server:
            raise ModelError(
                f"No API key for the model {self.model!r}: set OPENAI_API_KEY or pass api_key, or "
                "give the base_url of a server that needs none.",
                type=ErrorType.AUTHENTICATION,
            )
        return AsyncOpenAI(api_key=key or "none", base_url=self._base_url, max_retries=0)
