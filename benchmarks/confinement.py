"""The time that confining adds to a call of Bash.

    python -m benchmarks.confinement [--rounds 200]

Each round runs each command once on the host and once confined, in turn, so that whatever else the
machine does meets both. The figures are milliseconds of a whole call: the median, and the quickest
tenth, which is what a machine takes that does nothing else. Making a namespace waits for all
processors, so on a busy machine the two are far apart.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from statistics import median, quantiles

from agentscope_like.permission import PermissionContext, PermissionMode
from agentscope_like.tool.builtin.bash.bash_tool import Bash

_COMMANDS = {
    "`true`, a read": "true",
    "`ls -la`, a read": "ls -la",
    "`git status`, a read": "git status --short",
    "`ps`, which sees processes": "ps aux",
    "`touch NAME`, an edit": "touch a",
}


async def _seconds(bash: Bash, command: str, context: PermissionContext) -> float:
    begin = time.perf_counter()
    chunks = [chunk async for chunk in bash.call(command, _permission_context=context)]
    taken = time.perf_counter() - begin
    expected = ("off",) if bash.confine == "off" else ("read", "edit")
    if chunks[-1].metadata.get("confinement") not in expected:
        raise SystemExit(f"{command!r} did not run as it should: {chunks[-1].metadata}")
    return taken


async def _measure(rounds: int, directory: str) -> dict[str, tuple[list[float], list[float]]]:
    context = PermissionContext(mode=PermissionMode.ACCEPT_EDITS)
    shells = Bash(cwd=directory, confine="off"), Bash(cwd=directory, confine="require")
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in _COMMANDS}
    for number in range(rounds + 1):
        for name, command in _COMMANDS.items():
            for shell, taken in zip(shells, times[name], strict=True):
                seconds = await _seconds(shell, command, context)
                if number:  # the first finds out whether it can be done at all
                    taken.append(seconds * 1000)
    return times


def main() -> None:
    """Run the rounds and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(["git", "init", "-q", directory], check=True)
        times = asyncio.run(_measure(options.rounds, directory))
    load = os.getloadavg()[0]
    print(f"{options.rounds} rounds, load {load:.1f}", file=sys.stderr)
    print("| command | host, quickest tenth | confined | added | host, median | confined | added |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, pair in times.items():
        figures: list[float] = []
        for of in (_quickest, _median):
            free, confined = of(pair[0]), of(pair[1])
            figures += [free, confined, confined - free]
        print(f"| {name} | {' | '.join(f'{figure:.1f}' for figure in figures)} |")


def _median(times: list[float]) -> float:
    return median(times)


def _quickest(times: list[float]) -> float:
    return quantiles(times, n=10)[0]


if __name__ == "__main__":
    main()
