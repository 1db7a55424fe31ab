"""Rules that are added between decisions count as if they had been there from the start."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionRule,
    RuleError,
    check_rules,
)
from agentscope_like.tool import Bash, Grep, Read, ToolBase, Write

COMMANDS = ("npm run x", "git push", "rm a", "cat src/a", "echo x > src/b.py", "cat c.key")
PATHS = ("src/a", "src/b.py", "docs/a.md", "c.key", "a/b/c/d.txt")
RULES = {
    "Bash": ("npm run:*", "npm:*", "git push:*", "git * x", "rm *", "cat:*", "cat src/*", None),
    "Write": ("src/**", "*.key", "**/*.md", "src/b.py", "a/*/c/*.txt", "**/d*", "/etc/**", None),
    "Read": ("src/**", "*.key", "a/**/d.txt", "docs/[a-c].md", "{a,docs}/**", None),
}


def _calls(place: Path) -> list[tuple[ToolBase, dict[str, Any]]]:
    bash, write, read = Bash(cwd=place, confine="off"), Write(cwd=place), Read(cwd=place)
    return [
        *((bash, {"command": command}) for command in COMMANDS),
        *((write, {"file_path": path, "content": "x"}) for path in PATHS),
        *((read, {"file_path": path}) for path in PATHS),
        (Grep(cwd=place), {"pattern": "x", "path": "src"}),
    ]


async def _decided(
    context: PermissionContext, calls: list[tuple[ToolBase, dict[str, Any]]]
) -> list[PermissionDecision]:
    engine = PermissionEngine(context)
    return [await engine.check_permission(tool, arguments) for tool, arguments in calls]


def _random_rule(random: Random) -> PermissionRule:
    tool = random.choice(list(RULES))
    return PermissionRule(
        tool_name=tool,
        rule_content=random.choice(RULES[tool]),
        behavior=random.choice(
            (PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY)
        ),
        source=f"test {random.random()}",
    )


async def test_a_rule_for_a_whole_line_stays_when_others_are_added(tmp_path: Path) -> None:
    """A rule as it is offered counts before and after the next rules."""
    engine = PermissionEngine(PermissionContext())
    bash, line = Bash(cwd=tmp_path, confine="off"), {"command": "make < a"}
    other = {"command": "make < b"}
    asked = await engine.check_permission(bash, line)
    assert asked.behavior is PermissionBehavior.ASK
    for rule in asked.suggested_rules or ():
        engine.add_rule(rule)
    for content in ("git push:*", "= make < c"):
        assert (await engine.check_permission(bash, line)).behavior is PermissionBehavior.ALLOW
        assert (await engine.check_permission(bash, other)).behavior is PermissionBehavior.ASK
        engine.add_rule(
            PermissionRule(
                tool_name="Bash", rule_content=content, behavior=PermissionBehavior.ALLOW
            )
        )
    assert (await engine.check_permission(bash, line)).behavior is PermissionBehavior.ALLOW


@pytest.mark.parametrize("seed", range(6))
async def test_a_rule_counts_whenever_it_is_added(tmp_path: Path, seed: int) -> None:
    """Each decision is the one of a context that had all rules from the start."""
    random = Random(seed)
    (tmp_path / "src").mkdir()
    calls = _calls(tmp_path)
    growing, rules = PermissionContext(), []
    for _ in range(12):
        rule = _random_rule(random)
        rules.append(rule)
        growing.table(rule.behavior).add(rule)
        whole = PermissionContext()
        for each in rules:
            whole.table(each.behavior).add(each)
        assert await _decided(growing, calls) == await _decided(whole, calls)


async def test_a_rule_that_cannot_be_read_is_refused_when_it_is_added_late(tmp_path: Path) -> None:
    """It is an error for whoever checks the rules, and calls ask for safety until it is gone."""
    bash = Bash(cwd=tmp_path, confine="off")
    context = PermissionContext()
    engine = PermissionEngine(context)
    deny = PermissionBehavior.DENY
    for content in ("rm:*", "git push"):
        engine.add_rule(PermissionRule(tool_name="Bash", rule_content=content, behavior=deny))
    call = {"command": "git push"}
    assert (await engine.check_permission(bash, call)).behavior is deny
    engine.add_rule(PermissionRule(tool_name="Bash", rule_content="a | b", behavior=deny))
    with pytest.raises(RuleError):
        check_rules(context, {"Bash": bash})
    assert (await engine.check_permission(bash, call)).bypass_immune
    context.deny_rules["Bash"].pop()
    assert (await engine.check_permission(bash, call)).behavior is deny


async def test_adding_a_rule_does_not_read_the_others_anew(tmp_path: Path) -> None:
    """One rule more is one pattern compiled, whatever there was before."""
    compiled: list[int] = []

    class Counting(Bash):
        def compile_rules(self, contents: Any, behavior: PermissionBehavior) -> Any:
            compiled.append(len(contents))
            return super().compile_rules(contents, behavior)

    bash = Counting(cwd=tmp_path, confine="off")
    engine = PermissionEngine(PermissionContext())
    deny = PermissionBehavior.DENY
    for number in range(50):
        content = f"program-{number} run:*"
        engine.add_rule(PermissionRule(tool_name="Bash", rule_content=content, behavior=deny))
        decision = await engine.check_permission(bash, {"command": f"program-{number} run x"})
        assert decision.behavior is deny
    assert compiled == [1]


async def test_a_rule_of_another_tool_leaves_the_own_ones_compiled(tmp_path: Path) -> None:
    """A deny rule for Write that comes later holds for Bash, whose own rules are not read anew."""
    compiled: list[int] = []

    class Counting(Bash):
        def compile_rules(self, contents: Any, behavior: PermissionBehavior) -> Any:
            compiled.append(len(contents))
            return super().compile_rules(contents, behavior)

    bash = Counting(cwd=tmp_path, confine="off")
    engine = PermissionEngine(PermissionContext())
    deny = PermissionBehavior.DENY
    engine.add_rule(PermissionRule(tool_name="Bash", rule_content="rm:*", behavior=deny))
    call = {"command": "touch kept.txt"}
    assert (await engine.check_permission(bash, call)).behavior is not deny
    for content in ("other.txt", "kept.txt"):
        engine.add_rule(PermissionRule(tool_name="Write", rule_content=content, behavior=deny))
    assert (await engine.check_permission(bash, call)).behavior is deny
    engine.add_rule(PermissionRule(tool_name="Write", rule_content="!broken", behavior=deny))
    for _ in range(2):
        assert (await engine.check_permission(bash, call)).bypass_immune
    engine.context.deny_rules["Write"].pop()
    assert (await engine.check_permission(bash, call)).behavior is deny
    assert compiled == [1, 1]
