"""Cuts out of a text the part that a search found."""

from __future__ import annotations

from agentscope_like.text_search.query import SearchQuery, fold, pieces

__all__ = ["snippet_of"]

_CUT = "…"
_BEFORE = 3
"""Of what is shown, about a third lies before the place that was found."""


def snippet_of(query: SearchQuery, text: str, most: int) -> str:
    """Return at most this many characters of a text, around the first place that was found.

    Args:
        query: The search.
        text: The text, as it was written.
        most: The most characters, the signs for what was left out included.
    """
    if len(text) <= most:
        return text
    place = _first_place(query, text)
    start = 0 if place <= most // 2 else min(place - most // _BEFORE, len(text) - most)
    end = start + most
    before = _CUT if start else ""
    after = _CUT if end < len(text) else ""
    return before + text[start + len(before) : end - len(after)] + after


def _first_place(query: SearchQuery, text: str) -> int:
    for start, piece, is_unspaced in pieces(text):
        folded = fold(piece)
        if query.finds(folded, is_unspaced=is_unspaced):
            return start + _offset(query, piece) if is_unspaced else start
    places = (text.find(part) for part in query.parts)
    return min((place for place in places if place >= 0), default=0)


def _offset(query: SearchQuery, piece: str) -> int:
    """Return where in a run of characters the first part begins; 0 if folding moved it."""
    places = (piece.find(part) for part in query.parts)
    return min((place for place in places if place >= 0), default=0)
