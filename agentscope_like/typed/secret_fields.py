"""Finds fields that are marked secret, and keeps their values out of texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, SecretBytes, SecretStr
from pydantic.fields import FieldInfo

__all__ = ["HIDDEN", "has_secrets", "secret_values", "shown_fields", "without_values"]

HIDDEN = "**********"
_MOST_SHOWN = 500


def has_secrets(schema: Any) -> bool:
    """Return whether a JSON Schema marks a part as secret, at any depth."""
    if isinstance(schema, dict):
        is_marked = (
            schema.get("secret") is True
            or schema.get("writeOnly") is True
            or schema.get("format") == "password"
        )
        return is_marked or any(map(has_secrets, schema.values()))
    return isinstance(schema, list) and any(map(has_secrets, schema))


def secret_values(value: Any) -> list[str]:
    """Return the texts in a model's secret fields, at any depth, the longest first."""
    found = {text for text in _texts(value, is_secret=False) if text}
    return sorted(found, key=len, reverse=True)


def without_values(text: str, values: Iterable[str]) -> str:
    """Return the text with each of these values hidden, also where it is quoted as code."""
    for value in values:
        for form in (value, repr(value)[1:-1], json.dumps(value)[1:-1]):
            text = text.replace(form, HIDDEN)
    return text


def shown_fields(model: BaseModel) -> dict[str, str]:
    """Return the fields that were given, as short texts, secret ones hidden."""
    hidden = secret_values(model)
    shown = {}
    for name in type(model).model_fields:
        if name not in model.model_fields_set:
            continue
        value = getattr(model, name)
        text = value if isinstance(value, str) else repr(value)
        text = without_values(text, hidden)
        shown[name] = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
    return shown


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
