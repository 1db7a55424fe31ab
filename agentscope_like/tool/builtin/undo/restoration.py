"""Prepares a restoration for its decision: the files, where they lead, what becomes of them."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Callable, Sequence
from typing import Any

from typing_extensions import override

from agentscope_like.checkpoint import Restoration
from agentscope_like.exception import AgentOrientedException
from agentscope_like.lazy_property import lazy_property
from agentscope_like.paths import FileKind, Location, PathError, inside, locate
from agentscope_like.permission import (
    ContentMatcher,
    PathRules,
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionRule,
    PreparedCall,
    RuleMatch,
)
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.builtin.file_system import PreparedPath, WritingTool

__all__ = ["FileRulesOfRestorations", "PreparedRestoration", "RulesOfRestorations"]

_SHOWN = 5
_ALLOW, _ASK, _DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY


class PreparedRestoration(PreparedCall):
    """A restoration whose files are looked up once: rules, checks and grant speak of them.

    Args:
        tool: The tool.
        tool_input: The arguments of the call.
        context: What is permitted.
        writer: The tool that judges what is written.
        find: Returns what is to be restored.
    """

    def __init__(
        self,
        tool: ToolBase,
        tool_input: dict[str, Any],
        context: PermissionContext,
        writer: WritingTool,
        find: Callable[[], Sequence[Restoration]],
    ) -> None:
        super().__init__(tool, tool_input, context)
        self._writer = writer
        self._find = find
        self.error: str | None = None
        self.restorations: Sequence[Restoration] = ()
        try:
            self.restorations = find()
        except AgentOrientedException as error:
            self.error = error.message
        own = self.restorations
        directories = _made_directories(own)
        self._own_files = [_RestoredPath(writer, each.path, context, directories) for each in own]
        self.files: list[PreparedPath] = [
            *self._own_files,
            *(
                PreparedPath(writer, {"file_path": target}, context)
                for target in filter(None, map(_target, own))
            ),
        ]

    @override
    async def check(self) -> PermissionDecision:
        """Return the strictest of what is thought of writing each file."""
        if self.error is not None:
            return PermissionDecision(_DENY, self.error, decision_reason="nothing to restore")
        writer, context = self._writer, self.context
        opinions = [writer.judge(file.location, context) for file in self.files]
        moved = [
            each.path
            for each, file in zip(self.restorations, self._own_files, strict=True)
            if isinstance(file.location, PathError) or file.location.resolved != each.path
        ]
        if moved:
            return PermissionDecision(
                _DENY,
                f"{moved[0]} leads elsewhere than when it was changed, so it cannot be restored.",
                decision_reason="a path leads elsewhere",
            )
        for opinion in opinions:
            if opinion.behavior is _DENY or opinion.bypass_immune:
                return PermissionDecision(
                    opinion.behavior,
                    f"{self._intention()}. {opinion.message}",
                    decision_reason=opinion.decision_reason,
                    bypass_immune=opinion.bypass_immune,
                )
        if all(opinion.behavior is _ALLOW for opinion in opinions):
            return PermissionDecision(_ALLOW, f"{self._intention()}.")
        return PermissionDecision(
            PermissionBehavior.PASSTHROUGH,
            f"{self._intention()}. It asks because no rule allows it.",
        )

    def _intention(self) -> str:
        shown = [f"`{self._writer.shown(each.path)}`" for each in self.restorations]
        more = f" and {len(shown) - _SHOWN:,} more" if len(shown) > _SHOWN else ""
        number, when = self.tool_input["checkpoint"], self.tool_input.get("when", "after")
        return f"Restore would make {', '.join(shown[:_SHOWN])}{more} as {when} checkpoint {number}"

    @override
    async def suggestions(self) -> list[PermissionRule]:
        """Return nothing: each restoration is a question of its own."""
        return []

    @override
    def basis(self, *, now: bool = False) -> str | None:
        """Return what the files are to become."""
        try:
            return _basis(self._find() if now else self.restorations)
        except AgentOrientedException:
            return None

    @override
    def places(self, *, now: bool = False) -> tuple[str, ...]:
        """Return the files, or where their paths lead now."""
        if not now:
            return tuple(each.path for each in self.restorations)
        directories = _made_directories(self.restorations)
        return tuple(_resolved_now(each.path, directories) for each in self.restorations)


class _RestoredPath(PreparedPath):
    """A path that is restored: a symlink there is replaced, not followed."""

    def __init__(
        self,
        writer: WritingTool,
        path: str,
        context: PermissionContext,
        directories: frozenset[str],
    ) -> None:
        super().__init__(writer, {"file_path": path}, context)
        self._directories = directories

    @lazy_property
    @override
    def location(self) -> Location | PathError:
        try:
            return _own_location(str(self.tool_input["file_path"]), self._directories)
        except PathError as error:
            return error


def _made_directories(restorations: Sequence[Restoration]) -> frozenset[str]:
    """Return the paths that become directories and are none now."""
    return frozenset(
        each.path
        for each in restorations
        if each.wanted is not None
        and each.wanted.kind == "directory"
        and not _is_directory(each.path)
    )


def _is_directory(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _own_location(path: str, directories: frozenset[str]) -> Location:
    """Return the location of a path itself, below those directories as they will be."""
    parts = path.split("/")
    for number in range(2, len(parts)):
        parent = "/".join(parts[:number])
        if parent in directories:
            above = locate(parent, directory="/", follow=False)
            return inside(above, "/".join(parts[number:]), kind=FileKind.MISSING)
    return locate(path, directory="/", follow=False)


def _resolved_now(path: str, directories: frozenset[str]) -> str:
    try:
        return _own_location(path, directories).resolved
    except PathError:
        return ""


def _target(restoration: Restoration) -> str | None:
    """Return where a symlink would lead that is made again: it is judged like a write there."""
    wanted = restoration.wanted
    if wanted is None or wanted.kind != "link":
        return None
    return posixpath.join(posixpath.dirname(restoration.path), os.fsdecode(wanted.data))


def _basis(restorations: Sequence[Restoration]) -> str:
    return repr(
        [
            (each.path, each.last, each.wanted and (each.wanted.digest, each.wanted.mode))
            for each in restorations
        ]
    )


class RulesOfRestorations:
    """Patterns of paths: to allow, each file has to match one; to deny or ask, one file.

    Args:
        matcher: The patterns, for one file.
        behavior: What the rules say.
    """

    def __init__(self, matcher: ContentMatcher, behavior: PermissionBehavior) -> None:
        self._matcher = matcher
        self._needs_all = behavior is _ALLOW

    def match(self, call: PreparedRestoration) -> int | None:
        """Return the position of a pattern that applies, or None."""
        found = [self._matcher.match(file) for file in call.files]
        if self._needs_all and None in found:
            return None
        positions = [position for position in found if isinstance(position, int)]
        return min(positions, default=None)


class FileRulesOfRestorations:
    """Deny or ask rules of Write and Edit, which hold for restored files too.

    Args:
        rules: The rules.
    """

    def __init__(self, rules: Sequence[PermissionRule]) -> None:
        self._rules = PathRules(rules)

    def match(self, call: PreparedRestoration) -> RuleMatch | None:
        """Return the first rule that applies to one of the files, or None."""
        for file in call.files:
            if not isinstance(file.location, PathError):
                rule = self._rules.match(file.location, file.directories)
                if rule is not None:
                    return RuleMatch(rule, told=f"it restores {file.location.resolved}")
        return None
