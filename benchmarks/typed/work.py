"""What both libraries are measured at: the figures, and how to time them."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any

__all__ = ["ARGUMENTS", "CALLS", "TOOLS", "footprint", "import_seconds", "microseconds", "report"]

TOOLS = 100
"""How many tools' schemas are made."""

CALLS = 25
"""How many calls a loop makes."""

ARGUMENTS = {"path": "src/main.py", "count": 3, "deep": True}
"""The arguments of the measured call."""

_MIB = 1024 * 1024


def microseconds(operation: Callable[[], Any], rounds: int, *, batches: int = 7) -> float:
    """Return the processor time of one operation: the best of the batches."""
    for _ in range(max(1, rounds // 10)):
        operation()
    best = float("inf")
    gc.disable()
    for _ in range(batches):
        begin = time.process_time()
        for _ in range(rounds):
            operation()
        best = min(best, (time.process_time() - begin) / rounds)
    gc.enable()
    return best * 1e6


def import_seconds(statement: str, *, rounds: int = 3) -> float:
    """Return the processor time of a new interpreter that imports, the least of the rounds."""
    program = f"{statement}\nimport time\nprint('TOOK', time.process_time())"
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    took = []
    for _ in range(rounds):
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        line = next(line for line in done.stdout.splitlines() if line.startswith("TOOK "))
        took.append(float(line.split()[1]))
    return min(took)


def footprint(*names: str) -> tuple[int, float]:
    """Return how many distributions these need, without themselves, and the MiB of all."""
    found: dict[str, Distribution] = {}
    left: list[tuple[str, str]] = [(name, "") for name in names]
    seen: set[tuple[str, str]] = set()
    while left:
        wanted = left.pop()
        if wanted in seen:
            continue
        seen.add(wanted)
        try:
            found[wanted[0]] = distribution(wanted[0])
        except PackageNotFoundError:
            continue  # for another platform
        left += _needed_by(found[wanted[0]], wanted[1])
    size = sum(_size(one) for one in found.values())
    return len(found) - len(names), size / _MIB


def _needed_by(package: Distribution, extra: str) -> list[tuple[str, str]]:
    """Return the names of what a package with an extra needs here, each with its own extras."""
    from pip._vendor.packaging.requirements import Requirement

    needed = [Requirement(text) for text in package.requires or ()]
    return [
        (one.name.lower().replace("_", "-").replace(".", "-"), inner)
        for one in needed
        if one.marker is None or one.marker.evaluate({"extra": extra})
        for inner in ("", *one.extras)
    ]


def _size(package: Distribution) -> int:
    """Return the bytes of the package's files, without compiled Python."""
    files = [file for file in package.files or () if file.suffix != ".pyc"]
    places = [str(file.locate()) for file in files]
    return sum(os.path.getsize(place) for place in places if os.path.isfile(place))


def report(figures: dict[str, float]) -> None:
    """Print the figures as the last line, for the parent process."""
    print(json.dumps(figures))
