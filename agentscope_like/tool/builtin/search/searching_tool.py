"""Defines the base class of Glob and Grep; rules for Read apply to the files they find."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.paths import Location, PathError, inside, is_below
from agentscope_like.permission import (
    PathRules,
    PermissionBehavior,
    PermissionContext,
    PermissionRule,
    RuleMatch,
)
from agentscope_like.tool.builtin.file_system import PathTool, PreparedPath, ReadingTool

if TYPE_CHECKING:
    from agentscope_like.sandbox import SandboxHandle

__all__ = ["SearchingTool"]


class SearchingTool(ReadingTool):
    """A file tool that searches below a directory.

    Its own deny and ask rules, and those for Read, apply to the searched directory. They also hide
    files below it from the results, except files whose ask rule a person answered for the
    directory.

    Args:
        cwd: The base of relative paths.
        middlewares: Layers around `call`.
        backend: The sandbox where the files are; by default they are on this host.
    """

    is_policy_injected = True
    related_tools: tuple[str, ...] = ("Read",)

    def __init__(
        self,
        *,
        cwd: str | os.PathLike[str] | None = None,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
        backend: SandboxHandle | None = None,
    ) -> None:
        super().__init__(cwd=cwd, middlewares=middlewares, backend=backend)
        self._compiled: dict[PermissionBehavior, tuple[int, PathRules | None]] = {}

    def compile_related(self, rules: Sequence[PermissionRule]) -> _ReadRules:
        """Return a matcher for deny or ask rules for Read.

        Raises:
            RuleError: One of the contents is not a path pattern.
        """
        return _ReadRules(self, PathRules(rules, compile=self._files.index))

    def hides(
        self, root: Location, context: PermissionContext | None
    ) -> Callable[[str], bool] | None:
        """Return a function that tells whether a rule hides a file, by its path below the root.

        Args:
            root: The searched directory.
            context: The permission context; None for no rules.

        Returns:
            The function, or None if no rule hides files.
        """
        if context is None:
            return None
        directories = self.working_directories(context)
        rules = [
            each
            for each in (self._rules(PermissionBehavior.DENY, context), self._asking(root, context))
            if each is not None and each.match_below(root, directories) is not None
        ]
        private = [each for each in self.private_places if is_below(each, root.resolved)]
        if not rules and not private:
            return None

        def hidden(relative: str) -> bool:
            location = inside(root, relative)
            if any(is_below(location.resolved, each) for each in private):
                return True
            return any(each.match(location, directories) is not None for each in rules)

        return hidden

    def _asking(self, root: Location, context: PermissionContext) -> PathRules | None:
        """Return the ask rules, unless one of them made a person approve the whole root."""
        rules = self._rules(PermissionBehavior.ASK, context)
        directories = self.working_directories(context)
        return None if rules is None or rules.match(root, directories) else rules

    def _rules(self, behavior: PermissionBehavior, context: PermissionContext) -> PathRules | None:
        table = context.table(behavior)
        version, compiled = self._compiled.get(behavior, (None, None))
        if version != table.version:
            names = (self.name, *self.related_tools)
            rules = [rule for name in names for rule in table.get(name, ())]
            compiled = PathRules(rules, compile=self._files.index) if rules else None
            self._compiled[behavior] = table.version, compiled
        return compiled


class _ReadRules:
    """Rules for Read applied to the path of a searching tool, with the engine's interface."""

    __slots__ = ("_rules", "_tool")

    def __init__(self, tool: PathTool, rules: PathRules) -> None:
        self._tool = tool
        self._rules = rules

    def match(self, call: PreparedPath) -> RuleMatch | None:
        """Return the rule that matches the searched directory or file, or None."""
        location = call.location
        if isinstance(location, PathError):
            return None
        rule = self._rules.match(location, call.directories)
        if rule is None:
            return None
        shown = self._tool.shown(location.resolved)
        return RuleMatch(rule, told=f"{self._tool.name} searches `{shown}`")
