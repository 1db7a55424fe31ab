"""Times single rows of `benchmarks.decisions` for one library, on demand.

Reads names of rows from its input, one a line, and answers each with a line of JSON: microseconds,
or null where the library cannot do it. Both libraries have the same public names.
"""

from __future__ import annotations

import asyncio
import collections
import importlib
import inspect
import json
import os
import sys
import tempfile
import types
from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from typing import Any, TypeAlias

from benchmarks.timing import timed

__all__ = ["COUNTED", "ROWS"]

Operation: TypeAlias = Callable[[int], Awaitable[Any]]
_Maker: TypeAlias = Callable[[], Operation | None]

LONG = "echo " + "word " * 400
MIDDLEWARES = (0, 1, 5, 20)
RULES = (10, 1_000, 10_000)
MANY_RULES = (1_000, 10_000, 100_000)
TOOLS = (1, 1_000, 2_000)
DIRECTORIES = (1, 10, 100, 1_000)
MESSAGES = (10, 100, 1_000)
COUNTED = (
    "git log -N",
    "npm run buildN",
    "cat aN | grep b | sort",
    'for f in *.pN; do wc -l "$f"; done',
)
_COMMANDS = {
    "git log -N, cold": "git log -N",
    "git log -5, hot": "git log -5",
    "pipe of five": "cat aN | grep b | sort | uniq -c | head -5",
    "npm run buildN (asks)": "npm run buildN",
    "echo of 2,000 characters": f"{LONG}N",
}
_REPEATS = 20
_BATCHES = 15
"""Short ones, so that some of them are undisturbed on a busy machine."""

_SLOW_SIZE = 1_000


def module(name: str) -> Any:
    """Return a module of the measured package."""
    return importlib.import_module(f"{sys.argv[1]}.{name}")


class _Numbers:
    """Numbers that nothing was measured with before."""

    def __init__(self) -> None:
        self._next: Iterator[int] = count(1_000)

    def into(self, text: str) -> str:
        """Return the text with a new number in the place of each N."""
        return text.replace("N", str(next(self._next)))


_NUMBERS = _Numbers()


def _engine(mode: str = "default") -> Any:
    permission = module("permission")
    return permission.PermissionEngine(
        permission.PermissionContext(mode=permission.PermissionMode(mode))
    )


def _rule(content: str, behavior: str, tool: str = "Bash") -> Any:
    permission = module("permission")
    return permission.PermissionRule(
        tool_name=tool,
        rule_content=content,
        behavior=permission.PermissionBehavior(behavior),
        source="benchmark",
    )


def _bash() -> Any:
    bash = module("tool").Bash
    has_confinement = "confine" in inspect.signature(bash).parameters
    return bash(confine="off") if has_confinement else bash()


def _deciding(command: str, rules: int = 0) -> Operation:
    engine, bash = _engine(), _bash()
    for number in range(rules):
        engine.add_rule(_rule(f"program-{number} run:*", "deny"))

    async def decide(_: int) -> None:
        await engine.check_permission(bash, {"command": _NUMBERS.into(command)})

    return decide


def _adding(rules: int) -> Operation:
    engine, bash = _engine(), _bash()
    for number in range(rules):
        engine.add_rule(_rule(f"program-{number} run:*", "deny"))

    async def add(_: int) -> None:
        engine.add_rule(_rule(_NUMBERS.into("added-N run:*"), "deny"))
        await engine.check_permission(bash, {"command": "git log -5"})

    return add


def _writing(tool: str, directories: int) -> Operation:
    engine = _engine("accept_edits")
    directory = module("permission").AdditionalWorkingDirectory
    place = tempfile.mkdtemp()
    for number in range(directories):
        path = f"{place}/{number}"
        os.mkdir(path)
        engine.context.working_directories[path] = directory(path=path, source="benchmark")
    last = f"{place}/{directories - 1}/fileN"
    by = _bash() if tool == "Bash" else module("tool").Write()

    async def decide(_: int) -> None:
        path = _NUMBERS.into(last)
        written = {"file_path": path, "content": "x"}
        await engine.check_permission(
            by, {"command": f"touch {path}"} if tool == "Bash" else written
        )

    return decide


def _layers(number: int) -> list[Any]:
    class PassThrough(module("tool").ToolMiddlewareBase):  # type: ignore[misc]
        async def on_tool_call(self, tool: Any, input_kwargs: Any, next_handler: Any) -> Any:
            async for chunk in next_handler(**input_kwargs):
                yield chunk

    return [PassThrough() for _ in range(number)]


