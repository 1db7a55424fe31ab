"""The suggestions of a question, which are found when they are first asked for."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionRule,
)
from agentscope_like.tool import Bash, Write

COMMAND = {"command": "npm run build && make x"}


async def _question(bash: Bash, command: dict[str, Any]) -> PermissionDecision:
    return await PermissionEngine(PermissionContext()).check_permission(bash, command)


def _contents(decision: PermissionDecision) -> list[str | None]:
    return [rule.rule_content for rule in decision.suggested_rules or ()]


def _plain(decision: PermissionDecision, rules: list[PermissionRule]) -> PermissionDecision:
    """Return a decision of the same fields that had its suggestions from the start."""
    return PermissionDecision(
        decision.behavior,
        decision.message,
        decision.decision_reason,
        suggested_rules=rules,
        row=decision.row,
    )


def _rule(content: str, behavior: PermissionBehavior = PermissionBehavior.ALLOW) -> PermissionRule:
    return PermissionRule(
        tool_name="Bash", rule_content=content, behavior=behavior, source="suggestion"
    )


@pytest.mark.parametrize(
    "taken",
    [
        copy.copy,
        copy.deepcopy,
        dataclasses.replace,
        lambda decision: pickle.loads(pickle.dumps(decision)),
        lambda decision: PermissionDecision(**dataclasses.asdict(decision)),
        lambda decision: decision,
    ],
)
async def test_a_question_is_like_one_with_its_suggestions(
    tmp_path: Path, taken: Callable[[PermissionDecision], PermissionDecision]
) -> None:
    """Copies, fields, equality, text and JSON are those of a decision that has them as a list."""
    decision = await _question(Bash(cwd=tmp_path, confine="off"), {"command": "npm run build"})
    plain = _plain(decision, [_rule("npm run build")])
    assert taken(decision) == plain
    adapter = TypeAdapter(PermissionDecision)
    fresh = await _question(Bash(cwd=tmp_path, confine="off"), {"command": "npm run build"})
    assert adapter.dump_json(fresh) == adapter.dump_json(plain)
    fresh = await _question(Bash(cwd=tmp_path, confine="off"), {"command": "npm run build"})
    assert repr(fresh) == repr(plain)
    with pytest.raises(dataclasses.FrozenInstanceError):
        fresh.suggested_rules = []  # type: ignore[misc]


async def test_what_happens_after_the_decision_does_not_count(tmp_path: Path) -> None:
    """A directory that the shell moved to, and arguments that were changed, are not looked at."""
    (tmp_path / "sub").mkdir()
    bash = Bash(cwd=tmp_path, confine="off")
    arguments = {"command": "npm run build > out.txt"}
    at_once = _contents(await _question(bash, arguments))
    assert at_once
    later = await _question(bash, arguments)
    arguments["command"] = "rm -rf /"
    async for _ in bash(command="cd sub"):
        pass
    assert bash.cwd.endswith("sub")
    assert _contents(later) == at_once


async def test_nothing_is_looked_for_until_it_is_asked_for(tmp_path: Path) -> None:
    """Whoever only wants to know whether to ask does not wait for suggestions."""
    found: list[str] = []

    class Noting(Write):
        def path_of(self, tool_input: Any) -> str:
            found.append("looked")
            return super().path_of(tool_input)

    tool = Noting(cwd=tmp_path)
    decision = await PermissionEngine(PermissionContext()).check_permission(
        tool, {"file_path": "a.txt", "content": "x"}
    )
    before = len(found)
    assert decision.suggested_rules
    assert len(found) > before
    after = len(found)
    assert decision.suggested_rules is decision.suggested_rules
    assert len(found) == after


async def test_a_tool_of_ones_own_may_wait_for_its_suggestions(tmp_path: Path) -> None:
    """What is awaited for suggestions is awaited while the decision is made."""

    class Slow(Bash):
        async def generate_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
            await asyncio.sleep(0.01)
            return [_rule("npm run:*"), _rule("unlike:*")]

    decision = await _question(Slow(cwd=tmp_path, confine="off"), {"command": "npm run build"})
    assert _contents(decision) == ["npm run:*"]


async def test_each_suggestion_would_have_allowed_the_call(tmp_path: Path) -> None:
    """Where it takes two rules to allow a call, the whole line is offered, until one is there."""
    bash = Bash(cwd=tmp_path, confine="off")
    context = PermissionContext()
    engine = PermissionEngine(context)
    whole = [f"= {COMMAND['command']}"]
    assert _contents(await engine.check_permission(bash, COMMAND)) == whole
    engine.add_rule(_rule("make x"))
    (wanted,) = list((await engine.check_permission(bash, COMMAND)).suggested_rules or ())
    engine.add_rule(wanted)
    assert (await engine.check_permission(bash, COMMAND)).behavior is PermissionBehavior.ALLOW
