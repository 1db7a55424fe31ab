"""Records what a model can do, and removes from requests what it cannot (seed 003, 2.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from agentscope_like.model.dual.families import ModelFamily, family_of, family_table

__all__ = ["IMAGE_LEFT_OUT", "ModelCapabilities", "sanitize_model_request_kwargs"]

IMAGE_LEFT_OUT = "[An image was left out here: this model cannot see images.]"
"""The text that replaces an image that a model cannot see."""

_IMAGE_PARTS = frozenset({"image", "image_url", "input_image"})
_EMPTY: tuple[object, ...] = (None, "", [], {})


class ModelCapabilities(Struct, frozen=True):
    """What a model can do; None is unknown, and leaves requests unchanged.

    Attributes:
        supports_multimodal: Whether it sees images.
        supports_structured_output: Whether an answer follows the schema in `response_format`.
        supports_reasoning: Whether it takes `reasoning_effort`; None decides by its name.
    """

    supports_multimodal: bool | None = None
    supports_structured_output: bool | None = None
    supports_reasoning: bool | None = None


_NOTHING_KNOWN = ModelCapabilities()


def sanitize_model_request_kwargs(
    request: Mapping[str, Any], capabilities: ModelCapabilities = _NOTHING_KNOWN
) -> dict[str, Any]:
    """Return the request without the fields that its model refuses (seed 003, 2.2).

    It removes `supports_*`, which are settings and not fields; empty sampling parameters; fields
    that the model's family refuses; `response_format` if the model has no structured output; and
    `reasoning_effort` if it does not reason. `max_tokens` becomes `max_completion_tokens` if the
    model requires that. An image that the model cannot see is replaced with a text that says so.
    Fields in `extra_body` are treated alike.

    Args:
        request: Arguments of `chat.completions.create`; not changed.
        capabilities: What the model can do.

    Returns:
        A new dictionary, which shares unchanged values.
    """
    rules = _Rules(request, capabilities)
    sanitized = rules.applied_to(request)
    if isinstance(body := sanitized.get("extra_body"), Mapping):
        sanitized["extra_body"] = rules.applied_to(body)
    return sanitized


class _Rules:
    """The rules for one request."""

    def __init__(self, request: Mapping[str, Any], capabilities: ModelCapabilities) -> None:
        body = request.get("extra_body")
        fields = {**request, **body} if isinstance(body, Mapping) else request
        family = family_of(str(fields.get("model", "")))
        self._refused = _refused(family, capabilities, fields.get("reasoning_effort"))
        self._takes_max_tokens = family.takes_max_tokens
        self._takes_images = capabilities.supports_multimodal is not False

    def applied_to(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        kept = {name: value for name, value in fields.items() if self._keeps(name, value)}
        if not self._takes_max_tokens and "max_tokens" in kept:
            limit = kept.pop("max_tokens")
            kept.setdefault("max_completion_tokens", limit)
        if not self._takes_images and "messages" in kept:
            kept["messages"] = _without_images(kept["messages"])
        return kept

    def _keeps(self, name: str, value: object) -> bool:
        if name.startswith("supports_") or name in self._refused or _is_omitted(value):
            return False
        return name not in family_table().optional or value not in _EMPTY


def _refused(family: ModelFamily, capabilities: ModelCapabilities, effort: object) -> set[str]:
    refused = set(family.refuses)
    samples = {"always": True, "without reasoning": effort == "none", "never": False}
    if not samples[family.takes_sampling]:
        refused |= family_table().sampling
    if capabilities.supports_structured_output is False:
        refused.add("response_format")
    reasons = capabilities.supports_reasoning
    if (family.takes_reasoning_effort if reasons is None else reasons) is False:
        refused.add("reasoning_effort")
    return refused


def _is_omitted(value: object) -> bool:
    """Return whether it is the client library's marker for an omitted argument.

    It is recognised by its name, so that the library need not be loaded.
    """
    kind = type(value)
    return kind.__name__ in {"NotGiven", "Omit"} and kind.__module__.split(".")[0] == "openai"


def _without_images(messages: Any) -> Any:
    """Return the messages, JSON of any shape or objects of the client, without images."""
    if isinstance(messages, str | Mapping) or not isinstance(messages, Iterable):
        return messages
    return [_message_without_images(message) for message in messages]


def _message_without_images(message: Any) -> Any:
    content = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(content, list | tuple) or not any(map(_is_image, content)):
        return message
    text = {"type": "text", "text": IMAGE_LEFT_OUT}
    return {**message, "content": [text if _is_image(part) else part for part in content]}


def _is_image(part: object) -> bool:
    return isinstance(part, Mapping) and part.get("type") in _IMAGE_PARTS
