"""Decisions, calls and how they grow, side by side with AgentScope in one run.

    python -m benchmarks.decisions [--rounds 5] [--only TEXT]

Each round asks both libraries for each row in turn, so that whatever else the machine does meets
both; each figure is the best of the rounds, in microseconds. A ratio above 1 is how many times
longer AgentScope takes. At the end stand the Python calls of cold decisions and the files that they
are in. AgentScope is installed from the package index into an environment of its own, on demand.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from typing import Any

from benchmarks.decisions_worker import COUNTED, ROWS
from benchmarks.environment import OTHER_VERSION, ROOT, other_python

PACKAGES = ("agentscope_like", "agentscope")
IMPORTS = ("permission", "tool")


class Worker:
    """A process that measures one library.

    Args:
        python: The interpreter that has it.
        package: Its name.
    """

    def __init__(self, python: str, package: str) -> None:
        self._python = python
        self._package = package
        command = [python, "-m", "benchmarks.decisions_worker", package]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
        )

    def measure(self, row: str) -> Any:
        """Return what the process answers to the name of a row; None once it has failed."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the worker has no pipes")
        self._process.stdin.write(f"{row}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self._package} failed at {row!r}")
        return json.loads(answer)

    def import_time(self, name: str) -> float:
        """Return the microseconds of a new process that imports a module."""
        begin = time.perf_counter()
        command = [self._python, "-c", f"import {self._package}.{name}"]
        subprocess.run(command, check=True, cwd=ROOT)
        return (time.perf_counter() - begin) * 1e6

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def measured(workers: list[Worker], row: str) -> list[float | None]:
    """Return what each library takes for a row, now."""
    if row.startswith("import "):
        return [worker.import_time(row.removeprefix("import ")) for worker in workers]
    return [worker.measure(row) for worker in workers]


def main() -> None:
    """Run the rounds and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="rows whose name has this text in it")
    options = parser.parse_args()
    workers = [Worker(python, name) for python, name in zip(_pythons(), PACKAGES, strict=True)]
    rows = [*(f"import {name}" for name in IMPORTS), *ROWS]
    rows = [row for row in rows if options.only in row]
    best: dict[str, list[float | None]] = {}
    for _ in range(options.rounds):
        for row in rows:
            found = measured(workers, row)
            best[row] = list(map(_least, best.get(row, found), found))
    print(f"| row | here, µs | AgentScope {OTHER_VERSION}, µs | ratio |\n|---|---:|---:|---:|")
    for row, (here, there) in best.items():
        ratio = f"{there / here:.2f}" if here and there else "-"
        print(f"| {row} | {_shown(here)} | {_shown(there)} | {ratio} |")
    print("\n| cold decision | calls, files here | calls, files there |\n|---|---:|---:|")
    for command in COUNTED:
        told = (", ".join(map(str, worker.measure(command))) for worker in workers)
        print(f"| `{command}` | {' | '.join(told)} |")
    for worker in workers:
        worker.close()


def _pythons() -> tuple[str, str]:
    return sys.executable, other_python()


def _least(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else min(one, other)


def _shown(figure: float | None) -> str:
    return "-" if figure is None else f"{figure:,.1f}"


if __name__ == "__main__":
    main()
