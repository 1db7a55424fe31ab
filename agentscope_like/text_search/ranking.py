"""Orders texts by how well they fit a search."""

from __future__ import annotations

import math
from collections.abc import Iterable

from msgspec import Struct

from agentscope_like.text_search.query import SearchQuery, fold

__all__ = ["Ranked", "rank"]

# The usual parameters of BM25 (Robertson and Zaragoza 2009, section 3.5): how soon repetition
# stops to count, and how much a long text is held back.
_SATURATION = 1.2
_LENGTH = 0.75


class Ranked(Struct, frozen=True):
    """A text that a search found.

    Attributes:
        position: Which of the given texts it is, from 0.
        score: How well it fits; more is better, and only texts of one search can be compared.
    """

    position: int
    score: float


def rank(query: SearchQuery, texts: Iterable[str]) -> list[Ranked]:
    """Return the texts with any word of a search, the best first; equal ones in the given order.

    A rare word counts more than a frequent one (BM25). Each text is looked at once and not kept.
    """
    matched: list[tuple[int, tuple[float, ...], int]] = []
    frequencies = [0] * (len(query.words) + len(query.parts))
    total = characters = 0
    for position, text in enumerate(texts):
        total += 1
        characters += len(text)
        weights = query.weights(fold(text))
        if any(weights):
            matched.append((position, weights, len(text)))
            frequencies = [n + (w > 0) for n, w in zip(frequencies, weights, strict=True)]
    rarities = [math.log(1 + (total - n + 0.5) / (n + 0.5)) for n in frequencies]
    mean = characters / total if characters else 1.0
    found = [
        Ranked(position, _score(weights, rarities, length / mean))
        for position, weights, length in matched
    ]
    return sorted(found, key=lambda one: -one.score)


def _score(weights: tuple[float, ...], rarities: list[float], length: float) -> float:
    held_back = _SATURATION * (1 - _LENGTH + _LENGTH * length)
    parts = (
        rarity * weight * (_SATURATION + 1) / (weight + held_back)
        for weight, rarity in zip(weights, rarities, strict=True)
        if weight
    )
    return round(sum(parts), 6)
