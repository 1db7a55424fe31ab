"""Builds span attributes: OpenTelemetry's GenAI conventions, and this project's own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agentscope_like.permission import PermissionDecision

__all__ = [
    "OWN",
    "confinement_attributes",
    "decision_attributes",
    "error_type",
    "usage_attributes",
    "without_quotes",
    "without_values",
]

OWN = "agentscope_like"
"""The namespace of attributes that the conventions do not define."""

_QUOTED = re.compile(r"`[^`]*`?")
_SHORTEST_ARGUMENT = 3


def decision_attributes(
    decision: PermissionDecision, arguments: str, *, quotes: bool
) -> dict[str, str | bool]:
    """Return the attributes of a decision.

    Args:
        decision: The decision.
        arguments: The arguments of the call, as JSON text.
        quotes: Whether the reason and the rule may quote the arguments.
    """

    def told(text: str) -> str:
        return text if quotes else without_quotes(text, arguments)

    attributes: dict[str, str | bool] = {
        f"{OWN}.decision.behavior": decision.behavior.value,
        f"{OWN}.decision.reason": told(decision.decision_reason or decision.message),
        f"{OWN}.decision.bypass_immune": decision.bypass_immune,
    }
    if decision.row is not None:
        attributes[f"{OWN}.decision.row"] = decision.row.name.lower()
    if decision.rule is not None:
        attributes[f"{OWN}.decision.rule"] = told(str(decision.rule))
    return attributes


def without_quotes(reason: str, arguments: str) -> str:
    """Return the reason without text in backquotes and without values of the arguments."""
    return without_values(_QUOTED.sub("`…`", reason), [arguments])


def without_values(text: str, calls: Iterable[str]) -> str:
    """Return the text without the strings in the arguments of calls, plain or escaped.

    Args:
        text: A text that may repeat them.
        calls: The arguments of each call, as JSON text.
    """
    values = {value for arguments in calls for value in _texts_of(arguments)}
    lines = {line for value in values for line in (value, *value.splitlines())}
    forms = {form for line in lines for form in (line, repr(line)[1:-1], json.dumps(line)[1:-1])}
    for form in sorted(forms, key=len, reverse=True):
        if len(form) >= _SHORTEST_ARGUMENT:
            text = text.replace(form, "…")
    return text


def _texts_of(arguments: str) -> Iterator[str]:
    try:
        remaining: list[Any] = [json.loads(arguments)]
    except (ValueError, RecursionError):
        return
    while remaining:
        value = remaining.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            remaining.extend(value.values())
        elif isinstance(value, list):
            remaining.extend(value)


def confinement_attributes(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return how a command was confined, and what confinement refused it; not its output.

    Args:
        metadata: The metadata of a tool's result.
    """
    attributes: dict[str, str] = {}
    kind = metadata.get("confinement")
    if isinstance(kind, str):
        attributes[f"{OWN}.confinement"] = kind
    violation = metadata.get("violation")
    if isinstance(violation, Mapping):
        attributes[f"{OWN}.violation"] = str(violation.get("kind"))
    return attributes


def error_type(error: BaseException) -> str:
    """Return `error.type`: the class of the error, with its module unless it is built in."""
    kind = type(error)
    if kind.__module__ == "builtins":
        return kind.__qualname__
    return f"{kind.__module__}.{kind.__qualname__}"


def usage_attributes(response: Any) -> dict[str, int | tuple[str, ...]]:
    """Return the token usage of a model's answer and why it ended.

    Args:
        response: A `ChatResponse`, whose type this layer cannot import.
    """
    attributes: dict[str, int | tuple[str, ...]] = {}
    reason = getattr(response, "finished_reason", None)
    if reason is not None:
        attributes["gen_ai.response.finish_reasons"] = (str(reason),)
    usage = getattr(response, "usage", None)
    if usage is not None:
        attributes["gen_ai.usage.input_tokens"] = usage.input_tokens
        attributes["gen_ai.usage.output_tokens"] = usage.output_tokens
        attributes["gen_ai.usage.cache_read.input_tokens"] = usage.cache_input_tokens
        attributes["gen_ai.usage.cache_creation.input_tokens"] = usage.cache_creation_input_tokens
    return attributes
