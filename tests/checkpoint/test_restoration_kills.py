"""`kill -9` at each step of a restoration of many files leaves all of them old, or all new."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.checkpoint import CheckpointStore, FileChange, FileVersion
from agentscope_like.tool.builtin.undo import settle_restorations
from tests.checkpoint.step_kills import steps_of
from tests.tool.builtin.held.runs import tree

pytestmark = pytest.mark.slow

_PROGRAM = """
import asyncio, subprocess, sys
from pathlib import Path

from agentscope_like.checkpoint import CheckpointStore, FileChange, file_version, recorded
from tests.checkpoint.step_kills import kill_at_each_step
from tests.checkpoint.undo_kit import Undo
from tests.tool.builtin.held.runs import make_project

SCRIPT = ("echo x >> a.txt; chmod 755 a.txt; rm -r src; echo f > src; rm notes.txt link empty -r;"
          "mkdir -m 700 n; echo q > n/q; ln -s n link; chmod 700 tool.sh; ln -s n empty")


def paths(project):
    return {str(each) for each in project.rglob("*")}


def prepare(project):
    make_project(project)
    before = {path: file_version(path) for path in paths(project)}
    subprocess.run(["/bin/sh", "-c", SCRIPT], cwd=project, check=True)
    after = {path: file_version(path) for path in paths(project)}
    changes = [
        FileChange(path, before.get(path), after.get(path))
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
    ]
    with recorded(CheckpointStore(project.parent / "checkpoints.db"), changes, session_id="s"):
        pass


async def restore(project, kill):
    store = CheckpointStore(project.parent / "checkpoints.db")
    undo = Undo(project, store, session_id="s")
    kill.watch(store, "begin", "finish")
    await undo("Restore", checkpoint=1, when="before")
    kill.end()


def work(folder, kill):
    asyncio.run(restore(folder / "project", kill))


kill_at_each_step(*sys.argv[1:], work, lambda folder: prepare(folder / "project"))
prepare(Path(sys.argv[1], "untouched", "project"))
"""

_MOST_STEPS = 150


@pytest.mark.timeout(300)
def test_a_kill_leaves_all_restored_or_none(tmp_path: Path) -> None:
    """A half-made restoration is finished at the restart; of one that changed nothing none is left.

    Directories take the place of files and symlinks here, and the reverse.
    """
    last = steps_of(_PROGRAM, tmp_path, _MOST_STEPS)
    old = _tree(tmp_path / "untouched")
    new = _tree(tmp_path / str(last))
    assert old != new
    halves, restored = 0, []
    for step in range(1, last):
        folder = tmp_path / str(step)
        halves += _tree(folder) not in (old, new)
        store = CheckpointStore(folder / "checkpoints.db")
        settle_restorations(store, "s")
        now = _tree(folder)
        assert now in (old, new), step
        restored.append(now == new)
        states = [each.state for each in store.page()]
        assert states == (["done", "done"] if now == new else ["done"]), step
        store.close()
    assert halves > 5
    assert restored == sorted(restored)
    assert set(restored) == {False, True}


def test_a_change_of_others_keeps_a_half_made_restoration_as_it_is(tmp_path: Path) -> None:
    """Nothing more is restored, and the checkpoint says that it is not known what became of it."""
    store = CheckpointStore(tmp_path / "checkpoints.db")
    files = [tmp_path / name for name in ("a", "b", "c")]
    begun = store.begin(
        [FileChange(str(path), FileVersion(b"old"), FileVersion(b"new")) for path in files],
        session_id="s",
    )
    for path, text in zip(files, ("new", "by others", "old"), strict=True):
        path.write_text(text)
    (settled,) = settle_restorations(store, "s")
    assert (settled.id, settled.state) == (begun, "unknown")
    assert [path.read_text() for path in files] == ["new", "by others", "old"]
    files[1].write_text("old")
    other = store.begin(
        [FileChange(str(path), FileVersion(b"old"), FileVersion(b"new")) for path in files],
        session_id="s",
    )
    (settled,) = settle_restorations(store, "s")
    assert (settled.id, settled.state) == (other, "done")
    assert [path.read_text() for path in files] == ["new", "new", "new"]
    store.close()


def _tree(folder: Path) -> dict[str, tuple[str, int, bytes]]:
    found = tree(folder / "project")
    return {path: each for path, each in found.items() if not path.endswith(".tmp")}
