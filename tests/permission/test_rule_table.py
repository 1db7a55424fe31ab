"""Tables of rules change as lists and dicts do, and every change is seen and checked."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from agentscope_like.permission import PermissionBehavior, PermissionRule, RuleError, RuleTable
from tests.permission.stub import rule

A, B, C = (rule("allow", content) for content in "abc")
OTHER = rule("allow", "x", name="Other")

LIST_CHANGES: list[Callable[[list[PermissionRule]], Any]] = [
    lambda rules: rules.append(C),
    lambda rules: rules.extend([C, A]),
    lambda rules: rules.extend(each for each in (C,)),
    lambda rules: rules.insert(0, C),
    lambda rules: rules.__iadd__([C]),
    lambda rules: rules.__imul__(2),
    lambda rules: rules.__setitem__(0, C),
    lambda rules: rules.__setitem__(slice(0, 2), [C]),
    lambda rules: rules.__delitem__(0),
    lambda rules: rules.__delitem__(slice(0, 1)),
    lambda rules: rules.remove(A),
    lambda rules: rules.pop(),
    lambda rules: rules.pop(0),
    lambda rules: rules.clear(),
    lambda rules: rules.sort(key=lambda each: str(each.rule_content), reverse=True),
    lambda rules: rules.reverse(),
]

TABLE_CHANGES: list[Callable[[Any], Any]] = [
    lambda table: table.__setitem__("Stub", [C]),
    lambda table: table.__setitem__("Other", [OTHER]),
    lambda table: table.__delitem__("Stub"),
    lambda table: table.setdefault("Other", [OTHER]),
    lambda table: table.update({"Other": [OTHER]}),
    lambda table: table.update(Stub=[C]),
    lambda table: table.__ior__({"Other": [OTHER]}),
    lambda table: table.pop("Stub"),
    lambda table: table.pop("Missing", None),
    lambda table: table.popitem(),
    lambda table: table.clear(),
]

WRONG = [
    rule("deny", "a"),
    rule("allow", "a", name="Other"),
    "deny Stub",
    "Stub(",
    7,
]


def table_of(*rules: PermissionRule) -> RuleTable:
    """Return a table of rules that allow."""
    return RuleTable(PermissionBehavior.ALLOW, {"Stub": rules})


class Compiled:
    """Rules as if they were compiled."""

    def __init__(self, *rules: PermissionRule) -> None:
        self.rules = list(rules)

    def add(self, rule: PermissionRule) -> bool:
        self.rules.append(rule)
        return True


@pytest.mark.parametrize("change", LIST_CHANGES)
def test_a_list_of_rules_changes_as_a_list_does(change: Callable[[Any], Any]) -> None:
    """The rules are those that a plain list would hold, and the table tells that it changed.

    What was compiled counts with rules that are added, and is dropped at any other change.
    """
    table, plain = table_of(A, B), [A, B]
    before = table.version
    compiled = Compiled(A, B)
    table.compiled["Stub"] = (None, compiled)
    assert change(table["Stub"]) == change(plain)
    assert table["Stub"] == plain
    assert table.version != before
    assert table.compiled == {} or compiled.rules == plain


@pytest.mark.parametrize("change", TABLE_CHANGES)
def test_a_table_changes_as_a_dict_does(change: Callable[[Any], Any]) -> None:
    """The table holds what a plain dict would, and tells that it changed."""
    table, plain = table_of(A, B), {"Stub": [A, B]}
    before = table.version
    table.compiled["Stub"] = (None, None)
    assert change(table) == change(plain)
    assert dict(table) == plain
    assert table.version != before
    assert table.compiled == {}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize(
    "put",
    [
        lambda rules, wrong: rules.append(wrong),
        lambda rules, wrong: rules.extend([wrong]),
        lambda rules, wrong: rules.insert(0, wrong),
        lambda rules, wrong: rules.__iadd__([wrong]),
        lambda rules, wrong: rules.__setitem__(0, wrong),
        lambda rules, wrong: rules.__setitem__(slice(0, 1), [wrong]),
    ],
)
def test_a_rule_in_the_wrong_place_is_refused(put: Callable[[Any, Any], Any], wrong: Any) -> None:
    """A rule of another behaviour, tool or type is an error as it is put there."""
    table = table_of(A)
    with pytest.raises(RuleError):
        put(table["Stub"], wrong)
    assert table["Stub"] == [A]
    put(table["Stub"], B)
    assert B in table["Stub"]


def test_a_default_is_taken_once() -> None:
    """`setdefault` leaves the rules that there are."""
    table = table_of(A)
    assert table.setdefault("Stub", [B]) == [A]
    assert table.setdefault("Other") == []
    table.add(B)
    assert table["Stub"] == [A, B]


def test_a_copy_is_a_table_of_its_own() -> None:
    """A table survives copying and pickling, and the copy changes alone."""
    table = table_of(A, B)
    for twin in (copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        assert twin == table
        assert twin.behavior is table.behavior
        twin["Stub"].clear()
        assert table["Stub"] == [A, B]
    assert type(copy.deepcopy(table["Stub"])) is list


def test_no_version_is_used_twice() -> None:
    """What was decided by one state of a table is never taken for another's."""
    assert len({table_of(A).version for _ in range(10)}) == 10
