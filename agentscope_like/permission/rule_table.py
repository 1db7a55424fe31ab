"""Rules of one behaviour, by tool name, in a table that validates every change.

Whatever changes a table, in place or by assignment, is seen by the next decision, and a rule in the
wrong place is refused as it is put there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, SupportsIndex

from typing_extensions import override

from agentscope_like.permission.mode import PermissionBehavior
from agentscope_like.permission.rule import PermissionRule, RuleError

__all__ = ["RuleList", "RuleTable"]

_versions = itertools.count(1)


class RuleList(list[PermissionRule]):
    """The rules of one tool in one table; every change is checked and tells the table."""

    __slots__ = ("_table", "_tool_name")

    def __init__(
        self, table: RuleTable, tool_name: str, rules: Iterable[PermissionRule] = ()
    ) -> None:
        self._table = table
        self._tool_name = tool_name
        super().__init__(self._checked(rule) for rule in rules)

    def touch(self) -> None:
        """Note a change in the table."""
        self._table.touch()

    def _checked(self, rule: PermissionRule | str) -> PermissionRule:
        if isinstance(rule, str):
            rule = PermissionRule.parse(rule, self._table.behavior)
        if not isinstance(rule, PermissionRule):
            raise RuleError(
                f"{rule!r} is not a rule: give a PermissionRule, or its text: `Bash(npm run:*)`"
            )
        if not isinstance(rule.rule_content, str | None):
            raise RuleError(
                f"the content of a rule for {rule.tool_name} is not text: give a string"
            )
        if rule.behavior is not self._table.behavior:
            raise RuleError(
                f"rule `{rule}` is in the {self._table.behavior.value} rules: "
                f"move it to `{rule.behavior.value}_rules`, or add it with `add_rule`"
            )
        if rule.tool_name != self._tool_name:
            raise RuleError(
                f"rule `{rule}` is filed under {self._tool_name!r}: file it under "
                f"{rule.tool_name!r}, or add it with `add_rule`"
            )
        return rule

    @override
    def append(self, rule: PermissionRule) -> None:
        self.extend((rule,))

    @override
    def extend(self, rules: Iterable[PermissionRule]) -> None:
        added = [self._checked(rule) for rule in rules]
        super().extend(added)
        for rule in added:
            self._table.note_added(rule)

    @override
    def insert(self, index: SupportsIndex, rule: PermissionRule) -> None:
        self[index:index] = [rule]

    def __iadd__(self, rules: Iterable[PermissionRule]) -> RuleList:  # type: ignore[override,misc]
        self.extend(rules)
        return self

    def __setitem__(self, index: Any, value: Any) -> None:
        """Replace a rule, or a slice of rules."""
        if isinstance(index, slice):
            super().__setitem__(index, [self._checked(rule) for rule in value])
        else:
            super().__setitem__(index, self._checked(value))
        self.touch()

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


class RuleTable(dict[str, list[PermissionRule]]):
    """The rules of one behaviour, by tool name.

    Attributes:
        behavior: The behaviour of every rule in the table.
        version: Changes whenever the table does, and never repeats in a process.
        compiled: The tool that the table was compiled for, and the result, by the tool's name.
    """

    __slots__ = ("behavior", "compiled", "version")

    def __init__(
        self,
        behavior: PermissionBehavior,
        rules: Mapping[str, Iterable[PermissionRule]] | None = None,
    ) -> None:
        super().__init__()
        self.behavior = behavior
        self.version = next(_versions)
        self.compiled: dict[str, tuple[object, Any]] = {}
        self.update(rules or {})

    def touch(self) -> None:
        """Note a change: what was compiled from the table is dropped."""
        self.version = next(_versions)
        self.compiled.clear()

    def note_added(self, rule: PermissionRule) -> None:
        """Note a rule added at the end of its list, and add it to what was compiled."""
        self.version = next(_versions)
        compiled, self.compiled = self.compiled, {}
        self.compiled = {
            name: (tool, rules) for name, (tool, rules) in compiled.items() if rules.add(rule)
        }

    def add(self, rule: PermissionRule) -> None:
        """Add `rule` under its tool."""
        if rule.tool_name not in self:
            super().__setitem__(rule.tool_name, RuleList(self, rule.tool_name))
        self[rule.tool_name].append(rule)

    def __setitem__(self, tool_name: str, rules: Iterable[PermissionRule]) -> None:
        super().__setitem__(tool_name, RuleList(self, tool_name, rules))
        self.touch()

    @override
    def setdefault(
        self, tool_name: str, default: Iterable[PermissionRule] | None = None
    ) -> list[PermissionRule]:
        if tool_name not in self:
            self[tool_name] = default or ()
        return self[tool_name]

    @override
    def update(self, *tables: Any, **rules: Iterable[PermissionRule]) -> None:
        for tool_name, listed in dict(*tables, **rules).items():
            self[tool_name] = listed

    def __ior__(self, other: Any) -> RuleTable:  # type: ignore[override,misc]
        self.update(other)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return RuleTable, (self.behavior, {name: list(rules) for name, rules in self.items()})


def _noted(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of a list or dict that notes a change when it has made it."""

    @wraps(method)
    def changed(self: RuleList | RuleTable, *args: Any, **options: Any) -> Any:
        result = method(self, *args, **options)
        self.touch()
        return result

    return changed


# What adds no rule needs no check.
for _name in ("__delitem__", "__imul__", "clear", "pop", "remove", "reverse", "sort"):
    setattr(RuleList, _name, _noted(getattr(list, _name)))
for _name in ("__delitem__", "clear", "pop", "popitem"):
    setattr(RuleTable, _name, _noted(getattr(dict, _name)))
