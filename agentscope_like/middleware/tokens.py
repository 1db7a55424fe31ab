"""Counts tokens, and truncates text to a number of tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

__all__ = ["TokenCounter", "TokenEstimator", "head_of", "tail_of"]


class TokenCounter(Protocol):
    """Counts tokens; a longer text never has fewer of them than its parts."""

    def count(self, text: str) -> int:
        """Return the number of tokens of the text."""


class TokenEstimator:
    """Estimates tokens as UTF-8 bytes divided by four, rounded up.

    English text has one token per 4 letters. A letter of three bytes counts 0.75 and one of two
    bytes 0.5, which is close to real tokenizers.

    Args:
        bytes_per_token: The divisor (default 4).
    """

    def __init__(self, bytes_per_token: int = 4) -> None:
        self._bytes_per_token = bytes_per_token

    def count(self, text: str) -> int:
        """Return the estimate."""
        size = len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
        return -(-size // self._bytes_per_token)


def head_of(text: str, budget: int, counter: TokenCounter) -> str:
    """Return the longest prefix of the text with at most `budget` tokens."""
    return text[: _fitting(len(text), budget, lambda n: counter.count(text[:n]))]


def tail_of(text: str, budget: int, counter: TokenCounter) -> str:
    """Return the longest suffix of the text with at most `budget` tokens."""
    size = len(text)
    return text[size - _fitting(size, budget, lambda n: counter.count(text[size - n :])) :]


def _fitting(size: int, budget: int, count: Callable[[int], int]) -> int:
    """Return the largest number of characters, up to `size`, whose tokens are within the budget.

    The search starts at a guess from the budget, so that a short part of a long text is found
    without counting all of it.
    """
    fits, tried = 0, min(size, max(4 * budget, 1))
    while count(tried) <= budget:
        if tried == size:
            return size
        fits, tried = tried, min(size, 2 * tried)
    while tried - fits > 1:
        middle = (fits + tried) // 2
        if count(middle) <= budget:
            fits = middle
        else:
            tried = middle
    return fits
