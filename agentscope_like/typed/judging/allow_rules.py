"""Matches allow rules of Bash, Read and Write against what a trusted tool would do."""

from __future__ import annotations

import os
from collections.abc import Sequence

from agentscope_like.paths import FileKind, PatternError, inside
from agentscope_like.permission import PathRuleIndex, PermissionBehavior, PermissionRule, RuleError
from agentscope_like.permission.command import CommandRules
from agentscope_like.typed.judging.parts import ActionPart, CommandPart, PartKind

__all__ = ["ALLOWING_TOOLS", "AllowRules", "command_rules"]

ALLOWING_TOOLS = ("Bash", "Read", "Write")

_BELOW = f"{os.urandom(8).hex()}/{os.urandom(8).hex()}"
"""A path that no pattern names."""


class AllowRules:
    """Allow rules of Bash, Read and Write, for a trusted tool that does what these would do.

    Args:
        rules: The rules.

    Raises:
        RuleError: A content cannot be read.
    """

    def __init__(self, rules: Sequence[PermissionRule]) -> None:
        self._whole = {rule.tool_name for rule in rules if rule.rule_content is None}
        by_content = [rule for rule in rules if rule.rule_content is not None]
        self._commands = command_rules(by_content, PermissionBehavior.ALLOW)
        self._paths = {name: _strict_index(by_content, name) for name in ("Read", "Write")}

    def cover(self, part: ActionPart) -> bool:
        """Return whether a rule allows the part; none allows to read all below a directory."""
        if isinstance(part, CommandPart):
            return "Bash" in self._whole or self._commands.match(part.call) is not None
        location = part.location
        if location is None or part.reads_all_below:
            return False
        name = "Write" if part.kind is PartKind.WRITE else "Read"
        if name in self._whole:
            return True
        index, directories = self._paths[name], part.call.directories
        if index.match(location, directories) is None:
            return False
        if location.kind is not FileKind.DIRECTORY:
            return True
        # A pattern may match a directory and not what is below; nobody removes one unasked.
        below = inside(location, _BELOW)
        return name == "Read" and index.match(below, directories) is not None


def _contents(rules: Sequence[PermissionRule], tool_name: str) -> list[str]:
    return [
        rule.rule_content
        for rule in rules
        if rule.tool_name == tool_name and rule.rule_content is not None
    ]


def command_rules(rules: Sequence[PermissionRule], behavior: PermissionBehavior) -> CommandRules:
    """Return the compiled rules for Bash among the rules.

    Raises:
        RuleError: A content cannot be read.
    """
    try:
        return CommandRules(_contents(rules, "Bash"), behavior)
    except PatternError as error:
        raise RuleError(f"{behavior.value} rule for Bash: {error}") from None


def _strict_index(rules: Sequence[PermissionRule], tool_name: str) -> PathRuleIndex:
    try:
        return PathRuleIndex(_contents(rules, tool_name), strict=True)
    except PatternError as error:
        raise RuleError(f"allow rule for {tool_name}: {error}") from None
