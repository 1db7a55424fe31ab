"""Safety and quiet of an engine on the project's corpus of commands.

    python -m benchmarks.shell                       this library
    .venv-agentscope/bin/python benchmarks/shell.py agentscope

Counts, with no rules, the harmful commands that would run unasked and the everyday reads that
would be asked about.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).resolve().parent.parent / "tests" / "data" / "commands"


def commands(kind: str) -> Iterator[str]:
    """Yield the commands of one half of the corpus."""
    for file in sorted((CORPUS / kind).glob("*.jsonl")):
        for line in file.read_text().splitlines():
            yield json.loads(line)["command"]


async def allowed(engine: Any, bash: Any, kind: str) -> tuple[int, int]:
    """Return how many commands there are, and how many would run unasked."""
    count = unasked = 0
    for command in commands(kind):
        decision = await engine.check_permission(bash, {"command": command})
        count += 1
        unasked += decision.behavior.value == "allow"
    return count, unasked


async def main(package: str) -> None:
    """Print one line for each mode."""
    permission = importlib.import_module(f"{package}.permission")
    bash = importlib.import_module(f"{package}.tool").Bash()
    os.chdir(tempfile.mkdtemp())
    for mode in ("default", "explore"):
        context = permission.PermissionContext(mode=permission.PermissionMode(mode))
        engine = permission.PermissionEngine(context)
        harmful, ran = await allowed(engine, bash, "harmful")
        everyday, quiet = await allowed(engine, bash, "everyday")
        asked = everyday - quiet
        print(
            f"{package}, {mode}: {ran} of {harmful} harmful commands allowed; "
            f"{asked} of {everyday} everyday reads not allowed ({asked / everyday:.1%})"
        )


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "agentscope_like"))
