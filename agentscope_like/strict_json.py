"""Reads JSON that can be read in one way only."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, NoReturn

__all__ = ["read_json"]

_SHOWN_CHARACTERS = 200


def read_json(text: str | bytes | bytearray) -> Any:
    """Return what the text says.

    Raises:
        ValueError: It is not JSON, or another reader could take it for something else: a key is
            given twice, or a number is none (NaN) or too large. The message says which and where.
        RecursionError: It is nested too deeply.
    """
    return _decode(text if isinstance(text, str) else text.decode())


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {_shortened(twice)!r} is given twice")
    return built


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(number: str) -> float:
    if math.isinf(value := float(number)):
        raise ValueError(f"the number {_shortened(number)} is out of range")
    return value


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "..."


_decode: Callable[[str], Any] = json.JSONDecoder(
    object_pairs_hook=_once, parse_constant=_no_constant, parse_float=_finite
).decode
