"""Suggests the nearest known name in error messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["nearest", "refuse_unknown_fields"]


def nearest(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean ...?` for the known name closest to `name`, or an empty string."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(name.casefold(), by_folded, n=1)
    return f"; did you mean {by_folded[close[0]]!r}?" if close else ""


def refuse_unknown_fields(
    data: object, known: Iterable[str], *, why: str = "a typo cannot weaken a rule"
) -> None:
    """Refuse a field that a model does not have, and suggest the nearest one.

    Args:
        data: The input of the model; only a dictionary has fields.
        known: The model's fields.
        why: Why unknown fields are refused, for the message.

    Raises:
        ValueError: A field is unknown.
    """
    if isinstance(data, dict) and (unknown := [name for name in data if name not in known]):
        raise ValueError(
            f"unknown field {unknown[0]!r}{nearest(str(unknown[0]), known)}; "
            f"unknown fields are refused so that {why}"
        )
