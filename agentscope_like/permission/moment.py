"""What one decision has looked up already: it sees the world once, and looks at nothing twice."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

__all__ = ["MOMENT"]

MOMENT: ContextVar[dict[object, Any] | None] = ContextVar("agentscope_like_moment", default=None)
"""What the decision that is being made has looked up, by who did; None where none is being made."""
