"""Text that can be written down: free of halves of surrogate pairs, which UTF-8 cannot hold.

They come out of file names that are no UTF-8 and of the escapes of JSON.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

__all__ = ["Text", "printable"]


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


Text = Annotated[str, AfterValidator(printable)]
"""A text field that every message can carry and every state can store."""
