"""Reads the contents of a typed tool's own rules: `file_editor(write:src/**)`."""

from __future__ import annotations

from collections.abc import Sequence

from agentscope_like.permission import (
    PermissionBehavior,
    PermissionRule,
    RuleError,
)
from agentscope_like.typed.judging.action_rules import ActionRules
from agentscope_like.typed.judging.allow_rules import AllowRules
from agentscope_like.typed.judging.prepared_action import PreparedAction

__all__ = ["OwnRules"]

_TOOLS = {"read": "Read", "write": "Write", "run": "Bash"}


class OwnRules:
    """The contents of a typed tool's rules with the same behaviour.

    A content is `read:`, `write:` or `run:`, and then what stands in a rule for Read, Write or
    Bash. To allow, each part of what a trusted tool would do must match; to deny or ask, one is
    enough.

    Args:
        contents: The contents.
        behavior: ALLOW, DENY or ASK.

    Raises:
        RuleError: One of them cannot be read.
    """

    def __init__(self, contents: Sequence[str], behavior: PermissionBehavior) -> None:
        self._contents = list(contents)
        self._behavior = behavior
        self._rules = [_as_builtin(content, behavior) for content in contents]
        allows = behavior is PermissionBehavior.ALLOW
        self._allowing = AllowRules(self._rules) if allows else None
        self._forbidding = None if allows else ActionRules(self._rules)

    def match(self, call: PreparedAction) -> int | None:
        """Return the position of a content that matches the action, or None."""
        if self._forbidding is not None:
            found = self._forbidding.match(call)
            return None if found is None else self._rules.index(found.rule)
        if self._allowing is None or not self._contents or not _can_be_allowed(call):
            return None
        return 0 if all(self._allowing.cover(part) for part in call.parts) else None

    def extended(self, content: str) -> OwnRules:
        """Return a matcher for these contents and one more."""
        return OwnRules([*self._contents, content], self._behavior)


def _can_be_allowed(call: PreparedAction) -> bool:
    effects = call.effects
    return call.tool.trust and effects is not None and bool(call.parts) and not effects.hosts


def _as_builtin(content: str, behavior: PermissionBehavior) -> PermissionRule:
    verb, colon, pattern = content.partition(":")
    if not colon or verb not in _TOOLS or not pattern:
        raise RuleError(
            f"the rule content {content!r} says nothing of what a typed tool does: write "
            "`read:src/**`, `write:src/**` or `run:npm test:*`"
        )
    return PermissionRule(tool_name=_TOOLS[verb], rule_content=pattern, behavior=behavior)
