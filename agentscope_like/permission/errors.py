"""Mistakes in a permission configuration, told to the developer.

PermissionConfigError
├── RuleError             a rule that could never do what it says
└── PatternError          a path or command pattern that cannot be compiled
"""

from __future__ import annotations

__all__ = ["PatternError", "PermissionConfigError", "RuleError"]


class PermissionConfigError(ValueError):
    """A permission configuration that cannot be honoured as written."""


class RuleError(PermissionConfigError):
    """A rule in the wrong list, for an unknown tool, or of a content that its tool cannot read."""


class PatternError(PermissionConfigError):
    """A pattern that cannot be compiled, or that would cost too much to match."""
