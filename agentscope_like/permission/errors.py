"""Errors in a permission configuration, told to the developer; see `paths.errors` for the tree."""

from __future__ import annotations

from agentscope_like.paths import PermissionConfigError

__all__ = ["RuleError"]


class RuleError(PermissionConfigError):
    """A rule in the wrong list, for an unknown tool, or of a content that its tool cannot read."""
