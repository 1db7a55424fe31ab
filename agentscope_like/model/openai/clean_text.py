"""Removes lone surrogates, which UTF-8 cannot encode, from text."""

from __future__ import annotations

from typing import Any

__all__ = ["SurrogateJoiner", "clean", "clean_all"]

_FIRST_HALVES = ("\ud800", "\udbff")


def clean(text: str) -> str:
    """Return `text` with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def clean_all(value: Any) -> Any:
    """Return the JSON-like value with every text in it cleaned, keys included.

    `Any`, for JSON of any shape.
    """
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean_all(key): clean_all(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [clean_all(inner) for inner in value]
    return value


class SurrogateJoiner:
    """Cleans streamed text; a piece may end within a surrogate pair."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """Return the text that is complete after `piece`."""
        text, self._held = self._held + piece, ""
        if text and _FIRST_HALVES[0] <= text[-1] <= _FIRST_HALVES[1]:
            text, self._held = text[:-1], text[-1]
        return clean(text)

    def flush(self) -> str:
        """Return the text held back, at the end of the stream."""
        text, self._held = self._held, ""
        return clean(text)
