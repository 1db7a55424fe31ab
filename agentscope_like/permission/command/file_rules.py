"""Matches the rules of the file tools against the files that a command touches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from agentscope_like.paths import (
    KEPT_FOR_PATHS,
    RULE,
    TOO_MANY,
    FileKind,
    Location,
    PathError,
    TooManyFilesError,
    inside,
    is_below,
)
from agentscope_like.permission.command.prepared_command import PreparedCommand
from agentscope_like.permission.mode import PermissionMode
from agentscope_like.permission.path_rules import PathRuleIndex, PathRules
from agentscope_like.permission.protocol import RuleMatch
from agentscope_like.permission.rule import PermissionRule
from agentscope_like.shell import CommandAnalysis, Surroundings, shortened
from agentscope_like.shell.touches import Below, Touch, TouchKind, named_by_command, touches

__all__ = ["FileRules"]

_WRITING = frozenset({"Write", "Edit"})
_READING = frozenset({"Read", "Grep", "Glob"})
_SEARCHING = frozenset({"Grep", "Glob"})
_NOTHING = Below.NOTHING


class FileRules:
    """Deny or ask rules of the file tools.

    Rules of Write and Edit match what a command writes, removes or moves; those of Read, Grep
    and Glob match what it reads or lists. Without content they match every path, except those of
    Grep and Glob, which then apply to that tool alone.

    Where a path is only known at run time, a rule may match. Paths that are only arguments of an
    unknown program count in BYPASS: in the other modes it asks anyway, or a rule of the user
    allows it.

    Args:
        rules: The rules; all of one behaviour.
        compile: Compiles their patterns; for this host by default.

    Raises:
        RuleError: A content is not a path pattern.
    """

    def __init__(
        self,
        rules: Sequence[PermissionRule],
        *,
        compile: Callable[..., PathRuleIndex] = PathRuleIndex,  # noqa: A002 - what it does
    ) -> None:
        counted = [
            rule
            for rule in rules
            if rule.rule_content is not None or rule.tool_name not in _SEARCHING
        ]

        def those(wanted: Callable[[PermissionRule], bool]) -> PathRules | None:
            found = [rule for rule in counted if wanted(rule)]
            return PathRules(found, compile=compile) if found else None

        writing = those(lambda rule: rule.tool_name in _WRITING)
        reading = those(lambda rule: rule.tool_name in _READING)
        listing = those(lambda rule: rule.tool_name == "Glob")
        naming = those(lambda rule: rule.rule_content is not None)
        self._first = counted[0] if counted else None
        # The rules that match a path, and those of them that match something below it.
        self._concerned: dict[TouchKind, tuple[PathRules | None, PathRules | None]] = {
            **dict.fromkeys(TouchKind, (reading, reading)),
            TouchKind.NAME: (naming, None),
            TouchKind.WRITE: (writing, writing),
            TouchKind.DELETE: (writing, writing),
            TouchKind.LIST: (reading, listing),
        }

    def match(self, call: PreparedCommand) -> RuleMatch | None:
        """Return the rule that matches what the command touches, else one that may, else None."""
        if self._first is None:
            return None
        analysis, around = call.read, call.surroundings
        possible: RuleMatch | None = None
        try:
            for touch in _all(analysis, around, call.context.mode):
                for found in self._found(touch, analysis, around):
                    if found.certain:
                        return found
                    possible = possible or found
        except TooManyFilesError:
            return possible or RuleMatch(self._first, certain=False, told=f"it {TOO_MANY}")
        return possible

    def _found(
        self, touch: Touch, analysis: CommandAnalysis, around: Surroundings
    ) -> Iterator[RuleMatch]:
        """Yield the rules that match one touch."""
        rules, below = self._concerned[touch.kind]
        if rules is None:
            return
        around.effort.spend(RULE)
        location, does = touch.location, partial(_does, touch, analysis)
        if location is None:
            told = f"the path that {does()} is only known at run time"
            yield RuleMatch(rules.rules[0], certain=False, told=told)
        elif rule := rules.match(location, around.working_directories):
            more = ", and may do anything with it" if touch.kind is TouchKind.NAME else ""
            told = f"{does()} {_shown(location.absolute, around)}{more}"
            yield RuleMatch(rule, certain=touch.certain, told=told)
        elif below is not None and touch.below is not _NOTHING:
            for rule, certain, what in _found_below(touch, location, below, around):
                told = f"{does()} everything below {_shown(touch.target, around)}, {what}"
                yield RuleMatch(rule, certain=certain, told=told)


def _does(touch: Touch, analysis: CommandAnalysis) -> str:
    """Return what part of a command does what, as the beginning of a sentence."""
    command, part = analysis.command, touch.part
    if part is not None:
        command = command[part.span.start : part.span.end]
    return f"`{shortened(command)}` {touch.kind.value}"


def _shown(path: str, around: Surroundings) -> str:
    """Return a path as a person reads it, from the command's directory on."""
    directory = around.directory.rstrip("/") + "/"
    below = path.removeprefix(directory)
    return f"`{shortened('.' if f'{path}/' == directory else below)}`"


