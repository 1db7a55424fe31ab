"""The errors that paths and patterns raise.

PermissionConfigError
├── RuleError             (permission/rule.py) a rule that can never take effect
└── PatternError          a path or command pattern that cannot be compiled
PathError                 a path that cannot be judged; its message is fit for the model
"""

from __future__ import annotations

__all__ = ["PathError", "PatternError", "PermissionConfigError"]


class PermissionConfigError(ValueError):
    """A permission configuration that cannot be honoured as written."""


class PatternError(PermissionConfigError):
    """A pattern that cannot be compiled, or that would cost too much to match."""


class PathError(ValueError):
    """A path that no file can have, or that displays misleadingly.

    The message says what is wrong and what to do instead; a tool passes it on to the model.
    """
