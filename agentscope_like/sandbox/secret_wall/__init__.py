"""Hides credentials from confined reads that do not name them."""

from agentscope_like.sandbox.secret_wall.listings import Listings
from agentscope_like.sandbox.secret_wall.notices import Notices
from agentscope_like.sandbox.secret_wall.search import find_credentials
from agentscope_like.sandbox.secret_wall.wall import CoveredRun, CoveredSecrets, SecretWall

__all__ = ["CoveredRun", "CoveredSecrets", "Listings", "Notices", "SecretWall", "find_credentials"]
