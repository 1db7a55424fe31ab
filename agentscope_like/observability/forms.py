"""Lists the forms of a secret to mask: plain, encoded, escaped and split into lines."""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

from msgspec import Struct

__all__ = ["SHORTEST_SECRET", "SecretForms", "forms_of"]

SHORTEST_SECRET = 4
"""The minimum length of a secret; a shorter one occurs in ordinary text by chance."""

_SHORTEST_LINE = 16
_LETTERS = frozenset(string.ascii_letters + string.digits)
_SAFE = ("", "/", "!'()*~", "/:?#[]@!$&'()*+,;=~")
"""Characters that URL encoders keep: none; for paths; for components; for whole URLs."""


class SecretForms(Struct, frozen=True):
    """The forms to search for.

    Attributes:
        plain: Forms that are matched exactly.
        wrapped: Forms that also match with line breaks inside, as in the output of `base64`.
    """

    plain: frozenset[str]
    wrapped: frozenset[str]


def forms_of(secret: str) -> SecretForms:
    """Return every form of the secret to search for.

    They are the secret itself; as JSON text, once and twice; percent-encoded; in hexadecimal; and
    base64 of both alphabets at each of the three places in a group of three bytes where it may
    begin. In a secret of several lines, each long line is a secret as well.

    Args:
        secret: At least `SHORTEST_SECRET` characters.
    """
    plain: set[str] = set()
    wrapped: set[str] = set()
    for part in _parts(secret):
        data = part.encode("utf-8", "surrogatepass")
        plain.update((part, data.hex(), data.hex().upper()))
        plain.update(_json_forms(part))
        plain.update(_url_forms(part, data))
        wrapped.update(_base64_forms(data))
    plain.update(quote(form, safe="") for form in tuple(wrapped))
    return SecretForms(plain=frozenset(plain), wrapped=frozenset(wrapped))


def _parts(secret: str) -> Iterator[str]:
    yield secret
    lines = [line.strip() for line in secret.splitlines()]
    if len(lines) > 1:
        yield from (line for line in lines if len(line) >= _SHORTEST_LINE)


def _json_forms(text: str) -> Iterator[str]:
    for ascii_only in (True, False):
        once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield once
        yield once.replace("/", "\\/")
        yield json.dumps(once, ensure_ascii=ascii_only)[1:-1]


def _url_forms(text: str, data: bytes) -> Iterator[str]:
    encoded = [quote(data, safe=safe) for safe in _SAFE]
    encoded += [quote_plus(data, safe=safe) for safe in _SAFE]
    encoded.append("".join(f"%{byte:02X}" for byte in data))
    encoded.append("".join(chr(byte) if chr(byte) in _LETTERS else f"%{byte:02X}" for byte in data))
    for form in encoded:
        yield form
        yield _with_small_digits(form)
    yield text.replace(" ", "+")


def _with_small_digits(form: str) -> str:
    head, *escapes = form.split("%")
    return head + "".join(f"%{escape[:2].lower()}{escape[2:]}" for escape in escapes)


def _base64_forms(data: bytes) -> Iterator[str]:
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + data).decode()
        # Digits that also hold bits of the bytes around the secret are left out.
        first = -(-offset * 8 // 6)
        last = (offset + len(data)) * 8 // 6
        form = encoded[first:last]
        yield form
        yield form.replace("+", "-").replace("/", "_")
