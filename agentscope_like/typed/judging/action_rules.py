"""Matches the rules of Bash, Read and Write against what an action would do."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from agentscope_like.paths import FileKind
from agentscope_like.permission import (
    PathRules,
    PermissionBehavior,
    PermissionRule,
    RuleMatch,
)
from agentscope_like.permission.command import FileRules
from agentscope_like.typed.judging.allow_rules import command_rules
from agentscope_like.typed.judging.host_rules import HostRules
from agentscope_like.typed.judging.parts import CommandPart, PartKind, PathPart
from agentscope_like.typed.judging.prepared_action import PreparedAction

__all__ = ["RELATED_TOOLS", "ActionRules", "shared_rules"]

_READING = ("Read", "Grep", "Glob")
_WRITING = ("Write", "Edit")
_SEARCHING = ("Grep", "Glob")
RELATED_TOOLS = ("Bash", *_READING, *_WRITING, "WebFetch")


class ActionRules:
    """Deny or ask rules of built-in tools; they hold for what a typed tool would do.

    Rules of Write and Edit match what an action writes, those of Read, Grep and Glob what it reads,
    those of Bash the commands that it runs, and those of WebFetch the hosts that it reaches; the
    rules about files match what commands touch, too.

    Args:
        rules: The rules; all of one behaviour.

    Raises:
        RuleError: A content cannot be read.
    """

    def __init__(self, rules: Sequence[PermissionRule]) -> None:
        self._first = next(iter(rules), None)
        self._denies = any(rule.behavior is PermissionBehavior.DENY for rule in rules)
        self._reading = _paths(rules, _READING)
        self._listing = _paths(rules, ("Glob",))
        self._writing = _paths(rules, _WRITING)
        commands = [rule for rule in rules if rule.tool_name == "Bash"]
        self._every_command = _whole(commands)
        self._by_pattern = [rule for rule in commands if rule.rule_content is not None]
        behavior = PermissionBehavior.DENY if self._denies else PermissionBehavior.ASK
        self._patterns = command_rules(self._by_pattern, behavior)
        files = [rule for rule in rules if rule.tool_name in (*_READING, *_WRITING)]
        self._files = FileRules(files) if files else None
        hosts = [rule for rule in rules if rule.tool_name == "WebFetch"]
        self._hosts = HostRules(hosts) if hosts else None

    def match(self, call: PreparedAction) -> RuleMatch | None:
        """Return the rule that matches what the action does, else one that may, else None."""
        possible: RuleMatch | None = None
        if call.failure is not None and self._first is not None:
            return RuleMatch(self._first, certain=False, told="it does not say what it does")
        for found in () if self._hosts is None else self._hosts.found(call):
            if found.certain:
                return found
            possible = possible or found
        for part in call.parts:
            found_in = self._of_path if isinstance(part, PathPart) else self._of_command
            for found in found_in(part):  # type: ignore[arg-type]
                if found.certain:
                    return found
                possible = possible or found
        return possible

    def _of_path(self, part: PathPart) -> Iterator[RuleMatch]:
        location, directories = part.location, part.call.directories
        if location is None:
            return
        is_write = part.kind is PartKind.WRITE
        rules = self._writing if is_write else self._reading
        if rules is not None and (rule := rules.match(location, directories)):
            yield RuleMatch(rule, told=part.told)
        elif part.kind is not PartKind.SEARCH and location.kind is FileKind.DIRECTORY:
            rules = self._listing if part.kind is PartKind.LIST else rules
            below = None if rules is None else rules.match_below(location, directories)
            if below is not None:
                yield RuleMatch(below, certain=False, told=f"{part.told} and what is below")

    def _of_command(self, part: CommandPart) -> Iterator[RuleMatch]:
        if self._every_command is not None:
            yield RuleMatch(self._every_command, told=part.told)
        position = self._patterns.match(part.call)
        if position is not None:
            yield RuleMatch(self._by_pattern[position], told=part.told)
        elif self._denies and self._by_pattern and self._patterns.may_match(part.call):
            yield RuleMatch(self._by_pattern[0], certain=False, told=part.told)
        if self._files is not None and (match := self._files.match(part.call)) is not None:
            yield match


@lru_cache(maxsize=16)
def shared_rules(rules: tuple[PermissionRule, ...]) -> ActionRules:
    """Return the compiled rules; many typed tools share them.

    Raises:
        RuleError: A content cannot be read.
    """
    return ActionRules(rules)


def _whole(rules: Sequence[PermissionRule]) -> PermissionRule | None:
    return next((rule for rule in rules if rule.rule_content is None), None)


def _paths(rules: Sequence[PermissionRule], names: Collection[str]) -> PathRules | None:
    """Return the compiled rules of these tools; Grep and Glob as a whole stand for themselves."""
    found = [
        rule
        for rule in rules
        if rule.tool_name in names
        and (rule.rule_content is not None or rule.tool_name not in _SEARCHING)
    ]
    return PathRules(found) if found else None
