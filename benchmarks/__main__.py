"""This library and AgentScope, side by side in one run.

    python -m benchmarks [--rounds 3]

AgentScope is installed from the package index into an environment of its own, on demand.
The rounds of both alternate, so that whatever else the machine does meets both; each figure is the
median of the rounds. What counts is the ratio.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).parent
OTHER = HERE.parent / ".venv-agentscope"
OTHER_VERSION = "2.0.10"


def other_python() -> str:
    """Return the interpreter that has AgentScope, which is installed where it is missing."""
    python = OTHER / "bin" / "python"
    ready = OTHER / ".ready"
    if not ready.exists():
        print(f"installing agentscope {OTHER_VERSION} into {OTHER.name} ...", file=sys.stderr)
        venv.create(OTHER, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, f"agentscope=={OTHER_VERSION}"], check=True)
        ready.touch()
    return str(python)


def measure(python: str, package: str) -> dict[str, float]:
    """Return the figures of one round, in microseconds."""
    worker = str(HERE / "worker.py")
    done = subprocess.run(
        [python, worker, package], capture_output=True, text=True, check=True, cwd=HERE
    )
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> None:
    """Run the rounds and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    there = other_python()
    ours, theirs = [], []
    for _ in range(options.rounds):
        ours.append(measure(sys.executable, "agentscope_like"))
        theirs.append(measure(there, "agentscope"))
    print(f"| operation | here, µs | AgentScope {OTHER_VERSION}, µs | ratio |")
    print("|---|---:|---:|---:|")
    for name in ours[0]:
        here = statistics.median(figures[name] for figures in ours)
        other = statistics.median(figures[name] for figures in theirs)
        print(f"| {name} | {here:,.1f} | {other:,.1f} | {other / here:.1f} |")


if __name__ == "__main__":
    main()
