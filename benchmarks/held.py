"""The time of commands that run held, in projects of several sizes.

    python -m benchmarks.held [--rounds 100] [--files 200 5000 50000]

Whole calls of Bash through a `Toolkit`, in a project that git tracks. Each round runs each kind of
call once, in turn, so that whatever else the machine does meets all of them. The figures are
milliseconds: the median, and the quickest tenth, which is what a machine takes that does nothing
else. A second table has the parts of the held calls.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

from agentscope_like.checkpoint import CheckpointStore
from agentscope_like.message import ToolCallBlock, ToolResponse
from agentscope_like.permission import PermissionContext, PermissionMode
from agentscope_like.sandbox.layer import Layer
from agentscope_like.state import AgentState
from agentscope_like.tool import Bash, Toolkit
from agentscope_like.tool.builtin.held import HeldCommand, HeldCommands, HeldStart

__all__ = ["main"]

FILES_A_DIRECTORY = 100
CHANGED = 3

Times = dict[str, list[float]]


class _Kind(NamedTuple):
    """One kind of call: what is called, in which mode, and how the result says that it ran."""

    name: str
    command: str
    mode: PermissionMode
    fact: str
    expected: object


_KINDS = (
    _Kind("host, no change", "./look.sh", PermissionMode.BYPASS, "confinement", "off"),
    _Kind("host, three files changed", "./change.sh", PermissionMode.BYPASS, "confinement", "off"),
    _Kind("a proven read, confined", "ls", PermissionMode.ACCEPT_EDITS, "confinement", "read"),
    _Kind("held, no change", "./look.sh", PermissionMode.ACCEPT_EDITS, "changed", 0),
    _Kind(
        "held, three files changed and applied",
        "./change.sh",
        PermissionMode.ACCEPT_EDITS,
        "changed",
        CHANGED,
    ),
)

_PARTS: tuple[tuple[str, type, str], ...] = (
    ("make the layer", HeldCommands, "begin"),
    ("prepare the start: credentials, profile", HeldStart, "start"),
    ("list the changes", Layer, "manifests"),
    ("sort them", HeldCommand, "_sorted"),
    ("apply them, with the checkpoint and the drop of the layer", HeldCommand, "_apply"),
    ("drop the layer, unless applying did", HeldCommand, "close"),
)


def main() -> None:
    """Run the rounds and print two tables for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--files", type=int, nargs="+", default=[200, 5_000, 50_000])
    options = parser.parse_args()
    for files in options.files:
        with tempfile.TemporaryDirectory() as name:
            top = Path(name).resolve()
            project = _project(top / "project", files)
            before = os.getloadavg()[0]
            calls, parts = asyncio.run(_measure(top, project, options.rounds))
        load = f"load {before:.1f} before, {os.getloadavg()[0]:.1f} after"
        print(f"\n{files:,} files, {options.rounds} rounds, {load}\n")
        _print("call", calls)
        print()
        _print("part of a held call with three files changed", parts)


def _project(project: Path, files: int) -> Path:
    """Make a project of so many files, which git tracks."""
    for number in range(files):
        path = project / f"package{number // FILES_A_DIRECTORY}" / f"module{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"value = {number}\n")
    changed = " ".join(f"package0/module{number}.py" for number in range(CHANGED))
    for name, line in (("look", ":"), ("change", f"date +%N | tee {changed} >/dev/null")):
        script = project / f"{name}.sh"
        script.write_text(f"#!/bin/sh\n{line}\n")
        script.chmod(0o755)
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.invalid")
    prepared = (("init", "-q"), ("config", "gc.auto", "0"), ("add", "-A"))
    for words in (*prepared, (*identity, "commit", "-qm", "all")):
        subprocess.run(["git", *words], cwd=project, check=True)
    return project


async def _measure(top: Path, project: Path, rounds: int) -> tuple[Times, Times]:
    store = CheckpointStore(top / "data" / "checkpoints.db")
    free = Toolkit(tools=[Bash(cwd=project, confine="off")])
    held = Toolkit(
        tools=[Bash(cwd=project, contain="on", layers=top / "layers", checkpoints=store)]
    )
    calls: Times = {kind.name: [] for kind in _KINDS}
    parts: Times = {name: [] for name, _, _ in _PARTS}
    for number in range(rounds + 1):
        for kind in _KINDS:
            toolkit = free if kind.mode is PermissionMode.BYPASS else held
            is_last = kind is _KINDS[-1]
            with _clocked(parts if is_last and number else {}):
                seconds = await _seconds(toolkit, project, kind)
            if number:  # the first finds out what can be done at all
                calls[kind.name].append(seconds)
    store.close()
    return calls, parts


async def _seconds(toolkit: Toolkit, project: Path, kind: _Kind) -> float:
    policy = PermissionContext.from_rules(mode=kind.mode, working_directories=[project])
    state = AgentState(permission_context=policy)
    call = ToolCallBlock(id="1", name="Bash", input=json.dumps({"command": kind.command}))
    begin = time.perf_counter()
    async for item in toolkit.call_tool(call, state):
        if isinstance(item, ToolResponse):
            taken = time.perf_counter() - begin
            facts = {**item.metadata, **item.metadata.get("held", {})}
            if facts.get(kind.fact) != kind.expected or item.state != "success":
                raise SystemExit(f"{kind.name}: it did not run as it should: {item}")
            return taken
    raise SystemExit(f"{kind.name}: it asks")


@contextmanager
def _clocked(parts: Times) -> Iterator[None]:
    """Note in `parts` how long each part takes."""
    originals = [(owner, method, getattr(owner, method)) for _, owner, method in _PARTS]
    for name, owner, method in _PARTS:
        if name in parts:
            setattr(owner, method, _timed(getattr(owner, method), parts[name]))
    try:
        yield
    finally:
        for owner, method, original in originals:
            setattr(owner, method, original)


def _timed(function: Callable[..., Any], times: list[float]) -> Callable[..., Any]:
    def timed(*arguments: object, **named: object) -> object:
        begin = time.perf_counter()
        try:
            return function(*arguments, **named)
        finally:
            times.append(time.perf_counter() - begin)

    return timed


def _print(what: str, times: Times) -> None:
    print(f"| {what} | quickest tenth, ms | median, ms |\n|---|---:|---:|")
    for name, taken in times.items():
        tenth = quantiles(taken, n=10)[0]
        print(f"| {name} | {tenth * 1e3:.1f} | {median(taken) * 1e3:.1f} |")


if __name__ == "__main__":
    main()
