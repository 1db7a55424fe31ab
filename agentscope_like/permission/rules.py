"""Finds the rule that matches a call, in time that does not grow with the number of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

from agentscope_like.nearest import nearest
from agentscope_like.permission.context import PermissionContext
from agentscope_like.permission.mode import PermissionBehavior
from agentscope_like.permission.protocol import (
    ContentMatcher,
    PermissionTool,
    PreparedCall,
    RelatedMatcher,
    RelatedRuleCompiler,
    RuleCompiler,
    RuleMatch,
    RuleValidator,
    rule_names,
)
from agentscope_like.permission.rule import PermissionRule, RuleError
from agentscope_like.permission.rule_table import RuleTable

__all__ = ["check_rules", "compile_large_tables", "is_large", "rules_of"]

_BEHAVIORS = (PermissionBehavior.DENY, PermissionBehavior.ASK, PermissionBehavior.ALLOW)

_MOST_ADDED = 64
"""Rules that are added one by one, each on top of the last, before all are compiled anew."""


class _ToolRules:
    """The rules of one behaviour that apply to one tool, compiled on first use.

    Args:
        tool: The tool that reads their contents.
        behavior: Their behaviour.
        rules: The tool's own rules.
        related: Rules of its related tools; only ones that deny or ask.

    Attributes:
        matcher: The compiled contents; None for a tool that does not compile rules.
        related: The compiled rules of related tools; None if there are none.
        lacks_related: Whether rules of related tools came later, and are still to be compiled.

    Raises:
        RuleError: The tool cannot read the content of one of them.
    """

    def __init__(
        self,
        tool: PermissionTool,
        behavior: PermissionBehavior,
        rules: Iterable[PermissionRule],
        related: Sequence[PermissionRule] = (),
    ) -> None:
        self._tool = tool
        self._names = rule_names(tool)
        self._behavior = behavior
        self._whole: PermissionRule | None = None
        self._by_content: list[PermissionRule] = []
        contents: list[str] = []
        for rule in rules:
            if rule.rule_content is None:
                self._whole = self._whole or rule
            else:
                self._by_content.append(rule)
                contents.append(rule.rule_content)
        self.matcher: ContentMatcher | None = None
        if isinstance(tool, RuleCompiler):
            self.matcher = tool.compile_rules(contents, behavior)
        elif isinstance(tool, RuleValidator):
            for content in contents:
                tool.validate_rule(content)
        self._added = 0
        self.related: RelatedMatcher | None = None
        self.compile_related(related)

    def compile_related(self, related: Sequence[PermissionRule]) -> None:
        """Compile the rules of related tools, all of them.

        Raises:
            RuleError: The tool cannot read the content of one of them.
        """
        if related and isinstance(self._tool, RelatedRuleCompiler):
            self.related = self._tool.compile_related(related)
        self.lacks_related = False

    def add(self, rule: PermissionRule) -> bool:
        """Add one more rule of the table; return False if all must be compiled anew.

        A rule that the tool cannot read is refused where they are compiled.
        """
        is_own = rule.tool_name in self._names
        if rule.tool_name in _related_names(self._tool, self._behavior):
            self.lacks_related = True
            return not is_own
        return not is_own or self._add_own(rule)

    def _add_own(self, rule: PermissionRule) -> bool:
        if rule.rule_content is None:
            self._whole = self._whole or rule
            return True
        if self.matcher is None or self._added == _MOST_ADDED:
            return False
        try:
            self.matcher = self.matcher.extended(rule.rule_content)
        except Exception:
            return False  # compiling all says what is wrong
        self._by_content.append(rule)
        self._added += 1
        return True

    async def find(self, call: PreparedCall) -> RuleMatch | None:
        """Return the rule that matches the call, else one that may, else None."""
        rule = self._whole or await self._matched(call)
        if rule is not None:
            return RuleMatch(rule)
        if self.related is None:
            return None
        import asyncio  # deciding as such needs none of it

        return await asyncio.to_thread(self.related.match, call)

    async def _matched(self, call: PreparedCall) -> PermissionRule | None:
        """Return the rule by whose content the tool says that it matches the call."""
        if self.matcher is not None and self._by_content:
            position = self.matcher.match(call)
            return None if position is None else self._by_content[position]
        for rule in self._by_content:
            if rule.rule_content is not None and await call.matches(rule.rule_content):
                return rule
        return None

    def may_match(self, call: PreparedCall) -> bool:
        """Return whether a rule matches the call for some value of what is not known of it."""
        may_match: Callable[[Any], bool] | None = getattr(self.matcher, "may_match", None)
        return may_match is not None and may_match(call)

    def uncovered(self, call: PreparedCall) -> tuple[PermissionRule, str] | None:
        """Return a rule that matches the call and does not cover all of it, and why; or None."""
        find: Callable[[Any], tuple[int, str] | None] | None
        find = getattr(self.matcher, "uncovered", None)
        found = None if find is None else find(call)
        return None if found is None else (self._by_content[found[0]], found[1])

    async def would_find(self, rule: PermissionRule, call: PreparedCall) -> bool:
        """Return whether the call would be matched if `rule` were one of these."""
        if rule.rule_content is None:
            return True
        if self.matcher is not None:
            extended = self.matcher.extended(rule.rule_content)
            return extended.match(call) is not None
        return await call.matches(rule.rule_content)


def rules_of(
    tool: PermissionTool, behavior: PermissionBehavior, context: PermissionContext
) -> _ToolRules:
    """Return the compiled rules that apply to the tool, of which there may be none.

    They are kept with the table, which adds rules to them and drops them at any other change.
    """
    table = context.table(behavior)
    kept = table.compiled.get(tool.name)
    if kept is not None and kept[0] is tool:
        rules: _ToolRules = kept[1]
        if rules.lacks_related:
            rules.compile_related(_related_rules(tool, table))
        return rules
    compiled = _ToolRules(tool, behavior, _own_rules(tool, table), _related_rules(tool, table))
    table.compiled[tool.name] = (tool, compiled)
    return compiled


def _related_names(tool: PermissionTool, behavior: PermissionBehavior) -> tuple[str, ...]:
    """Return the names of the tool's related tools; allow rules apply to no other tool."""
    if behavior is PermissionBehavior.ALLOW or not isinstance(tool, RelatedRuleCompiler):
        return ()
    return tool.related_tools


