"""This library and AgentScope, side by side in one run.

    python -m benchmarks [--rounds 3]

AgentScope is installed from the package index into an environment of its own, on demand.
The rounds of both alternate, so that whatever else the machine does meets both; each figure is the
median of the rounds. What counts is the ratio.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.environment import OTHER_VERSION, measure, medians, other_python


def main() -> None:
    """Run the rounds and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    there = other_python()
    ours, theirs = [], []
    for _ in range(options.rounds):
        ours.append(measure(sys.executable, "worker", "agentscope_like"))
        theirs.append(measure(there, "worker", "agentscope"))
    here, other = medians(ours), medians(theirs)
    print(f"| operation | here, µs | AgentScope {OTHER_VERSION}, µs | ratio |")
    print("|---|---:|---:|---:|")
    for name, figure in here.items():
        print(f"| {name} | {figure:,.1f} | {other[name]:,.1f} | {other[name] / figure:.1f} |")


if __name__ == "__main__":
    main()
