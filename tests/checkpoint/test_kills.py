"""`kill -9` at each step of a change leaves each file old or new, and its checkpoint says which."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agentscope_like.checkpoint import (
    CheckpointStore,
    FileChange,
    FileVersion,
    file_version,
    recorded,
)
from tests.checkpoint.step_kills import steps_of

pytestmark = pytest.mark.slow

_PROGRAM = """
import asyncio, os, sys
from pathlib import Path

from tests.checkpoint.undo_kit import Undo
from tests.workspace.desk import Desk
from agentscope_like.checkpoint import CheckpointStore

directory, most, what = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
STEPS = {"os.rename", "os.link", "os.remove", "os.mkdir", "open", "os.chmod", "sqlite3.connect",
         "fcntl.flock", "os.truncate"}


async def main(project, step):
    store = CheckpointStore(project.parent / "checkpoints.db")
    if what in ("patch", "write"):
        desk = Desk(project, workspace=None)
        desk.workspace.checkpoints = store
        await desk("read_file", path="output/a.txt")
        act = {
            "patch": lambda: desk(
                "apply_patch", path="output/a.txt", old_string="old", new_string="new"
            ),
            "write": lambda: desk("write_file", path="output/a.txt", content="new a"),
        }[what]
    else:
        undo = Undo(project, store, session_id="run-1")
        await undo("Read", file_path="a.txt")
        act = {
            "create": lambda: undo("Write", file_path="b.txt", content="new b"),
            "edit": lambda: undo(
                "Edit", file_path="a.txt", old_string="old", new_string="new"
            ),
            "restore": lambda: undo("Restore", checkpoint=1),
        }[what]
    left = step

    def killed(event, arguments):
        nonlocal left
        if event in STEPS and not str(arguments[0]).endswith((".py", ".pyc")):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), 9)

    store.page()
    sys.addaudithook(killed)
    await act()
    left = 0


for step in range(1, most):
    if (pid := os.fork()) == 0:
        asyncio.run(main(directory / str(step) / "project", step))
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    print(status, flush=True)
    if status == 0:
        break
"""

_MOST_STEPS = 60


def _prepare_file(project: Path) -> None:
    (project / "a.txt").write_text("old a")


def _prepare_workspace(project: Path) -> None:
    (project / "output").mkdir(parents=True)
    (project / "output/a.txt").write_text("old a")


def _prepare_restoration(project: Path) -> None:
    """Make a file, then change it and make another one."""
    store = CheckpointStore(project.parent / "checkpoints.db")
    steps: list[dict[str, tuple[str | None, str]]] = [
        {"a.txt": (None, "new a")},
        {"a.txt": ("new a", "old a"), "b.txt": (None, "old b")},
    ]
    for step in steps:
        changes = [
            FileChange(
                str(project / name),
                None if before is None else FileVersion(before.encode()),
                FileVersion(after.encode()),
            )
            for name, (before, after) in step.items()
        ]
        with recorded(store, changes, session_id="run-1"):
            for name, (_, after) in step.items():
                (project / name).write_text(after)
    store.close()


@pytest.mark.parametrize(
    ("what", "prepare", "files"),
    [
        ("create", _prepare_file, {"b.txt": (None, "new b")}),
        ("edit", _prepare_file, {"a.txt": ("old a", "new a")}),
        ("write", _prepare_workspace, {"output/a.txt": ("old a", "new a")}),
        ("patch", _prepare_workspace, {"output/a.txt": ("old a", "new a")}),
        ("restore", _prepare_restoration, {"a.txt": ("old a", "new a"), "b.txt": ("old b", None)}),
    ],
)
def test_a_kill_leaves_each_file_old_or_new(
    tmp_path: Path,
    what: str,
    prepare: Callable[[Path], None],
    files: dict[str, tuple[str | None, str | None]],
) -> None:
    """At every step of a write, a patch, an edit and a restoration of several files."""
    for step in range(1, _MOST_STEPS):
        project = tmp_path / str(step) / "project"
        project.mkdir(parents=True)
        prepare(project)
    last = steps_of(_PROGRAM, tmp_path, _MOST_STEPS, what)
    seen: set[tuple[str | None, ...]] = set()
    for step in range(1, last):
        project = tmp_path / str(step) / "project"
        store = CheckpointStore(project.parent / "checkpoints.db")
        now = {name: _text(project / name) for name in files}
        for name, (old, new) in files.items():
            assert now[name] in (old, new), (step, name)
        seen.add(tuple(now.values()))
        prepared = 2 if what == "restore" else 0
        begun = [each for each in store.page() if each.id > prepared]
        told = {str(project / name): text for name, text in now.items()}
        _check_record(store, [each.id for each in begun], files, told, project)
        store.close()
    assert tuple(old for old, _ in files.values()) in seen
    assert tuple(new for _, new in files.values()) in seen


def _check_record(
    store: CheckpointStore,
    begun: list[int],
    files: dict[str, tuple[str | None, str | None]],
    now: dict[str, str | None],
    project: Path,
) -> None:
    """Check that a checkpoint was begun before anything changed, and says which file is new."""
    is_new = {
        str(project / name): now[str(project / name)] == new for name, (_, new) in files.items()
    }
    if not begun:
        assert not any(is_new.values())
        return
    (number,) = begun
    states = store.files(number, file_version)
    assert {path: state == "new" for path, state in states.items()} == is_new
    for session in ("run-1", store.page(limit=1)[0].session_id):
        store.settle(session, file_version)
    settled = store.get(number)
    if all(is_new.values()):
        assert settled is not None
        assert settled.state == "done"
    elif not any(is_new.values()):
        assert settled is None
    else:
        assert settled is not None
        assert settled.state == "unknown"


def _text(path: Path) -> str | None:
    return path.read_text() if path.exists() else None
