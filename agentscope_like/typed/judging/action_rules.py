"""Matches the rules of Bash, Read and Write against the effects of an action."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from agentscope_like.paths import FileKind, PathError
from agentscope_like.permission import PathRules, PermissionBehavior, PermissionRule, RuleMatch
from agentscope_like.permission.command import CommandRules, FileRules
from agentscope_like.typed.judging.prepared_action import (
    PreparedAction,
    PreparedCommand,
    PreparedPath,
)

__all__ = ["RELATED_TOOLS", "ActionRules"]

_READING = ("Read", "Grep", "Glob")
_WRITING = ("Write", "Edit")
_SEARCHING = ("Grep", "Glob")
_COMMANDS = "Bash"
RELATED_TOOLS = (_COMMANDS, *_READING, *_WRITING)


class ActionRules:
    """Deny or ask rules of Bash and the file tools; they hold for what a typed tool would do.

    Rules of Write and Edit match what an action writes, those of Read, Grep and Glob what it reads,
    and those of Bash the commands that it runs; the rules about files match what these touch, too.

    Args:
        rules: The rules; all of one behaviour.

    Raises:
        RuleError: A content cannot be read.
    """

    def __init__(self, rules: Sequence[PermissionRule]) -> None:
        self._reading = _paths(rules, _READING)
        self._writing = _paths(rules, _WRITING)
        commands = [rule for rule in rules if rule.tool_name == _COMMANDS]
        self._all_commands = next((r for r in commands if r.rule_content is None), None)
        self._by_pattern = [rule for rule in commands if rule.rule_content is not None]
        self._denies = any(rule.behavior is PermissionBehavior.DENY for rule in commands)
        behavior = PermissionBehavior.DENY if self._denies else PermissionBehavior.ASK
        self._patterns = CommandRules([str(r.rule_content) for r in self._by_pattern], behavior)
        files = [rule for rule in rules if rule.tool_name != _COMMANDS]
        self._files = FileRules(files) if files else None

    def match(self, call: PreparedAction) -> RuleMatch | None:
        """Return the rule that matches an effect, else one that may, else None."""
        possible: RuleMatch | None = None
        for found in self._found(call):
            if found.certain:
                return found
            possible = possible or found
        return possible

    def _found(self, call: PreparedAction) -> Iterator[RuleMatch]:
        for read in call.reads:
            yield from _of_path(self._reading, read, "it reads")
        for write in call.writes:
            yield from _of_path(self._writing, write, "it writes")
        for command in call.commands:
            yield from self._of_command(command)

    def _of_command(self, command: PreparedCommand) -> Iterator[RuleMatch]:
        if self._all_commands is not None:
            yield RuleMatch(self._all_commands, told="it runs a command")
        position = self._patterns.match(command)
        if position is not None:
            told = f"it runs `{command.read.command}`"
            yield RuleMatch(self._by_pattern[position], told=told)
        elif self._denies and self._patterns.may_match(command):
            yield RuleMatch(self._by_pattern[0], certain=False, told="it runs a command")
        if self._files is not None and (match := self._files.match(command)) is not None:
            yield match


def _paths(rules: Sequence[PermissionRule], names: Collection[str]) -> PathRules | None:
    """Return the compiled rules of these tools; Grep and Glob as a whole stand for themselves."""
    found = [
        rule
        for rule in rules
        if rule.tool_name in names
        and (rule.rule_content is not None or rule.tool_name not in _SEARCHING)
    ]
    return PathRules(found) if found else None


def _of_path(rules: PathRules | None, path: PreparedPath, does: str) -> Iterator[RuleMatch]:
    location = path.location
    if rules is None or isinstance(location, PathError):
        return  # the check refuses what is no path
    told = f"{does} `{location.absolute}`"
    rule = rules.match(location, path.directories)
    if rule is not None:
        yield RuleMatch(rule, told=told)
    elif location.kind is FileKind.DIRECTORY:
        below = rules.match_below(location, path.directories)
        if below is not None:
            yield RuleMatch(below, certain=False, told=f"{told} and what is below")
