"""Finds fields that are marked secret, and keeps their values out of texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, SecretBytes, SecretStr
from pydantic.fields import FieldInfo

__all__ = ["has_secrets", "marked_values", "secret_values", "without_values"]

HIDDEN = "**********"
_MOST_DEPTH = 60
_BRANCHES = ("allOf", "anyOf", "oneOf", "if", "then", "else")


def has_secrets(schema: Any) -> bool:
    """Return whether a JSON Schema marks a part as secret, at any depth."""
    if isinstance(schema, Mapping):
        return _marks(schema) or any(map(has_secrets, schema.values()))
    return isinstance(schema, list) and any(map(has_secrets, schema))


def marked_values(schema: Mapping[str, Any], value: Any) -> list[str]:
    """Return the texts in a value whose parts a JSON Schema marks as secret, the longest first."""
    return _sorted(_marked(schema, value, schema, 0))


def secret_values(value: Any) -> list[str]:
    """Return the texts in a model's secret fields, at any depth, the longest first."""
    return _sorted(_texts(value, is_secret=False))


def without_values(text: str, values: Iterable[str]) -> str:
    """Return the text with each of these values hidden, also where it is quoted as code."""
    for value in values:
        for form in (value, repr(value)[1:-1], json.dumps(value)[1:-1]):
            text = text.replace(form, HIDDEN)
    return text


def _marks(schema: Mapping[str, Any]) -> bool:
    is_secret = schema.get("secret") is True or schema.get("writeOnly") is True
    return is_secret or schema.get("format") == "password"


def _marked(schema: Any, value: Any, root: Mapping[str, Any], depth: int) -> Iterator[str]:
    """Yield the texts in the parts of a value that the schema marks, in any of its branches."""
    if not isinstance(schema, Mapping) or depth > _MOST_DEPTH:
        return
    if _marks(schema):
        yield from _texts(value, is_secret=True)
        return
    reference = schema.get("$ref")
    inner = [_resolved(reference, root)] if isinstance(reference, str) else []
    for key in _BRANCHES:
        branches = schema.get(key, ())
        inner += branches if isinstance(branches, list | tuple) else [branches]
    for one in inner:
        yield from _marked(one, value, root, depth + 1)
    if isinstance(value, Mapping):
        properties = schema.get("properties", {})
        rest = [schema.get("additionalProperties"), *schema.get("patternProperties", {}).values()]
        for name, item in value.items():
            for one in (properties.get(name), *rest):
                yield from _marked(one, item, root, depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            for one in (schema.get("items"), *schema.get("prefixItems", ())):
                yield from _marked(one, item, root, depth + 1)


def _resolved(reference: str, root: Mapping[str, Any]) -> Any:
    """Return the part of the schema that a reference within it names; None for no such part."""
    found: Any = root
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _sorted(texts: Iterable[str]) -> list[str]:
    return sorted({text for text in texts if text}, key=len, reverse=True)


def _texts(value: Any, *, is_secret: bool) -> Iterator[str]:
    if isinstance(value, SecretStr | SecretBytes):
        revealed = value.get_secret_value()
        yield revealed if isinstance(revealed, str) else revealed.decode("utf-8", "replace")
    elif isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            yield from _texts(getattr(value, name), is_secret=is_secret or _is_marked(field))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if is_secret:
                yield str(key)
            yield from _texts(item, is_secret=is_secret)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _texts(item, is_secret=is_secret)
    elif is_secret and value is not None and not isinstance(value, bool):
        yield str(value)


def _is_marked(field: FieldInfo) -> bool:
    extra = field.json_schema_extra
    return isinstance(extra, Mapping) and has_secrets(dict(extra))
