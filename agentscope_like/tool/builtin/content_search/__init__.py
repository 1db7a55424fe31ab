"""Searches the contents of files, on this host or in a sandbox."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.content_search.host_search import find_ripgrep, search
    from agentscope_like.tool.builtin.content_search.query import (
        MatchLine,
        OutputMode,
        Query,
        SearchResult,
    )
    from agentscope_like.tool.builtin.content_search.sandbox_search import search_there

__all__ = [
    "MatchLine",
    "OutputMode",
    "Query",
    "SearchResult",
    "find_ripgrep",
    "search",
    "search_there",
]

__getattr__ = on_first_use(
    __name__,
    {
        "MatchLine": "query",
        "OutputMode": "query",
        "Query": "query",
        "SearchResult": "query",
        "find_ripgrep": "host_search",
        "search": "host_search",
        "search_there": "sandbox_search",
    },
)
