"""Checks the JSON Schemas of objects that a model is to return."""

from __future__ import annotations

from typing import Any

from agentscope_like.exception import ConfigurationError
from agentscope_like.tool.base import without_titles

__all__ = ["object_schema"]


def object_schema(schema: object, setting: str) -> dict[str, Any]:
    """Return the JSON Schema of an object, without titles.

    Args:
        schema: The JSON Schema, a dictionary.
        setting: The name of the setting, for messages.

    Raises:
        ConfigurationError: It is not the JSON Schema of an object with properties.
    """
    if not isinstance(schema, dict):
        raise ConfigurationError(
            f"`{setting}` is {schema!r:.200}: give a JSON Schema as a dictionary, or a pydantic "
            "model class for structured output"
        )
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        raise ConfigurationError(
            f"`{setting}` describes no object with `properties`: put what is wanted into a field "
            "of one"
        )
    return without_titles(schema)
