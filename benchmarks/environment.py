"""The other library, in an environment of its own."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

__all__ = ["OTHER_VERSION", "measure", "medians", "other_python"]

ROOT = Path(__file__).resolve().parent.parent
OTHER = ROOT / ".venv-agentscope"
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


def measure(python: str, worker: str, package: str) -> dict[str, Any]:
    """Return what a worker, one of the modules beside this, measures of a package."""
    command = [python, "-m", f"benchmarks.{worker}", package]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of each figure over the rounds."""
    return {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}
