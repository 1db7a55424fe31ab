"""Provides the Glob and Grep tools and their searches."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.search.content_search import find_ripgrep, search
    from agentscope_like.tool.builtin.search.glob import Glob
    from agentscope_like.tool.builtin.search.grep import Grep
    from agentscope_like.tool.builtin.search.query import Query, SearchResult
    from agentscope_like.tool.builtin.search.sandbox_search import search_there

__all__ = [
    "Glob",
    "Grep",
    "Query",
    "SearchResult",
    "find_ripgrep",
    "search",
    "search_there",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Glob": "glob",
        "Grep": "grep",
        "Query": "query",
        "SearchResult": "query",
        "find_ripgrep": "content_search",
        "search": "content_search",
        "search_there": "sandbox_search",
    },
)
