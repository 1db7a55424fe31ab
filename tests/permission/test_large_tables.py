"""Large tables of rules are compiled beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from agentscope_like.message import ToolCallState
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionEngine,
    PermissionRule,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import Bash, Toolkit, Write
from tests.tool.kit import call_of

MANY = 6_000
ALLOW, DENY = PermissionBehavior.ALLOW, PermissionBehavior.DENY


def policy(tool_name: str, form: str) -> PermissionContext:
    """Return a policy of many allow rules, and as many that deny."""
    context = PermissionContext()
    for behavior in (ALLOW, DENY):
        context.table(behavior)[tool_name] = [
            PermissionRule(
                tool_name=tool_name,
                rule_content=form.format(f"{behavior.value}{number}"),
                behavior=behavior,
            )
            for number in range(MANY)
        ]
    return context


async def turns_during(work: Callable[[], Awaitable[Any]]) -> int:
    """Return how often another task had its turn while the work was done."""
    turns = 0

    async def tick() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.001)
            turns += 1

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0.01)
    turns = 0
    await work()
    done = turns
    ticking.cancel()
    return done


KINDS = [
    (Bash, "prog-{} sub:*", "prog-{} sub x", "command"),
    (Write, "/srv/{}/**", "/srv/{}/x", "file_path"),
]


@pytest.mark.parametrize(("make", "form", "used", "argument"), KINDS, ids=["Bash", "Write"])
async def test_the_first_decision_leaves_the_loop_its_turns(
    make: Any, form: str, used: str, argument: str
) -> None:
    """The rules hold from the first decision on, in a toolkit and in an engine alone."""
    tool = make()
    given = {"content": "x"} if tool.name == "Write" else {}
    for name, behavior in ((f"allow{MANY - 1}", ALLOW), (f"deny{MANY - 1}", DENY)):
        engine = PermissionEngine(policy(tool.name, form))
        found: list[PermissionBehavior] = []

        async def work() -> None:
            arguments = {argument: used.format(name), **given}  # noqa: B023 - called at once
            decision = await engine.check_permission(tool, arguments)  # noqa: B023
            found.append(decision.behavior)  # noqa: B023

        assert await turns_during(work) > 3
        assert found == [behavior]
    state = AgentState(permission_context=policy(tool.name, form))
    toolkit = Toolkit([tool])
    call = call_of(tool.name, "{}")
    assert await turns_during(lambda: toolkit.decide(call, state)) > 3


async def test_a_rule_that_comes_meanwhile_is_not_lost() -> None:
    """What was compiled without it is dropped."""
    context = policy("Bash", "prog-{} sub:*")
    state, call = AgentState(permission_context=context), call_of("Bash", '{"command": "late x"}')
    context.mode = context.mode.BYPASS
    deciding = asyncio.create_task(Toolkit([Bash()]).decide(call, state))
    await asyncio.sleep(0.02)
    late = PermissionRule(tool_name="Bash", rule_content="late:*", behavior=DENY)
    context.table(DENY).add(late)
    decided = await deciding
    assert decided.grant is None
    assert call.state is ToolCallState.FINISHED
