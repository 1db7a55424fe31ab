"""Joins base64 texts so that their bytes follow each other."""

from __future__ import annotations

from base64 import b64decode, b64encode

__all__ = ["join_base64"]

_GROUP = 4
"""Characters that stand for whole bytes."""


def join_base64(known: str, piece: str) -> str:
    """Return the base64 text of the bytes of both.

    A piece is either encoded by itself, so that it may end with padding, or it is the next part
    of one long text, which may be cut anywhere; such parts are joined as they are.
    """
    if not known.endswith("=") or len(known) % _GROUP:
        return known + piece
    try:
        tail = b64decode(known[-_GROUP:], validate=True) + b64decode(piece, validate=True)
    except ValueError:
        return known + piece
    return known[:-_GROUP] + b64encode(tail).decode()
