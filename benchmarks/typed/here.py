"""Measures typed tools of this library; prints JSON: `python -m benchmarks.typed.here`."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentscope_like import Agent, AgentState, ScriptedModel, Toolkit, UserMsg
from agentscope_like.agent import ReActConfig
from agentscope_like.message import ToolCallBlock
from agentscope_like.model import Script
from agentscope_like.permission import PermissionContext
from agentscope_like.typed import (
    Action,
    Effects,
    Observation,
    ToolConversation,
    ToolDefinition,
    ToolExecutor,
)
from benchmarks.typed.work import (
    ARGUMENTS,
    CALLS,
    TOOLS,
    footprint,
    import_seconds,
    microseconds,
    report,
)

PACKAGE = Path(__file__).parents[2] / "agentscope_like"


class LookAction(Action):
    """What to look at."""

    path: str
    count: int
    deep: bool = False


class LookObservation(Observation):
    """How often."""

    count: int


class LookExecutor(ToolExecutor[LookAction, LookObservation]):
    """Says what it was told."""

    inline = True

    def __call__(
        self, action: LookAction, conversation: ToolConversation | None = None
    ) -> LookObservation:
        """Return the observation."""
        return LookObservation.from_text(action.path, count=action.count)


class LookTool(ToolDefinition[LookAction, LookObservation]):
    """A tool that says that it touches nothing, and is trusted."""

    description = "Looks at a path."

    def effects(self, action: LookAction) -> Effects | None:
        """Return that nothing is touched."""
        return Effects()


class ThreadExecutor(LookExecutor):
    """Does the same in a thread, as what may block does."""

    inline = False


def look(name: str = "look", executor: LookExecutor | None = None) -> LookTool:
    """Return the tool."""
    return LookTool(name=name, executor=executor or LookExecutor(), trust=True)


async def best_of(operation: Callable[[int], Any], rounds: int, *, batches: int = 7) -> float:
    """Return the processor time in microseconds of one awaited operation."""
    best, number = float("inf"), 0
    for _ in range(batches):
        begin = time.process_time()
        for _ in range(rounds):
            await operation(number)
            number += 1
        best = min(best, (time.process_time() - begin) / rounds)
    return best * 1e6


async def guarded_call(executor: LookExecutor) -> float:
    """Return the microseconds of a call that is parsed, validated, decided and run."""
    toolkit = Toolkit([look(executor=executor)])
    state = AgentState(permission_context=PermissionContext())
    text = json.dumps(ARGUMENTS)

    async def once(number: int) -> None:
        call = ToolCallBlock(id=f"c{number}", name="look", input=text)
        last: Any = None
        async for item in toolkit.call_tool(call, state):
            last = item
        if last is None or last.state != "success":
            raise RuntimeError(f"the call did not run: {last}")

    return await best_of(once, 300)


async def loop_call() -> float:
    """Return the microseconds of one call in an agent's reply of many, model and all."""
    turns: list[dict[str, Any]] = [
        {"calls": [{"name": "look", "input": {**ARGUMENTS, "count": n}}]} for n in range(CALLS)
    ]
    script = Script.parse("\n".join(map(json.dumps, [*turns, {"say": "Done."}])))

    async def once(number: int) -> None:
        del number
        agent = Agent(
            "ada",
            "You look.",
            ScriptedModel(script, stream=False),
            Toolkit([look()]),
            state=AgentState(),
            react_config=ReActConfig(max_iters=CALLS + 5),
        )
        message = await agent.reply(UserMsg("user", "Look."))
        if not (message.get_text_content() or "").endswith("Done."):
            raise RuntimeError(message)

    return await best_of(once, 1, batches=5) / CALLS


def main() -> None:
    """Measure, and print."""
    tool = look()
    executor = tool.executor
    if executor is None:
        raise RuntimeError("the tool has no executor")
    tools = [look(f"look_{number}") for number in range(TOOLS)]
    packages, size = footprint("agentscope_like")
    own = sum(os.path.getsize(one) for one in PACKAGE.rglob("*") if one.suffix in (".py", ".toml"))

    def execute() -> None:
        _ = executor(tool.action_from_arguments(ARGUMENTS)).to_llm_content

    def schemas() -> None:
        for one in tools:
            one.to_openai_tool(add_security_risk_prediction=True)

    schemas()
    report(
        {
            "import": import_seconds("from agentscope_like.typed import ToolDefinition, Action"),
            "import_all": import_seconds("from agentscope_like import *"),
            "executor": microseconds(execute, 3000),
            "guarded": asyncio.run(guarded_call(LookExecutor())),
            "guarded_thread": asyncio.run(guarded_call(ThreadExecutor())),
            "loop": asyncio.run(loop_call()),
            "schemas": microseconds(schemas, 20) / 1e3,
            "size": size + own / 1024**2,
            "packages": packages,
        }
    )


if __name__ == "__main__":
    main()
