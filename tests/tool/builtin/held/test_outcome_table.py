"""`judge_outcome` and the second table of outcomes agree, over every combination there is."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import combinations_with_replacement, product
from pathlib import Path

import pytest

from agentscope_like.permission import PermissionContext, PermissionMode
from agentscope_like.sandbox.layer import Change, FileKind, FileState, Sort, SortedChange
from agentscope_like.tool.builtin.held import HeldChanges, judge_outcome, judge_under_all
from tests.tool.builtin.held.outcome_reference import (
    MODES,
    SORTS,
    ChangeFacts,
    Mode,
    settle,
    strictest,
)

FLAGS = (False, True)
CHANGES = [
    ChangeFacts(sort, denied, asked, sensitive, only_times)
    for sort, denied, asked, sensitive, only_times in product(SORTS, FLAGS, FLAGS, FLAGS, FLAGS)
]
KINDS = [
    each for each in CHANGES if each.denied + each.asked + each.sensitive + each.only_times < 2
]
"""Each sort of change with at most one of the rest."""

OLD, NEW, TOUCHED = (
    FileState(FileKind.FILE, 0o644, 1, modified, content * 64)
    for content, modified in (("0", 1), ("1", 2), ("0", 2))
)


def path_of(facts: ChangeFacts) -> str:
    """Return a path of which these rules, and this safety check, speak."""
    folders = ["denied"] * facts.denied + ["asked"] * facts.asked
    return "/".join([*folders, ".env" if facts.sensitive else "a.txt"])


def change_of(facts: ChangeFacts) -> SortedChange:
    """Return such a change."""
    after = TOUCHED if facts.only_times else NEW
    return SortedChange(Change(path_of(facts), OLD, after), Sort(facts.sort), "told")


@cache
def policy(project: Path, mode: Mode, *, has_rules: bool = True) -> PermissionContext:
    """Return a policy in which a deny rule and an ask rule speak of some paths, or none does."""
    rules = {"deny": ["Write(**/denied/**)"], "ask": ["Write(**/asked/**)"]} if has_rules else {}
    return PermissionContext.from_rules(
        mode=PermissionMode(mode), working_directories=[project], **rules
    )


def held(project: Path, *changes: ChangeFacts) -> list[HeldChanges]:
    """Return the changes of one working directory."""
    return [HeldChanges(str(project), tuple(map(change_of, changes)))]


async def judged(project: Path, mode: Mode, *changes: ChangeFacts) -> str:
    """Return what becomes of changes."""
    return (await judge_outcome(held(project, *changes), policy(project, mode))).verdict.value


@pytest.mark.parametrize("mode", MODES)
async def test_every_change_in_every_mode(tmp_path: Path, mode: Mode) -> None:
    """Each sort of change, with each rule, safety finding and kind of difference."""
    wrong = [
        (facts, found, wanted)
        for facts in CHANGES
        if (found := await judged(tmp_path, mode, facts)) != (wanted := settle(mode, [facts]))
    ]
    assert wrong == []
    assert await judged(tmp_path, mode) == settle(mode, []) == "apply"


@pytest.mark.parametrize("mode", MODES)
async def test_two_changes_go_the_way_of_the_stricter(tmp_path: Path, mode: Mode) -> None:
    """Both are applied, asked about or dropped together."""
    wrong = [
        (pair, found, wanted)
        for pair in combinations_with_replacement(KINDS, 2)
        if (found := await judged(tmp_path, mode, *pair)) != (wanted := settle(mode, pair))
    ]
    assert wrong == []


@pytest.mark.parametrize("first", MODES)
async def test_the_stricter_of_two_policies_counts(tmp_path: Path, first: Mode) -> None:
    """Those of an agent and of the one that called it; the rules of either one count."""
    wrong = []
    for second, facts in product(MODES, KINDS):
        policies = [policy(tmp_path, first), policy(tmp_path, second, has_rules=False)]
        unruled = replace(facts, denied=False, asked=False)
        wanted = strictest([settle(first, [facts]), settle(second, [unruled])])
        for order in (policies, policies[::-1]):
            found = (await judge_under_all(held(tmp_path, facts), order)).verdict.value
            if found != wanted:
                wrong.append((second, facts, found, wanted))
    assert wrong == []
