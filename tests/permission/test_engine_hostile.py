"""Policies that were built past their model, and checks that do not play by the rules."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
    RuleTable,
)
from tests.permission.stub import StubTool, rule


async def verdict(context: PermissionContext, tool: StubTool | None = None) -> PermissionBehavior:
    """Return what the engine says of a call that its tool would allow."""
    engine = PermissionEngine(context)
    return (await engine.check_permission(tool or StubTool("allow"), {"text": "x"})).behavior


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("explore", "deny"), ("dont_ask", "allow"), ("default", "allow"), ("whatever", "deny")],
)
async def test_a_mode_that_was_set_as_text_counts(mode: str, expected: str) -> None:
    """`model_copy(update=...)` does not validate; the mode holds all the same, or nothing runs."""
    context = PermissionContext().model_copy(update={"mode": mode})
    assert (await verdict(context)).value == expected


async def test_a_table_of_another_behavior_is_no_policy() -> None:
    """Allow rules that stand where deny rules belong allow nothing."""
    allows = RuleTable(PermissionBehavior.ALLOW, {"Stub": [rule("allow")]})
    context = PermissionContext()
    context.__dict__["deny_rules"] = allows
    assert await verdict(context, StubTool("deny")) is PermissionBehavior.ASK
    assert await verdict(PermissionContext(), StubTool("deny")) is PermissionBehavior.DENY


def _of(*rules: PermissionRule) -> list[PermissionRule]:
    return list(rules)


DENY = rule("deny")
CHANGES: list[Callable[[RuleTable], Any]] = [
    lambda table: table.add(DENY),
    lambda table: table.update({"Stub": [DENY]}),
    lambda table: table.update(Stub=[DENY]),
    lambda table: table.__setitem__("Stub", [DENY]),
    lambda table: table.__ior__({"Stub": [DENY]}),
    lambda table: table.setdefault("Stub", [DENY]),
    lambda table: table.setdefault("Stub").append(DENY),
    lambda table: table.setdefault("Stub").extend(iter([DENY])),
    lambda table: table.setdefault("Stub").insert(0, DENY),
    lambda table: table.setdefault("Stub").__iadd__([DENY]),
    lambda table: table.setdefault("Stub").__setitem__(slice(0, 0), [DENY]),
]
UNDOINGS: list[Callable[[RuleTable], Any]] = [
    lambda table: table.clear(),
    lambda table: table.pop("Stub"),
    lambda table: table.popitem(),
    lambda table: table.__delitem__("Stub"),
    lambda table: table["Stub"].clear(),
    lambda table: table["Stub"].pop(),
    lambda table: table["Stub"].remove(DENY),
    lambda table: table["Stub"].__delitem__(0),
    lambda table: table["Stub"].__delitem__(slice(None)),
    lambda table: table["Stub"].__setitem__(slice(None), []),
    lambda table: table["Stub"].__imul__(0),
]


@pytest.mark.parametrize("undo", UNDOINGS)
@pytest.mark.parametrize("change", CHANGES)
async def test_every_change_of_a_table_is_seen_by_the_next_decision(
    change: Callable[[RuleTable], Any], undo: Callable[[RuleTable], Any]
) -> None:
    """With the rule the call is denied, without it not, however it came and went."""
    context = PermissionContext()
    tool = StubTool("allow")
    keys = [context.policy_key]
    assert await verdict(context, tool) is PermissionBehavior.ALLOW
    change(context.table(PermissionBehavior.DENY))
    keys.append(context.policy_key)
    assert await verdict(context, tool) is PermissionBehavior.DENY
    undo(context.table(PermissionBehavior.DENY))
    keys.append(context.policy_key)
    assert await verdict(context, tool) is PermissionBehavior.ALLOW
    assert len(set(keys)) == 3


@pytest.mark.parametrize(
    "copied",
    [
        copy.deepcopy,
        lambda context: pickle.loads(pickle.dumps(context)),
        lambda context: context.model_copy(deep=True),
        lambda context: PermissionContext.model_validate_json(context.model_dump_json()),
        lambda context: PermissionContext.model_validate(context.model_dump()),
        lambda context: PermissionContext(deny_rules=context.deny_rules),
        lambda context: PermissionContext(deny_rules=dict(context.deny_rules)),
    ],
)
async def test_a_copy_of_a_policy_holds_its_rules_and_is_its_own(copied: Any) -> None:
    """The copy denies what the original denies; what is removed from it stays in the original."""
    original = PermissionContext()
    original.deny_rules["Stub"] = _of(DENY)
    twin = copied(original)
    assert await verdict(twin) is PermissionBehavior.DENY
    twin.deny_rules["Stub"].clear()
    assert await verdict(twin) is PermissionBehavior.ALLOW
    assert await verdict(original) is PermissionBehavior.DENY


async def test_the_lists_that_a_policy_was_made_of_are_not_part_of_it() -> None:
    """Emptying the list that was given changes no policy; assigning it anew does."""
    given = [DENY]
    context = PermissionContext(deny_rules={"Stub": given})
    given.clear()
    assert await verdict(context) is PermissionBehavior.DENY
    context.deny_rules = {"Stub": given}
    assert await verdict(context) is PermissionBehavior.ALLOW


@pytest.mark.parametrize(
    "listed", [[rule("allow")], [rule("deny", name="Other")], ["deny"], [None]]
)
async def test_what_may_not_stand_in_a_table_changes_nothing(listed: list[Any]) -> None:
    """A refused assignment leaves the rules as they were, in the model and in its tables."""
    context = PermissionContext(deny_rules={"Stub": [DENY]})
    table = context.table(PermissionBehavior.DENY)
    key = context.policy_key
    changes: list[Callable[[], Any]] = [
        lambda: setattr(context, "deny_rules", {"Stub": listed}),
        lambda: table.update({"Stub": listed}),
        lambda: table["Stub"].extend(listed),
        lambda: table["Stub"].__setitem__(slice(None), listed),
    ]
    for change in changes:
        with pytest.raises(ValueError, match=r".+"):
            change()
    assert context.policy_key == key
    assert await verdict(context) is PermissionBehavior.DENY


async def test_a_working_directory_that_is_added_in_place_changes_the_policy() -> None:
    """The key of the policy tells the directories apart, in whatever way they changed."""
    context = PermissionContext()
    key = context.policy_key
    context.working_directories["/w"] = PermissionContext(
        working_directories={"/w": {"path": "/w"}}  # type: ignore[dict-item]
    ).working_directories["/w"]
    assert context.policy_key != key


async def test_a_check_that_raises_a_stray_cancellation_is_a_safety_question() -> None:
    """Nobody cancelled the decision: the check failed, and so the person is asked."""

    class Stray(StubTool):
        async def check_permissions(self, *_: Any) -> PermissionDecision:
            raise asyncio.CancelledError

    engine = PermissionEngine(PermissionContext())
    decision = await engine.check_permission(Stray(), {})
    assert (decision.behavior, decision.bypass_immune) == (PermissionBehavior.ASK, True)


async def test_a_decision_can_be_cancelled() -> None:
    """A true cancellation passes through the check to whoever asked for it."""

    class Slow(StubTool):
        async def check_permissions(self, *_: Any) -> PermissionDecision:
            await asyncio.sleep(60)
            raise AssertionError

    engine = PermissionEngine(PermissionContext(mode=PermissionMode.EXPLORE))
    task = asyncio.create_task(engine.check_permission(Slow(), {}))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("content", [5, b"x", ["x"]])
def test_a_rule_whose_content_is_no_text_is_refused(content: Any) -> None:
    """Built past its model it would match nothing, and a deny rule must not do nothing."""
    odd = DENY.model_copy(update={"rule_content": content})
    with pytest.raises(ValueError, match="is not text"):
        PermissionContext(deny_rules={"Stub": [odd]})
