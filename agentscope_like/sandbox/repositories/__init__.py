"""Reads what git repositories record, without running git."""

from agentscope_like.sandbox.repositories.git_index import (
    MOST_INDEX_BYTES,
    GitIndexError,
    recorded_blobs,
    recorded_links,
    recorded_paths,
    refreshed_blobs,
)
from agentscope_like.sandbox.repositories.work_trees import UnreadIndexError, WorkTrees

__all__ = [
    "MOST_INDEX_BYTES",
    "GitIndexError",
    "UnreadIndexError",
    "WorkTrees",
    "recorded_blobs",
    "recorded_links",
    "recorded_paths",
    "refreshed_blobs",
]
