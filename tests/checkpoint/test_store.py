"""Checkpoints keep what files were, and say how to make them so again."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_like.checkpoint import (
    CheckpointError,
    CheckpointStore,
    FileChange,
    FileVersion,
    Restoration,
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CheckpointStore]:
    """Return an empty store."""
    store = CheckpointStore(tmp_path / "data" / "checkpoints.db")
    yield store
    store.close()


def _version(text: str | None) -> FileVersion | None:
    return None if text is None else FileVersion(text.encode())


def _write(
    store: CheckpointStore, path: str, before: str | None, after: str | None, **given: str
) -> int:
    """Record a change that is made at once."""
    change = FileChange(path, _version(before), _version(after))
    checkpoint_id = store.begin([change], **given)
    store.finish(checkpoint_id)
    return checkpoint_id


def test_each_change_can_be_undone(store: CheckpointStore) -> None:
    """One file or all are restored to what they were after any checkpoint, or before the first."""
    first = _write(store, "/p/a", None, "1", summary="Created a.", session_id="s", call_id="c")
    _write(store, "/p/b", "old", "new")
    _write(store, "/p/a", "1", None)
    wanted = {
        restored.path: restored.wanted and restored.wanted.data
        for restored in store.restoration(first)
    }
    assert wanted == {"/p/a": b"1", "/p/b": b"old"}
    assert store.restoration(0, ["/p/a"]) == [Restoration("/p/a", None, None)]
    assert store.restoration(first, ["/p/other"]) == []
    known = store.get(first)
    assert known is not None
    assert (known.summary, known.session_id, known.call_id) == ("Created a.", "s", "c")
    assert (known.state, known.paths) == ("done", ("/p/a",))


def test_the_list_has_pages(store: CheckpointStore) -> None:
    """The latest come first, of all files or of one."""
    ids = [_write(store, f"/p/{number % 2}", None, str(number)) for number in range(7)]
    first = store.page(limit=3)
    assert [each.id for each in first] == ids[:3:-1]
    assert [each.id for each in store.page(before=first[-1].id, limit=3)] == ids[3:0:-1]
    assert [each.id for each in store.page(path="/p/1", limit=2)] == [ids[5], ids[3]]
    assert [each.id for each in store.page(path="/p/1", before=ids[3])] == [ids[1]]


def test_what_a_killed_process_began_is_settled(store: CheckpointStore) -> None:
    """By what the file is now: the change was made, was not made, or nobody knows."""
    made, dropped, unknown = (
        store.begin([FileChange(path, _version("old"), _version("new"))], session_id="s")
        for path in ("/p/made", "/p/not", "/p/other")
    )
    other = store.begin([FileChange("/p/x", None, _version("x"))], session_id="another")
    now = {"/p/made": "new", "/p/not": "old", "/p/other": "third"}
    settled = store.settle("s", lambda path: _version(now[path]))
    assert [(each.id, each.state) for each in settled] == [(made, "done"), (unknown, "unknown")]
    assert store.get(dropped) is None
    left = store.get(other)
    assert left is not None
    assert left.state == "begun"


def test_only_the_owner_can_read_it_and_git_ignores_it(store: CheckpointStore) -> None:
    """The file has the mode 0600, its directory 0700, and `git add` takes neither."""
    _write(store, "/p/a", None, "secret")
    directory = store.path.parent
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    subprocess.run(["git", "init", "-q", str(directory.parent)], check=True)
    told = subprocess.run(
        ["git", "status", "--porcelain"],
        cwd=directory.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == ""


def test_the_oldest_go_first(tmp_path: Path) -> None:
    """Content beyond the limit is removed with its checkpoints; the latest one stays."""
    store = CheckpointStore(tmp_path / "checkpoints.db", most_bytes=20_000)
    ids = [
        _write(store, "/p/a", f"{number}".rjust(1000), f"{number + 1}".rjust(1000))
        for number in range(200)
    ]
    kept = [each.id for each in store.page(limit=300)]
    assert kept[0] == ids[-1]
    assert kept == ids[: -len(kept) - 1 : -1]
    assert 20 <= len(kept) <= 20 + 64
    (restored,) = store.restoration(kept[-1], ["/p/a"])
    assert restored.wanted == FileVersion(f"{kept[-1]}".rjust(1000).encode())
    store.close()


def test_old_ones_go(tmp_path: Path) -> None:
    """What is older than the limit is removed as later changes are recorded."""
    store = CheckpointStore(tmp_path / "checkpoints.db", most_days=0)
    ids = [_write(store, "/p/a", None, str(number)) for number in range(65)]
    assert [each.id for each in store.page()] == ids[-1:]
    store.close()


def test_a_file_that_is_too_large_is_said_not_to_be_kept(tmp_path: Path) -> None:
    """It is recorded that it changed, and refused to restore it; others are restored."""
    store = CheckpointStore(tmp_path / "checkpoints.db", most_file_bytes=3)
    _write(store, "/p/large", "1234", "5")
    _write(store, "/p/small", "12", "1234")
    with pytest.raises(CheckpointError, match="/p/large cannot be restored"):
        store.restoration(0)
    (restored,) = store.restoration(0, ["/p/small"])
    assert restored.wanted == FileVersion(b"12")
    assert store.restoration(1, ["/p/large"]) == []
    store.close()


def test_a_file_of_another_program_is_refused(tmp_path: Path) -> None:
    """The message says whose file is wanted."""
    path = tmp_path / "checkpoints.db"
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(CheckpointError, match=r"checkpoints.db cannot be used .* damaged"):
        CheckpointStore(path).page()


def test_many_threads_record_at_once(store: CheckpointStore) -> None:
    """Each change has a number of its own, and none is lost."""
    found: list[int] = []

    def work(name: str) -> None:
        found.extend(_write(store, f"/p/{name}", None, str(number)) for number in range(20))

    threads = [threading.Thread(target=work, args=(str(number),)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 80
    assert len(store.page(limit=100)) == 80


def test_the_cost_does_not_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more checkpoint, a page and one file's restoration take as many steps as with few."""
    steps = 0
    connect = sqlite3.connect

    def counted(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **kwargs)

        def step() -> int:
            nonlocal steps
            steps += 1
            return 0

        connection.set_progress_handler(step, 10)
        return connection

    monkeypatch.setattr(sqlite3, "connect", counted)
    store = CheckpointStore(tmp_path / "checkpoints.db")
    work: dict[str, Callable[[], object]] = {
        "one more": lambda: _write(store, "/p/7", "7", "8"),
        "a page": lambda: store.page(limit=20),
        "a page of a file": lambda: store.page(limit=20, path="/p/7"),
        "a restoration": lambda: store.restoration(3, ["/p/7"]),
    }

    def costs() -> dict[str, int]:
        nonlocal steps
        found = {}
        for name, run in work.items():
            steps = 0
            run()
            found[name] = steps
        return found

    for number in range(200):
        _write(store, f"/p/{number % 100}", str(number), str(number + 1))
    few = costs()
    for number in range(10_000):
        _write(store, f"/p/{number % 5_000}", str(number), str(number + 1))
    many = costs()
    for name, cost in few.items():
        assert many[name] <= 2 * cost + 20, name
    store.close()


