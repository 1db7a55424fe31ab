"""What calls touch, which of them conflict, and the locks that keep these apart."""

from agentscope_like.tool.resources.claim import Claim, DeclaredResources
from agentscope_like.tool.resources.locks import ResourceLocks, while_held

__all__ = ["Claim", "DeclaredResources", "ResourceLocks", "while_held"]
