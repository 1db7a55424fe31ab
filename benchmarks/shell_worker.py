"""Judges the corpus with one library and times its decisions about commands; prints JSON.

`python -m benchmarks.shell_worker agentscope_like` or, in its own environment, `agentscope`: both
have the same public names.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.timing import timed

PACKAGE = sys.argv[1]
CORPUS = Path(__file__).resolve().parent.parent / "tests" / "data" / "commands"
MODES = ("default", "explore")

permission: Any = importlib.import_module(f"{PACKAGE}.permission")
bash: Any = importlib.import_module(f"{PACKAGE}.tool").Bash()


def commands(kind: str) -> Iterator[str]:
    """Yield the commands of one half of the corpus."""
    for file in sorted((CORPUS / kind).glob("*.jsonl")):
        for line in file.read_text().splitlines():
            yield json.loads(line)["command"]


async def allowed(engine: Any, kind: str) -> tuple[int, int]:
    """Return how many commands there are, and how many would run unasked."""
    count = unasked = 0
    for command in commands(kind):
        decision = await engine.check_permission(bash, {"command": command})
        count += 1
        unasked += decision.behavior.value == "allow"
    return count, unasked


async def judged(mode: str) -> tuple[int, int, int, int]:
    """Return harmful commands, those allowed, everyday reads, and those not allowed."""
    context = permission.PermissionContext(mode=permission.PermissionMode(mode))
    engine = permission.PermissionEngine(context)
    harmful, ran = await allowed(engine, "harmful")
    everyday, quiet = await allowed(engine, "everyday")
    return harmful, ran, everyday, everyday - quiet


async def time_of(command: Callable[[int], str], *, rules: int = 0, rounds: int = 100) -> float:
    """Return the microseconds of a decision about the command of a number."""
    engine = permission.PermissionEngine(permission.PermissionContext())
    for number in range(rules):
        engine.add_rule(
            permission.PermissionRule(
                tool_name="Bash",
                rule_content=f"program-{number} run:*",
                behavior=permission.PermissionBehavior.ALLOW,
                source="benchmark",
            )
        )

    async def operation(number: int) -> None:
        await engine.check_permission(bash, {"command": command(number)})

    return await timed(operation, rounds)


def long_command(number: int) -> str:
    """Return a command of 2,000 characters."""
    words = f"cat file-{number}"
    while len(words) < 2_000:
        words += f" source/part-{len(words)}.py"
    return words[:2_000]


async def times() -> dict[str, float]:
    """Return the microseconds of a decision, by what it is about."""
    return {
        "`ls -la NAME`, new each time": await time_of(lambda n: f"ls -la name-{n}"),
        "a pipeline of five, new each time": await time_of(
            lambda n: f"cat name-{n} | grep -v word | sort -u | uniq -c | head -5"
        ),
        "a list with `cd` and `$?`, new each time": await time_of(
            lambda n: f'cd source && ls -la name-{n} && git status; echo "exit: $?"'
        ),
        "2,000 characters, new each time": await time_of(long_command, rounds=20),
        "`git status`, again": await time_of(lambda _: "git status"),
        "`make NAME`, new, 10 rules": await time_of(lambda n: f"make name-{n}", rules=10),
        "`make NAME`, new, 100,000 rules": await time_of(
            lambda n: f"make other-{n}", rules=100_000, rounds=10
        ),
    }


async def main() -> None:
    """Measure everything and print it."""
    os.chdir(tempfile.mkdtemp())
    results = {"judged": {mode: await judged(mode) for mode in MODES}, "times": await times()}
    print(json.dumps(results))


asyncio.run(main())
