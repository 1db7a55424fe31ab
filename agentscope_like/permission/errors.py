"""Errors in a permission configuration; see `paths.errors` for the exception tree."""

from __future__ import annotations

from agentscope_like.paths import PermissionConfigError

__all__ = ["RuleError"]


class RuleError(PermissionConfigError):
    """A rule in the wrong list, for an unknown tool, or with a content that its tool refuses."""
