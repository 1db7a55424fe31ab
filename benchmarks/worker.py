"""Times one library in a process of its own; prints microseconds per operation as JSON.

Both libraries have the same public names, so the same code measures both:
`python -m benchmarks.worker agentscope_like` or, in its own environment, `agentscope`.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.timing import timed

PACKAGE = sys.argv[1]
MIDDLEWARES = (0, 1, 5, 20)
RULES = (10, 100, 10_000)


def module(name: str) -> Any:
    """Return a module of the measured package."""
    return importlib.import_module(f"{PACKAGE}.{name}")


def echo_tool(middlewares: list[Any], *, reads: bool = False) -> Any:
    """Return a tool that allows all its calls and answers with one chunk."""
    tool, message, permission = module("tool"), module("message"), module("permission")

    class Echo(tool.ToolBase):  # type: ignore[misc, name-defined]
        name = "Echo"
        description = "Answers with its text."
        input_schema = {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
        }
        is_concurrency_safe = True
        is_read_only = reads

        async def check_permissions(self, tool_input: Any, context: Any) -> Any:
            allow = permission.PermissionBehavior.ALLOW
            return permission.PermissionDecision(behavior=allow, message="Harmless.")

        async def call(self, text: str) -> Any:
            return tool.ToolChunk(content=[message.TextBlock(text=text)])

    return Echo(middlewares=middlewares)


def pass_through() -> Any:
    """Return a middleware that passes everything on."""
    tool = module("tool")

    class PassThrough(tool.ToolMiddlewareBase):  # type: ignore[misc, name-defined]
        async def on_tool_call(self, tool: Any, input_kwargs: Any, next_handler: Any) -> Any:
            async for chunk in next_handler(**input_kwargs):
                yield chunk

    return PassThrough()


async def call_tool(layers: int) -> float:
    """Time the guarded path (here), the unguarded `call_tool` (AgentScope)."""
    message, state = module("message"), module("state").AgentState()
    toolkit = module("tool").Toolkit(tools=[echo_tool([pass_through() for _ in range(layers)])])

    async def operation(number: int) -> None:
        call = message.ToolCallBlock(id="c", name="Echo", input='{"text": "hello"}')
        async for _ in toolkit.call_tool(call, state):
            pass

    return await timed(operation, 300)


async def decide(tool: Any, tool_input: Callable[[int], dict[str, Any]], rules: int) -> float:
    """Time decisions of the engine."""
    permission = module("permission")
    engine = permission.PermissionEngine(permission.PermissionContext())
    allow = permission.PermissionBehavior.ALLOW
    for number in range(rules):
        engine.add_rule(
            permission.PermissionRule(
                tool_name=tool.name,
                rule_content=f"program-{number} run:*",
                behavior=allow,
                source="benchmark",
            )
        )

    async def operation(number: int) -> None:
        await engine.check_permission(tool, tool_input(number))

    return await timed(operation, 100)


def _new_target(count: int) -> Callable[[int], dict[str, Any]]:
    """Return what makes a command that no benchmark has used before."""
    return lambda number: {"command": f"make build-{count}-{number}"}


def import_time(name: str) -> float:
    """Return the seconds of an import in a new process, in microseconds; the best of three."""
    best = float("inf")
    for _ in range(3):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", f"import {name}"], check=True)
        best = min(best, time.perf_counter() - begin)
    return best * 1e6


async def main() -> None:
    """Measure everything and print it."""
    bash = module("tool").Bash()
    results = {f"call_tool, {n} middlewares": await call_tool(n) for n in MIDDLEWARES}
    for name, reads in (("a custom tool", False), ("a custom tool that only reads", True)):
        tool = echo_tool([], reads=reads)
        results[f"decision: {name}"] = await decide(tool, lambda _: {"text": "hi"}, 0)
    results["decision: `git status`, again"] = await decide(
        bash, lambda _: {"command": "git status"}, 0
    )
    results["decision: `ls -la DIRECTORY`, new each time"] = await decide(
        bash, lambda number: {"command": f"ls -la directory-{number}"}, 0
    )
    for count in RULES:
        results[f"decision: nothing matches {count:,} rules"] = await decide(
            bash, _new_target(count), count
        )
    results["import permission"] = import_time(f"{PACKAGE}.permission")
    results["import tool"] = import_time(f"{PACKAGE}.tool")
    print(json.dumps(results))


asyncio.run(main())
