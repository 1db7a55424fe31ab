"""Safety, prompts and time of reading commands: this library and AgentScope, side by side.

    python -m benchmarks.shell [--rounds 3]

With no rules, on the project's corpus: the harmful commands that would run unasked, and the
everyday reads that would be asked about. Then the time of a decision; the rounds of both alternate.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.environment import OTHER_VERSION, measure, medians, other_python


def main() -> None:
    """Run the rounds and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    there = other_python()
    ours, theirs = [], []
    for _ in range(options.rounds):
        ours.append(measure(sys.executable, "shell_worker", "agentscope_like"))
        theirs.append(measure(there, "shell_worker", "agentscope"))
    names = {"this library": ours[0]["judged"], f"AgentScope {OTHER_VERSION}": theirs[0]["judged"]}
    print("| engine | mode | harmful commands allowed | everyday reads not allowed |")
    print("|---|---|---:|---:|")
    for name, judged in names.items():
        for mode, (harmful, ran, everyday, asked) in judged.items():
            share = f"{asked / everyday:.1%}"
            print(
                f"| {name} | {mode} | {ran} of {harmful:,} | {asked:,} of {everyday:,} ({share}) |"
            )
    here = medians([each["times"] for each in ours])
    other = medians([each["times"] for each in theirs])
    print(f"\n| decision about | here, µs | AgentScope {OTHER_VERSION}, µs | ratio |")
    print("|---|---:|---:|---:|")
    for name, figure in here.items():
        print(f"| {name} | {figure:,.1f} | {other[name]:,.1f} | {other[name] / figure:,.1f} |")


if __name__ == "__main__":
    main()
