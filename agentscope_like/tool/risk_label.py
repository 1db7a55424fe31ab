"""The label by which a model says how risky a call is: it can only make the call ask.

It is a property beside the arguments. Its name is none that the tool's own schema mentions, and it
is removed before the arguments are validated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["is_high", "label_name", "with_label"]

_NAME = "security_risk"
_LABELS = ("UNKNOWN", "LOW", "MEDIUM", "HIGH")
_HARMLESS = frozenset({"", "UNKNOWN", "LOW", "MEDIUM"})
_DESCRIPTION = (
    "How risky the call is. LOW: it only reads, or changes nothing that matters. MEDIUM: it "
    "changes files or settings that can be restored. HIGH: it may destroy data, show secrets or "
    "reach outside. UNKNOWN: you cannot tell."
)


def label_name(schema: Mapping[str, Any]) -> str:
    """Return the name of the label's property, which nothing in the tool's schema mentions."""
    taken = set(_mentioned(schema))
    name = _NAME
    while name in taken:
        name = f"{name}_"
    return name


def with_label(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with the label as its first property, which may be left out."""
    label = {"type": "string", "enum": list(_LABELS), "description": _DESCRIPTION}
    properties = {label_name(schema): label, **schema.get("properties", {})}
    return {**schema, "properties": properties}


def is_high(label: object) -> bool:
    """Return whether the label makes a call ask: HIGH does, and what is no label at all."""
    if label is None:
        return False
    return not isinstance(label, str) or label.strip().upper() not in _HARMLESS


def _mentioned(value: Any) -> list[str]:
    """Return all names and texts in a schema."""
    found: list[str] = []
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, Mapping):
            found += (key for key in one if isinstance(key, str))
            left += one.values()
        elif isinstance(one, list | tuple):
            left += one
    return found