async def _async_echo(text: str) -> str:
    """Answer with the text.

    Args:
        text: The text.
    """
    return text


def _sync_echo(text: str) -> str:
    """Answer with the text.

    Args:
        text: The text.
    """
    return text


def _calling(
    func: Callable[..., Any], layers: int = 0, *, others: int = 0, inline: bool = False
) -> Operation | None:
    tool, message, permission = module("tool"), module("message"), module("permission")
    options: dict[str, Any] = {}
    if inline and "inline" in inspect.signature(tool.FunctionTool).parameters:
        options["inline"] = True
    state = module("state").AgentState()
    state.permission_context.mode = permission.PermissionMode.BYPASS
    tools = [tool.FunctionTool(func, name="Echo", middlewares=_layers(layers), **options)]
    tools += [tool.FunctionTool(func, name=f"Echo{number}") for number in range(others)]
    toolkit = tool.Toolkit(tools=tools)

    async def call(_: int) -> None:
        block = message.ToolCallBlock(id="c", name="Echo", input='{"text": "hello"}')
        async for _ in toolkit.call_tool(block, state):
            pass

    return call


def _schemas(tools: int) -> Operation:
    tool = module("tool")
    toolkit = tool.Toolkit(
        tools=[tool.FunctionTool(_sync_echo, name=f"Echo{number}") for number in range(tools)]
    )

    async def ask(_: int) -> None:
        await toolkit.get_tool_schemas()

    return ask


def _making() -> Operation:
    tool = module("tool")

    async def make(_: int) -> None:
        tool.FunctionTool(_sync_echo)

    return make


def _storing(messages: int) -> Operation:
    message, state = module("message"), module("state").AgentState()
    state.context = [
        message.Msg(name="user", content=[message.TextBlock(text="x" * 1_000)], role="user")
        for _ in range(messages)
    ]

    async def store(_: int) -> None:
        state.model_dump_json()

    return store


def _rows() -> dict[str, tuple[_Maker, int]]:
    """Return what makes the operation of each row, and how often it is repeated."""
    rows: dict[str, tuple[_Maker, int]] = {}

    def add(name: str, make: Callable[..., Operation | None], *args: Any, **options: Any) -> None:
        size = max((each for each in args if isinstance(each, int)), default=0)
        repeats = 1 if size >= _SLOW_SIZE else _REPEATS
        rows[name] = (lambda: make(*args, **options)), repeats

    for name, command in _COMMANDS.items():
        add(name, _deciding, command)
    for number in RULES:
        for name in ("git log -N, cold", "npm run buildN (asks)"):
            add(f"{name}, {number:,} deny rules", _deciding, _COMMANDS[name], number)
    for number in MIDDLEWARES:
        add(f"call of an async function, {number} middlewares", _calling, _async_echo, number)
        add(f"call of a sync function, {number} middlewares", _calling, _sync_echo, number)
        name = f"call of a sync function, inline, {number} middlewares"
        add(name, _calling, _sync_echo, number, inline=True)
    add("FunctionTool()", _making)
    for number in MANY_RULES:
        add(f"one rule more, then a decision, {number:,} rules", _adding, number)
    for number in DIRECTORIES:
        add(f"touch in the last of {number:,} directories", _writing, "Bash", number)
        add(f"Write in the last of {number:,} directories", _writing, "Write", number)
    for number in TOOLS:
        add(f"call with {number:,} tools", _calling, _async_echo, others=number - 1)
        add(f"get_tool_schemas of {number:,} tools", _schemas, number)
    for number in MESSAGES:
        add(f"state of {number:,} messages as JSON", _storing, number)
    return rows


ROWS = _rows()


async def _python_calls(command: str) -> tuple[int, int]:
    """Return the Python calls of a cold decision, and the files that they are in."""
    decide = _deciding(command)
    for number in range(20):
        await decide(number)
    calls: collections.Counter[str] = collections.Counter()

    def note(frame: types.FrameType, event: str, _: Any) -> None:
        if event == "call":
            calls[frame.f_code.co_filename] += 1

    sys.setprofile(note)
    try:
        await decide(20)
    finally:
        sys.setprofile(None)
    return calls.total(), len(calls)


async def main() -> None:
    """Answer until the input ends."""
    known: dict[str, Operation | None] = {}
    for line in sys.stdin:
        name = line.rstrip("\n")
        answer: Any = None
        if name in COUNTED:
            answer = await _python_calls(name)
        else:
            make, repeats = ROWS[name]
            if name not in known:
                known[name] = make()
            operation = known[name]
            if operation is not None:
                answer = await timed(operation, repeats, batches=_BATCHES)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