def _all(analysis: CommandAnalysis, around: Surroundings, mode: PermissionMode) -> Iterator[Touch]:
    yield from touches(analysis, around)
    if mode.properties.otherwise == "allow":
        yield from named_by_command(analysis, around)


_OF_PROCESS = re.compile(r"/proc/[0-9]+(?:/|$)")
"""What lies there is another process's when the command runs, or has changed."""


def _found_below(
    touch: Touch, root: Location, rules: PathRules, around: Surroundings
) -> Iterator[tuple[PermissionRule, bool, str]]:
    """Yield the rule that matches something below a touched path, whether certainly, and what."""
    around.effort.spend(RULE)
    rule = rules.match_below(root, around.working_directories)
    if touch.below is Below.ANYTHING or _OF_PROCESS.match(root.resolved):
        if rule is not None:
            yield rule, False, "including new files"
        return
    if rule is None and not touch.follows:
        return
    try:
        held = _held(root, rules, around, follows=touch.follows)
    except TooManyFilesError:
        yield rule or rules.rules[0], False, "which is too much to check"
        return
    if held is not None:
        rule, path = held
        yield rule, touch.certain_below, f"including {_shown(path, around)}"


def _held(
    root: Location, rules: PathRules, around: Surroundings, *, follows: bool
) -> tuple[PermissionRule, str] | None:
    """Return a rule that matches something below a path, and the matching path; else None.

    Raises:
        TooManyFilesError: There is too much below it to check.
    """
    directories = around.working_directories
    pending = [""] if root.kind is FileKind.DIRECTORY else []
    while pending:
        relative = pending.pop()
        here = inside(root, relative)
        matching = rules.within(here, directories)
        if matching is None and not follows:
            continue
        for entry in around.effort.entries(here.resolved, around.names, keep=KEPT_FOR_PATHS):
            if matching is not None and (rule := matching(entry.name)):
                return rule, entry.path
            if entry.is_dir(follow_symlinks=False):
                pending.append(f"{relative}/{entry.name}" if relative else entry.name)
            elif (
                follows
                and entry.is_symlink()
                and (rule := _led_to(entry.path, root, rules, around))
            ):
                return rule, entry.path
    return None


def _led_to(
    link: str, root: Location, rules: PathRules, around: Surroundings
) -> PermissionRule | None:
    """Return a rule that matches a symlink's target, or may match something below it."""
    try:
        target = around.locate(link)
    except PathError:
        return None
    around.effort.spend(RULE)
    rule = rules.match(target, around.working_directories)
    if rule is not None or target.kind is not FileKind.DIRECTORY:
        return rule
    if is_below(target.resolved, root.resolved):
        return None  # it is looked at anyway
    return rules.match_below(target, around.working_directories)
