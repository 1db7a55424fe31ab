"""`kill -9` at each step of applying a run leaves the files as before, or all of it is applied."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.checkpoint import CheckpointStore, file_digest
from agentscope_like.exception import IsolationError
from agentscope_like.sandbox.layer import Layer
from agentscope_like.tool.builtin.held import settle_layer
from tests.checkpoint.step_kills import steps_of
from tests.sandbox.layer.layers import NEEDS_LAYERS
from tests.tool.builtin.held.runs import tree

pytestmark = NEEDS_LAYERS

_PROGRAM = """
import sys

from agentscope_like.checkpoint import CheckpointStore
from agentscope_like.tool.builtin.held import apply_changes
from tests.checkpoint.step_kills import kill_at_each_step
from tests.tool.builtin.held.runs import changes_of, make_project, ran

SCRIPT = "echo x >> a.txt; rm -r src; echo f > src; rm notes.txt link; mkdir n; echo q > n/q"


def work(folder, kill):
    store = CheckpointStore(folder / "checkpoints.db")
    layer = ran(folder / "layers", [folder / "project"], SCRIPT)
    held = changes_of(layer, store)
    store.page()
    kill.watch(store, "begin", "hold", "finish")
    apply_changes(layer, held, checkpoints=store, session_id="s", summary="Ran it")
    kill.end()


kill_at_each_step(*sys.argv[1:], work, lambda folder: make_project(folder / "project"))
"""

_MOST_STEPS = 150


def _settled(folder: Path, store: CheckpointStore, *, store_first: bool) -> None:
    """Bring all in step again, in one order or the other."""
    if store_first:
        store.settle("s", file_digest)
    for each in (folder / "layers").iterdir():
        try:
            layer = Layer.open(each)
        except IsolationError:  # it was being dropped
            continue
        settle_layer(layer, store)
        settle_layer(layer, store)
    store.settle("s", file_digest)


@pytest.mark.timeout(300)
def test_a_kill_leaves_all_or_nothing(tmp_path: Path) -> None:
    """After the restart, the checkpoint is done if the run is applied, and is gone if it is not."""
    last = steps_of(_PROGRAM, tmp_path, _MOST_STEPS)
    whole = tree(tmp_path / str(last) / "project")
    applied = []
    for step in range(1, last):
        folder = tmp_path / str(step)
        store = CheckpointStore(folder / "checkpoints.db")
        _settled(folder, store, store_first=step % 2 == 0)
        now = tree(folder / "project")
        applied.append(now == whole)
        if now == whole:
            (kept,) = store.page()
            assert kept.state == "done", step
            wanted = {each.path: each.wanted for each in store.restoration(0, session_id="s")}
            notes = wanted[str(folder / "project" / "notes.txt")]
            assert notes is not None
            assert notes.data == b"mine\n"
        else:
            assert {path for path in now if path.endswith(".tmp")} == set()
            assert now["notes.txt"] == ("-", 0o644, b"mine\n"), step
            assert now["src"][0] == "d"
            assert set(now) == {*(set(whole) - {"n", "n/q"}), "notes.txt", "link"} | {
                "src/b.py",
                "src/inner",
                "src/inner/c.py",
            }
            assert store.page() == [], step
        store.close()
    assert applied == sorted(applied)
    assert applied.count(False) > 5
    assert applied.count(True) > 5
