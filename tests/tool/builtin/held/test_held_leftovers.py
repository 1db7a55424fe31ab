"""Held runs leave no process, task, descriptor or folder behind, however they end."""

from __future__ import annotations

import asyncio
import gc
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from agentscope_like.message import ToolCallState, ToolResultState
from tests.sandbox.layer.layers import NEEDS_LAYERS
from tests.tool.builtin.held.held_kit import Scene, until

pytestmark = [
    NEEDS_LAYERS,
    pytest.mark.timeout(300),
]

RUNS = 10
SETTLED = ("applied", "dropped", "asked-yes", "asked-no", "cancelled", "timed-out")


def descriptors() -> list[str]:
    """Return what the open descriptors of this process are."""
    found = []
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # the one that lists
            found.append(os.readlink(f"/proc/self/fd/{number}"))
    return sorted(found)


def folders(top: Path) -> list[str]:
    """Return what lies in the store and among the temporary files of this process."""
    found = sorted(each.name for place in ("layers", "tmp") for each in (top / place).iterdir())
    return [name for name in found if name != "lock"]


def processes(top: Path) -> Iterator[str]:
    """Yield the command lines of other processes that speak of a folder."""
    for number in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError):
            words = Path("/proc", number, "cmdline").read_bytes().decode(errors="replace")
            if int(number) != os.getpid() and f"{top}/" in words:
                yield words


async def end_one(one: Scene, kind: str, number: int) -> None:
    """Run one command, which ends in this way."""
    is_slow = kind in {"cancelled", "timed-out"}
    script = one.script("work.sh", f"echo x > made-{number}.txt", *["sleep 60"] * is_slow)
    call = one.call(script, **({"timeout": 500} if kind == "timed-out" else {}))
    if kind == "cancelled":
        task = asyncio.create_task(one.run(call))
        await asyncio.to_thread(until, lambda: bool([*one.store.glob("*/0/upper/made-*")]))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return
    _, response = await one.run(call)
    if not kind.startswith("asked"):
        assert response is not None
        wanted = {"applied": ToolResultState.SUCCESS, "dropped": ToolResultState.DENIED}
        assert response.state is wanted.get(kind, ToolResultState.ERROR)
        return
    assert call.state is ToolCallState.ASKING
    assert len(one.layers()) == 1
    await one.answer(call, yes=kind == "asked-yes")


@pytest.mark.parametrize("kind", SETTLED)
async def test_a_run_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Ten runs in a row end alike, and all is as after the first."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    rules = {"deny": ["Write(made-*)"]} if kind == "dropped" else {}
    one = Scene(tmp_path, "default" if kind.startswith("asked") else "accept_edits", **rules)
    await end_one(one, kind, 0)
    gc.collect()
    before = descriptors(), len(asyncio.all_tasks()), folders(tmp_path)
    for number in range(1, RUNS + 1):
        await end_one(one, kind, number)
    gc.collect()
    opened, tasks, kept = descriptors(), len(asyncio.all_tasks()), folders(tmp_path)
    assert len(opened) == len(before[0]), (opened, before[0])
    assert (tasks, kept) == before[1:]
    assert [name.partition("-")[0] for name in kept] == ["temporary"]
    await asyncio.to_thread(until, lambda: not [*processes(tmp_path)], 10)
    is_applied = kind in {"applied", "asked-yes"}
    assert len([*one.project.glob("made-*")]) == (RUNS + 1 if is_applied else 0)
