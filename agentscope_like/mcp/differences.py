"""Lists the differences between two definitions of a tool as readable lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from agentscope_like.permission.explain import visible

__all__ = ["differences"]

_CONTEXT = 40


def differences(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """Yield a line with the place of each value that was added, removed or changed.

    Changes are shown to their end, however long they are. Control and invisible characters are
    escaped, since definitions are not trusted.

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
        yield f"{_shown(place)}: {_changed(_text(before), _text(after))}"


def _changed(before: str, after: str) -> str:
    """Return both from shortly before the first difference to their ends."""
    pairs = zip(before, after, strict=False)
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    start = alike - _CONTEXT
    if start <= 0:
        return f"was {_shown(before)}, is {_shown(after)}"
    return f"was ...{_shown(before[start:])}, is ...{_shown(after[start:])}"


def _value(value: Any) -> str:
    return _shown(_text(value))


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _shown(text: str) -> str:
    return visible(text, layout="")
