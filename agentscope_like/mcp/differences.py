"""Lists the differences between two definitions of a tool as readable lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from agentscope_like.permission.explain import visible

__all__ = ["differences"]

_SHOWN = 160
_CONTEXT = 40


def differences(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """Yield a line with the place of each value that was added, removed or changed.

    Control and invisible characters are escaped, since definitions are not trusted.

    Args:
        before: JSON.
        after: JSON.
        place: The place of both values, such as `inputSchema.properties`.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            inner = f"{place}.{key}" if place else key
            if key not in after:
                yield f"{_shown(inner)}: removed {_value(before[key])}"
            elif key not in before:
                yield f"{_shown(inner)}: added {_value(after[key])}"
            else:
                yield from differences(before[key], after[key], inner)
    elif json.dumps(before, sort_keys=True) != json.dumps(after, sort_keys=True):
        old, new = _apart(_text(before), _text(after))
        yield f"{_shown(place)}: was {old}, is {new}"


def _apart(before: str, after: str) -> tuple[str, str]:
    """Return both, from shortly before the first difference."""
    pairs = zip(before, after, strict=False)
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    start = max(0, alike - _CONTEXT)
    return _shown(before, start), _shown(after, start)


def _value(value: Any) -> str:
    return _shown(_text(value))


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _shown(text: str, start: int = 0) -> str:
    cut = visible(text[start : start + _SHOWN], layout="")
    before = "..." if start else ""
    return f"{before}{cut}..." if len(text) > start + _SHOWN else f"{before}{cut}"
