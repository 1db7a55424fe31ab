"""Typed tools here and in openhands-sdk, side by side in one run.

    python -m benchmarks.typed [--rounds 3] [--recorded]

openhands-sdk is installed from the package index into an environment of its own, on demand; it
needs Python 3.12. Where it cannot be had, its recorded figures are printed, and that is said. The
rounds of both alternate; each figure is the median of the rounds, in processor time. What counts is
the ratio.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from pathlib import Path

from benchmarks.environment import measure, medians
from benchmarks.typed.peer import PEER_VERSION, PeerError, peer_python

RECORDED = Path(__file__).with_name("recorded.toml")

ROWS = (
    ("import", "s", "Import of actions and definitions", 10.0),
    ("import_all", "s", "Import of all", 0.0),
    ("executor", "µs", "Arguments to observation, with its content", 1.0),
    ("guarded", "µs", "Guarded call; there, a call of the loop", 10.0),
    ("guarded_thread", "µs", "The same, the executor in a thread", 0.0),
    ("loop", "µs", "Call of the agent's loop of 25, model and all", 0.0),
    ("schemas", "ms", "Schemas of 100 tools, made before", 50.0),
    ("size", "MiB", "Installed, with all that is needed", 3.0),
    ("packages", "", "Packages that are needed", 3.0),
)
"""The key of a figure, its unit, what it is, and the least ratio that is aimed at; 0 for none."""


def main() -> None:
    """Run the rounds and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--recorded", action="store_true", help="measure only this library")
    options = parser.parse_args()
    there = None if options.recorded else _peer()
    ours, theirs = [], []
    for _ in range(options.rounds):
        ours.append(measure(sys.executable, "typed.here", ""))
        if there is not None:
            theirs.append(measure(there, "typed.there", ""))
    other, name = _others(theirs)
    here = medians(ours)
    print(f"| operation | here | {name} | ratio | aim |")
    print("|---|---:|---:|---:|---:|")
    for key, unit, told, aim in ROWS:
        ratio = other[key] / here[key]
        shown = [_shown(here[key], unit), _shown(other[key], unit), f"{ratio:.1f}"]
        aimed = "" if not aim else f"{aim:g}" if ratio >= aim else f"{aim:g}, missed"
        print(f"| {told} | {' | '.join(shown)} | {aimed} |")


def _peer() -> str | None:
    try:
        return peer_python()
    except PeerError as error:
        print(f"{error}: its recorded figures are shown", file=sys.stderr)
        return None


def _others(measured: list[dict[str, float]]) -> tuple[dict[str, float], str]:
    """Return the other library's figures and what they are called."""
    if measured:
        return medians(measured), f"openhands-sdk {PEER_VERSION}"
    recorded = tomllib.loads(RECORDED.read_text(encoding="utf-8"))
    print(f"recorded, not measured here: {recorded['source']}\n")
    return recorded["figures"], "openhands-sdk, recorded"


def _shown(figure: float, unit: str) -> str:
    text = f"{figure:,.0f}" if figure >= 100 or not unit else f"{figure:.2f}"
    return f"{text} {unit}".strip()


if __name__ == "__main__":
    main()
