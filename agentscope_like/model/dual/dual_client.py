"""Combines a standard model, and a fast one for small tasks, in a client (seed 003, 2.2)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, get_args

from msgspec import Struct

from agentscope_like.exception import ConfigurationError
from agentscope_like.model.dual.capabilities import ModelCapabilities, sanitize_model_request_kwargs
from agentscope_like.model.dual.probe import probe_capabilities
from agentscope_like.model.dual.routed import ModelType, RoutedChat
from agentscope_like.nearest import nearest

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["DualAsyncOpenAI", "ModelEndpoint"]

_log = logging.getLogger(__name__)

_OF_BOTH = frozenset({"timeout", "max_retries"})


class ModelEndpoint(Struct, frozen=True):
    """A model and the client that reaches it.

    Attributes:
        client: A client of the model's server.
        model: The model's name on the server.
        capabilities: What the model can do, as far as it is known.
    """

    client: AsyncOpenAI
    model: str
    capabilities: ModelCapabilities

    @property
    def supports_multimodal(self) -> bool | None:
        """Return whether the model sees images; None if unknown."""
        return self.capabilities.supports_multimodal

    @property
    def supports_structured_output(self) -> bool | None:
        """Return whether its answers follow a schema; None if unknown."""
        return self.capabilities.supports_structured_output


class _Findings:
    """The capabilities of both models; a client and its copies share them."""

    def __init__(self, standard: ModelCapabilities, fast: ModelCapabilities) -> None:
        self.capabilities: dict[ModelType, ModelCapabilities] = {"standard": standard, "fast": fast}
        self.probing = asyncio.Lock()
        self.were_probed = False


class DualAsyncOpenAI:
    """An `AsyncOpenAI` whose `chat.completions` also take a `model_type`, "standard" or "fast".

    A request goes to the client of its type, without the fields that the model refuses
    (`sanitize_model_request_kwargs`). Other attributes of an `AsyncOpenAI` are the standard
    client's. If no fast model is configured, the standard model answers.

    A standard request may name another model of the same server, whose capabilities are unknown. A
    fast request always goes to the configured fast model: so adding `model_type="fast"` is enough
    to move a call to it.

    Args:
        standard_client: The client of the standard model.
        fast_client: The client of the fast model; by default the standard client.
        model: The standard model's name.
        fast_model: The fast model's name; None if there is none.
        capabilities: Known capabilities of the standard model; only those that are None are probed.
        fast_capabilities: The same for the fast model.

    Raises:
        ConfigurationError: A name is missing.
    """

    __slots__ = ("_fast_client", "_fast_model", "_findings", "_model", "_standard_client")

    def __init__(
        self,
        standard_client: AsyncOpenAI,
        fast_client: AsyncOpenAI | None = None,
        *,
        model: str,
        fast_model: str | None = None,
        capabilities: ModelCapabilities | None = None,
        fast_capabilities: ModelCapabilities | None = None,
    ) -> None:
        if not model or fast_model == "":
            raise ConfigurationError("a model has no name: give the one that its server knows")
        if fast_model is None and (fast_client is not None or fast_capabilities is not None):
            raise ConfigurationError(
                "a fast model is configured without its name: give `fast_model` as well"
            )
        self._standard_client = standard_client
        self._fast_client = fast_client or standard_client
        self._model = model
        self._fast_model = fast_model
        self._findings = _Findings(
            capabilities or ModelCapabilities(), fast_capabilities or ModelCapabilities()
        )

    @property
    def standard(self) -> ModelEndpoint:
        """Return the standard model."""
        known = self._findings.capabilities["standard"]
        return ModelEndpoint(self._standard_client, self._model, known)

    @property
    def fast(self) -> ModelEndpoint:
        """Return the fast model, or the standard one if there is none."""
        if self._fast_model is None:
            return self.standard
        known = self._findings.capabilities["fast"]
        return ModelEndpoint(self._fast_client, self._fast_model, known)

    def endpoint(self, model_type: ModelType) -> ModelEndpoint:
        """Return the model that answers requests of this type.

        Raises:
            ConfigurationError: There is no such type.
        """
        if model_type not in get_args(ModelType):
            raise ConfigurationError(
                f"`model_type` is {model_type!r}{nearest(str(model_type), get_args(ModelType))}; "
                'give "standard" or "fast"'
            )
        return self.fast if model_type == "fast" else self.standard

    @property
    def supports_multimodal(self) -> bool | None:
        """Return whether the standard model sees images; None before the probe.

        The fast model's flag is `fast.supports_multimodal`.
        """
        return self.standard.supports_multimodal

    @property
    def supports_structured_output(self) -> bool | None:
        """Return whether the standard model's answers follow a schema; None before the probe.

        The fast model's flag is `fast.supports_structured_output`.
        """
        return self.standard.supports_structured_output

    @property
    def chat(self) -> RoutedChat:
        """Return the chat completions of both models."""
        return RoutedChat(self._standard_client.chat, self._routed)

    async def probe(self) -> None:
        """Probe what the models can do, once; call it when the program starts.

        Each model is probed separately. A second call does nothing, except after a failure.

        Raises:
            ModelError: A model cannot be reached, or the server does not know its name; the message
                says how to fix it.
        """
        findings = self._findings
        async with findings.probing:
            if findings.were_probed:
                return
            found = dict(findings.capabilities)
            found["standard"] = await _probed(self.standard)
            if self._fast_model is not None:
                found["fast"] = await _probed(self.fast)
            findings.capabilities, findings.were_probed = found, True

    def with_options(self, **options: Any) -> DualAsyncOpenAI:
        """Return a copy with other options, which shares connections and probed capabilities.

        `timeout` and `max_retries` apply to both clients, other options only to the standard one:
        keys, headers and addresses belong to one server.

        Args:
            options: As for `AsyncOpenAI.with_options`.
        """
        standard, fast = self._standard_client.with_options(**options), None
        if self._fast_client is not self._standard_client:
            of_both = {name: options[name] for name in options if name in _OF_BOTH}
            fast = self._fast_client.with_options(**of_both)
        copy = DualAsyncOpenAI(standard, fast, model=self._model, fast_model=self._fast_model)
        copy._findings = self._findings
        return copy

    copy = with_options

    async def close(self) -> None:
        """Close the connections of both clients."""
        try:
            await self._standard_client.close()
        finally:
            if self._fast_client is not self._standard_client:
                await self._fast_client.close()

    async def __aenter__(self) -> Self:
        """Return the client itself, which is closed when the block ends."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __getattr__(self, name: str) -> Any:
        """Return the standard client's attribute of that name."""
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._standard_client, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._standard_client)})

    def __repr__(self) -> str:
        return f"{type(self).__name__}(model={self._model!r}, fast_model={self._fast_model!r})"

    def _routed(
        self, model_type: ModelType, request: Mapping[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        """Return the completions of the chosen client, and the request for it."""
        endpoint = self.endpoint(model_type)
        given = request.get("model") if model_type == "standard" else None
        model = given or endpoint.model
        known = endpoint.capabilities if model == endpoint.model else ModelCapabilities()
        sent = sanitize_model_request_kwargs({**request, "model": model}, known)
        if left_out := sorted(request.keys() - sent.keys()):
            _log.debug("left out of a request to %s: %s", model, ", ".join(left_out))
        return endpoint.client.chat.completions, sent


async def _probed(endpoint: ModelEndpoint) -> ModelCapabilities:
    return await probe_capabilities(endpoint.client, endpoint.model, endpoint.capabilities)
