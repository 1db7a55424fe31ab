"""The second wall: confined reads do not see the credentials that they do not name."""

from agentscope_like.sandbox.secret_wall.wall import CoveredRun, CoveredSecrets, SecretWall

__all__ = ["CoveredRun", "CoveredSecrets", "SecretWall"]
