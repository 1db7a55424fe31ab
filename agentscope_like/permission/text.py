"""Cleans text of lone surrogates, which UTF-8 cannot encode.

They come out of file names that are no UTF-8 and of the escapes of JSON.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, PlainSerializer

__all__ = ["Facts", "Text", "printable", "writable"]


def printable(text: str) -> str:
    """Return the text, its surrogate pairs joined and halves of pairs written out as escapes."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        return joined.encode(errors="backslashreplace").decode()
    return text


def writable(value: object) -> object:
    """Return a value of JSON with each of its texts made `printable`."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {writable(key): writable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [writable(item) for item in value]
    return value


def _cleaned(facts: dict[str, Any]) -> Any:
    return writable(facts) if facts else facts


Text = Annotated[str, AfterValidator(printable)]
"""A text field that every message can carry and every state can store."""

Facts = Annotated[dict[str, Any], PlainSerializer(_cleaned, when_used="json")]
"""Facts for programs, which may be changed in place: cleaned when they are written as JSON."""
