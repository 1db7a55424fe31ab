"""Decodes the escapes of ANSI-C quoting, `$'...'`."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["QUOTED", "decode"]

QUOTED: Final = re.compile(r"\$'([^'\\]*(?:\\.[^'\\]*)*)'", re.DOTALL)
"""A whole `$'...'`; the first group is the text between the quotes."""

_ESCAPE = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9A-Fa-f]{1,2})"
    r"|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|(.|\Z))",
    re.DOTALL,
)

_NAMED = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}

_LAST_ASCII = 0x7F
_DOUBTFUL_CODES = frozenset({0x00, 0x01, 0x7F})
"""NUL ends the string early; bash uses the other two as marks of its own."""


def decode(text: str) -> str | None:
    r"""Return the text that `$'text'` quotes, or None if an escape is doubtful.

    Doubtful are characters beyond ASCII (they depend on the locale), NUL, U+0001 and U+007F,
    control escapes (`\cx`) and escapes that bash does not define.
    """
    if "\\" not in text:
        return text
    pieces: list[str] = []
    end = 0
    for match in _ESCAPE.finditer(text):
        pieces.append(text[end : match.start()])
        end = match.end()
        named, octal, short_hex, short_code, long_code, _ = match.groups()
        if named is not None:
            pieces.append(_NAMED.get(named, named))
            continue
        digits = short_hex or short_code or long_code
        if octal is None and digits is None:
            return None
        code = int(octal, 8) if octal is not None else int(digits or "", 16)
        if code > _LAST_ASCII or code in _DOUBTFUL_CODES:
            return None
        pieces.append(chr(code))
    pieces.append(text[end:])
    return "".join(pieces)
