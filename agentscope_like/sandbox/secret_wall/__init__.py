"""Hides credentials from confined reads that do not name them."""

from agentscope_like.sandbox.secret_wall.git_index import (
    MOST_INDEX_BYTES,
    GitIndexError,
    recorded_links,
)
from agentscope_like.sandbox.secret_wall.wall import CoveredRun, CoveredSecrets, SecretWall

__all__ = [
    "MOST_INDEX_BYTES",
    "CoveredRun",
    "CoveredSecrets",
    "GitIndexError",
    "SecretWall",
    "recorded_links",
]