def _own_rules(tool: PermissionTool, table: RuleTable) -> list[PermissionRule]:
    """Return the rules for the tool, and for those whose rules are its own as well."""
    return [rule for name in rule_names(tool) for rule in table.get(name, ())]


def _related_rules(tool: PermissionTool, table: RuleTable) -> list[PermissionRule]:
    names = _related_names(tool, table.behavior)
    return [rule for name in names for rule in table.get(name, ())]


def check_rules(
    context: PermissionContext,
    tools: Mapping[str, PermissionTool],
    *,
    tolerated: Callable[[str], bool] | None = None,
) -> None:
    """Refuse rules that could never match a call.

    A rule that denies or asks may also be for a tool that is not there, where one that is there
    lists it among its related tools; any rule, where one that is there shares its rules.

    Args:
        context: The policy.
        tools: Every tool that can be called, by name.
        tolerated: Whether a name is that of a tool that may be added later, such as one of a server
            that is not connected yet; by default none does.

    Raises:
        RuleError: A rule is for an unknown tool, or of a content that its tool cannot read.
    """
    sharing = [tool for tool in tools.values() if isinstance(tool, RelatedRuleCompiler)]
    related = {name for tool in sharing for name in tool.related_tools}
    shared = {name for tool in tools.values() for name in rule_names(tool)}
    for behavior in _BEHAVIORS:
        known = shared if behavior is PermissionBehavior.ALLOW else related | shared
        for name, rules in context.table(behavior).items():
            tool = tools.get(name)
            if tool is not None:
                rules_of(tool, behavior, context)
            elif rules and name not in known and not (tolerated and tolerated(name)):
                raise RuleError(
                    f"rule `{rules[0]}` is for {name!r}, which is not a tool of this toolkit"
                    f"{nearest(name, tools)}; a rule for no tool would do nothing, so it is "
                    "refused: remove it from the permission context, or add the tool"
                )
        for tool in sharing:
            rules_of(tool, behavior, context)


_MANY_RULES = 1_000
"""Rules of one tool and behaviour that are compiled in a thread; fewer take a few milliseconds."""


def is_large(
    tool: PermissionTool, behavior: PermissionBehavior, context: PermissionContext
) -> bool:
    """Return whether many rules are still to be compiled for the tool."""
    table = context.table(behavior)
    kept = table.compiled.get(tool.name)
    if kept is not None and kept[0] is tool:
        return False
    rules = _own_rules(tool, table)
    return len(rules) + len(_related_rules(tool, table)) > _MANY_RULES


async def compile_large_tables(tools: Iterable[PermissionTool], context: PermissionContext) -> None:
    """Compile what is large in a thread, as it is now; what fails is compiled where it is used.

    Args:
        tools: The tools that the rules may apply to.
        context: The policy.
    """
    import asyncio  # deciding as such needs none of it

    for tool, behavior in product(tools, _BEHAVIORS):
        if not is_large(tool, behavior, context):
            continue
        table = context.table(behavior)
        version = table.version
        listed, related = _own_rules(tool, table), _related_rules(tool, table)
        with suppress(Exception):  # where they are used it is said what is wrong
            compiled = await asyncio.to_thread(_ToolRules, tool, behavior, listed, related)
            if table.version == version:
                table.compiled[tool.name] = (tool, compiled)
