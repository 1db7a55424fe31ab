"""Hides credentials from confined reads that do not name them."""

from agentscope_like.sandbox.secret_wall.wall import CoveredRun, CoveredSecrets, SecretWall

__all__ = ["CoveredRun", "CoveredSecrets", "SecretWall"]
