"""Changes of a regular expression: one alternative or one look-around fewer."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["changed_expressions"]

_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(|\)|\||.", re.DOTALL)
_LOOKS = ("(?!", "(?=", "(?<!", "(?<=")


def changed_expressions(pattern: str) -> Iterator[str]:
    """Yield the expression with one alternative or one look-around taken out of it."""
    for start, end in _removable(pattern):
        changed = pattern[:start] + pattern[end:]
        try:
            re.compile(changed)
        except re.error:
            continue
        if changed != pattern:
            yield changed


def _removable(pattern: str) -> Iterator[tuple[int, int]]:
    opened = [0]
    bars: list[list[int]] = [[]]
    for token in _TOKEN.finditer(pattern):
        if token[0] == "(":
            opened.append(token.start())
            bars.append([])
        elif token[0] == "|":
            bars[-1].append(token.start())
        elif token[0] == ")" and len(opened) > 1:
            start = opened.pop()
            if pattern.startswith(_LOOKS, start):
                yield start, token.end()
            yield from _alternatives(bars.pop(), token.start())
    yield from _alternatives(bars[0], len(pattern))


def _alternatives(bars: list[int], end: int) -> Iterator[tuple[int, int]]:
    """Yield each alternative but the first, together with the bar before it."""
    yield from zip(bars, [*bars[1:], end], strict=False)