_KILLED = """
import os, sys
from agentscope_like.checkpoint import CheckpointStore, FileChange, FileVersion
store = CheckpointStore(sys.argv[1])
for number in range(int(sys.argv[2])):
    change = FileChange("/p/a", FileVersion(b"%d" % number), FileVersion(b"%d" % (number + 1)))
    checkpoint = store.begin([change], session_id="s")
    print(checkpoint, flush=True)
    if number < int(sys.argv[2]) - 1:
        store.finish(checkpoint)
os.kill(os.getpid(), 9)
"""


def test_a_killed_process_loses_nothing(tmp_path: Path) -> None:
    """What was begun before `kill -9` is on record, and known to be unfinished."""
    path = tmp_path / "checkpoints.db"
    done = subprocess.run(
        [sys.executable, "-c", _KILLED, str(path), "3"], capture_output=True, text=True, check=False
    )
    assert done.returncode == -9
    store = CheckpointStore(path)
    assert [(each.id, each.state) for each in store.page()] == [
        (3, "begun"),
        (2, "done"),
        (1, "done"),
    ]
    settled = store.settle("s", lambda _: FileVersion(b"2"))
    assert settled == []
    assert [each.id for each in store.page()] == [2, 1]
    store.close()


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["1", "2", None])), max_size=12))
def test_restoring_gives_what_was(steps: list[tuple[str, str | None]]) -> None:
    """After any changes, each checkpoint's restoration makes all files what they were then."""
    store = CheckpointStore(f"/dev/shm/checkpoints-{os.getpid()}-{threading.get_ident()}.db")
    try:
        files: dict[str, str | None] = {}
        was: list[dict[str, str | None]] = [{}]
        ids = [0]
        for path, after in steps:
            ids.append(_write(store, path, files.get(path), after))
            files[path] = after
            was.append(dict(files))
        for checkpoint_id, then in zip(ids, was, strict=True):
            restored = dict(files)
            for each in store.restoration(checkpoint_id):
                assert each.last == (
                    None if files[each.path] is None else _digest(files[each.path])
                )
                restored[each.path] = None if each.wanted is None else each.wanted.data.decode()
            assert restored == {path: then.get(path) for path in files}
    finally:
        store.close()
        for end in ("", "-wal", "-shm"):
            Path(f"{store.path}{end}").unlink(missing_ok=True)


def _digest(text: str | None) -> str | None:
    version = _version(text)
    return None if version is None else version.digest
