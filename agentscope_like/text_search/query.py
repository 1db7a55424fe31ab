"""Splits texts into words and reads what a search asks for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path

from msgspec import Struct

from agentscope_like.toml_tables import WordSet, read_table

__all__ = ["MAX_TERMS", "SearchQuery", "SearchQueryError", "fold", "pieces"]

MAX_TERMS = 64
"""The most words of one search."""

_LAST_ALPHABET = 0x1FFFF
_SELECTORS = range(0xE0100, 0xE01F0)
"""Marks that choose one of several forms of the character before them."""

_WHOLE, _BEGINNING = 1.0, 0.5


class SearchQueryError(ValueError):
    """A search that asks for nothing, or for too much."""


class SearchQuery(Struct, frozen=True):
    """What a search asks for, in any case.

    Attributes:
        words: Words, which are found whole and as the beginnings of others.
        parts: Texts that are found anywhere: in scripts without blanks between words, and where
            the search has signs only, such as `->`.
    """

    words: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()

    @classmethod
    def read(cls, text: str) -> SearchQuery:
        """Return what a text asks for.

        Raises:
            SearchQueryError: It is blank, or has more than 64 words.
        """
        folded = fold(text).strip()
        words: dict[str, None] = {}
        parts: dict[str, None] = {}
        for _, piece, is_unspaced in pieces(folded):
            (parts if is_unspaced else words)[piece] = None
        if not words and not parts and folded:
            parts[folded] = None
        count = len(words) + len(parts)
        if not count:
            raise SearchQueryError("the search is blank: give words that the text has")
        if count > MAX_TERMS:
            raise SearchQueryError(
                f"the search has {count:,} words and may have {MAX_TERMS}: choose the rarest"
            )
        return cls(tuple(words), tuple(parts))

    def weights(self, text: str) -> tuple[float, ...]:
        """Return how often a text has each word and part; a word's beginning counts half.

        Args:
            text: A text as `fold` returns it.
        """
        near = [word for word in self.words if word in text]  # a quick look, as most have none
        counted = dict.fromkeys(near, 0.0)
        for found in beginning_with(tuple(near)).finditer(text) if near else ():
            for word in near:
                if found[0].startswith(word):
                    counted[word] += _WHOLE if found[0] == word else _BEGINNING
        return (
            *(counted.get(word, 0.0) for word in self.words),
            *(float(text.count(part)) for part in self.parts),
        )

    def finds(self, piece: str, *, is_unspaced: bool) -> bool:
        """Return whether a piece of a text, folded, is something that this asks for."""
        if is_unspaced:
            return any(part in piece for part in self.parts)
        return any(piece.startswith(word) for word in self.words)


def fold(text: str) -> str:
    """Return a text without differences of case, width and composition."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def pieces(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield where each word of a text begins, the word, and whether its script has no blanks."""
    for found in _any_word().finditer(text):
        yield found.start(), found[0], found.lastgroup == "unspaced"


class _Scripts(Struct, frozen=True, forbid_unknown_fields=True):
    unspaced: WordSet


class _Letters(Struct, frozen=True):
    r"""The letters, digits and marks of scripts with and without blanks, as sets of an expression.

    `\w` alone would part a word at each vowel that is a mark of its own.
    """

    spaced: str
    unspaced: str


@lru_cache(maxsize=64)
def beginning_with(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return what matches the words that begin with one of these."""
    letter = f"[{_letters().spaced}]"
    return re.compile(f"(?<!{letter})(?={'|'.join(map(re.escape, words))}){letter}+")


@cache
def _any_word() -> re.Pattern[str]:
    letters = _letters()
    return re.compile(f"[{letters.spaced}]+|(?P<unspaced>[{letters.unspaced}]+)")


@cache
def _letters() -> _Letters:
    table = read_table(Path(__file__).with_name("scripts.toml"), _Scripts)
    ends = (map(_code, each.split("-")) for each in table.unspaced)
    unspaced = {code for first, last in ends for code in range(first, last + 1)}
    spaced = (code for code in range(_LAST_ALPHABET + 1) if code not in unspaced)
    return _Letters(
        _as_set(filter(_is_letter, (*spaced, *_SELECTORS))),
        _as_set(filter(_is_letter, sorted(unspaced))),
    )


def _code(text: str) -> int:
    return int(text, 16)


def _is_letter(code: int) -> bool:
    character = chr(code)
    return character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M"


def _as_set(codes: Iterable[int]) -> str:
    """Return characters in ascending order as the ranges of an expression's set."""
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)
