"""Finds texts by words, or by parts of them where a script has no blanks between words."""

from __future__ import annotations

from agentscope_like.text_search.query import SearchQuery, SearchQueryError
from agentscope_like.text_search.ranking import Ranked, rank
from agentscope_like.text_search.snippet import snippet_of

__all__ = ["Ranked", "SearchQuery", "SearchQueryError", "rank", "snippet_of"]
