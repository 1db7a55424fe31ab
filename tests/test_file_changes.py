"""What was looked at counts as unchanged exactly until something changes it."""

from __future__ import annotations

import mmap
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agentscope_like.file_changes import Looks, change_watch
from agentscope_like.file_changes import looks as file_looks

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")

Change = Callable[[Path], object]

_IN_MOUNTS_OF_ITS_OWN = """
import subprocess, sys, time
from agentscope_like.file_changes import Looks
from agentscope_like.file_changes import looks as file_looks
file_looks.SETTLED_NS = 0
above, directory = sys.argv[1:]
looks = Looks()
looks.at(directory)
before = [looks.hold(), looks.hold()]
subprocess.run(["mount", "--bind", above, directory], check=True)
print(*before, looks.hold())
"""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a file count as unchanged after a moment."""
    monkeypatch.setattr(file_looks, "SETTLED_NS", 50_000_000)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a directory two levels down, with a file `config` and an empty directory."""
    place = tmp_path.resolve() / "outer" / "inner"
    (place / "empty").mkdir(parents=True)
    (place / "config").write_text("before")
    time.sleep(0.1)
    return place


@pytest.fixture
def looks(place: Path) -> Looks:
    """Return a look at all of it, which has been found unchanged twice."""
    looks = Looks()
    for path in (place, place / "config", place / "empty"):
        looks.at(str(path))
    assert looks.hold()
    assert looks.hold()
    return looks


def is_watched(looks: Looks, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return whether it is known without looking that all is unchanged."""
    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", lambda _: pytest.fail("a file is looked at"))
        try:
            return looks.hold()
        except pytest.fail.Exception:
            return False


def _write_and_reset_times(place: Path) -> None:
    status = (place / "config").stat()
    (place / "config").write_text("before".upper())
    os.utime(place / "config", ns=(status.st_atime_ns, status.st_mtime_ns))


def _write_through_memory(place: Path) -> None:
    with open(place / "config", "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[0:1] = b"B"


def _rename_over(place: Path) -> None:
    other = place.parent / "other"
    other.write_text("after")
    other.rename(place / "config")


def _replace(path: Path) -> None:
    """Put a copy in the place of a file or directory, with the times of the original."""
    moved = path.rename(f"{path}.moved")
    _copy(moved, path)


def _copy(one: Path, other: Path) -> None:
    if one.is_dir():
        shutil.copytree(one, other)
    else:
        shutil.copy2(one, other)


def _turn_into_link(path: Path) -> None:
    moved = path.rename(f"{path}.moved")
    copy = Path(f"{path}.copy")
    _copy(moved, copy)
    path.symlink_to(copy)


def _write_in_another_thread(place: Path) -> None:
    thread = threading.Thread(target=(place / "config").write_text, args=("after",))
    thread.start()
    thread.join()


CHANGES: dict[str, Change] = {
    "write in place": lambda place: (place / "config").write_text("after"),
    "write in place, times reset": _write_and_reset_times,
    "write by another process": lambda place: subprocess.run(
        ["cp", "/etc/hostname", str(place / "config")], check=True
    ),
    "write by another thread": _write_in_another_thread,
    "write through memory": _write_through_memory,
    "truncate": lambda place: os.truncate(place / "config", 1),
    "change of mode": lambda place: (place / "config").chmod(0o600),
    "rename over": _rename_over,
    "remove": lambda place: (place / "config").unlink(),
    "file replaced by its copy": lambda place: _replace(place / "config"),
    "file becomes a symlink": lambda place: _turn_into_link(place / "config"),
    "file where none was": lambda place: (place / "empty" / "new").touch(),
    "directory where none was": lambda place: (place / "empty" / "new").mkdir(),
    "symlink where none was": lambda place: (place / "new").symlink_to("/etc"),
    "name moved in": lambda place: shutil.move(place / "config", place / "empty"),
    "directory removed": lambda place: (place / "empty").rmdir(),
    "directory replaced by its copy": _replace,
    "directory becomes a symlink": _turn_into_link,
    "directory above replaced by its copy": lambda place: _replace(place.parent),
    "directory above becomes a symlink": lambda place: _turn_into_link(place.parent),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_every_change_is_seen(place: Path, looks: Looks, kind: str) -> None:
    """What changed does not hold any more, at once and from then on."""
    CHANGES[kind](place)
    assert not looks.hold()
    assert not looks.hold()


@pytest.mark.parametrize("kind", CHANGES)
def test_every_change_is_seen_where_the_kernel_reports_none(
    place: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without inotify, the times of change are compared."""
    monkeypatch.setattr(change_watch, "new_instance", lambda: None)
    monkeypatch.setattr(file_looks, "process_watch", change_watch.ChangeWatch)
    looks = Looks()
    for path in (place, place / "config", place / "empty"):
        looks.at(str(path))
    assert looks.hold()
    assert not is_watched(looks, monkeypatch)
    CHANGES[kind](place)
    assert not looks.hold()


def test_a_directory_that_a_process_is_in_is_seen_replaced(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty directory in use, which is all that was looked at, is reported by its parent."""
    looks = Looks()
    looks.at(str(place / "empty"))
    assert looks.hold()
    assert looks.hold()
    monkeypatch.chdir(place / "empty")
    (place / "empty").rmdir()
    (place / "empty").mkdir()
    assert not looks.hold()


def test_a_link_in_the_way_is_looked_at(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path through a symlink is compared each time, so that a link that is swapped is seen."""
    link = place.parent.parent / "link"
    link.symlink_to(place)
    shutil.copytree(place, place.parent / "other")
    time.sleep(0.1)
    looks = Looks()
    looks.at(str(link / "config"))
    assert looks.hold()
    assert not is_watched(looks, monkeypatch)
    link.unlink()
    link.symlink_to(place.parent / "other")
    assert not looks.hold()


def test_nothing_is_looked_at_while_nothing_changes(
    place: Path, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading the files, and changing others, costs no look; other events cost one."""
    if not change_watch.process_watch().add(str(place)):
        pytest.skip("changes of this file system are not reported")
    assert is_watched(looks, monkeypatch)
    (place / "config").read_text()
    os.listdir(place)
    (place.parent.parent / "beside").write_text("new")
    assert is_watched(looks, monkeypatch)
    os.rename(place.parent, place.parent.parent / "away")
    os.rename(place.parent.parent / "away", place.parent)
    assert not is_watched(looks, monkeypatch)
    assert looks.hold()
    assert is_watched(looks, monkeypatch)


def test_a_change_after_a_false_alarm_is_seen(place: Path, looks: Looks) -> None:
    """A path that went and came back, or that others watch too, is watched again."""
    os.rename(place.parent, place.parent.parent / "away")
    os.rename(place.parent.parent / "away", place.parent)
    assert looks.hold()
    _replace(place.parent)
    assert not looks.hold()


def test_a_change_is_seen_by_all_who_looked(place: Path, looks: Looks) -> None:
    """The first to see a change does not keep it from the others."""
    other = Looks()
    other.at(str(place / "config"))
    assert other.hold()
    (place / "config").write_text("after")
    assert not looks.hold()
    assert not other.hold()


def test_a_forked_process_takes_no_change_from_its_parent(place: Path, looks: Looks) -> None:
    """A child process that looks sees a change itself, and the parent sees it too."""
    child = os.fork()
    if not child:
        status = 1
        try:
            held = looks.hold() and looks.hold()
            (place / "config").write_text("after")
            status = 0 if held and not looks.hold() else 1
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not looks.hold()


def test_a_mount_is_seen(place: Path) -> None:
    """A directory that another one is mounted over is another one."""
    command = [sys.executable, "-c", _IN_MOUNTS_OF_ITS_OWN, str(place.parent), str(place)]
    alone = ["unshare", "--user", "--map-root-user", "--mount"]
    if not shutil.which("unshare") or subprocess.run([*alone, "true"], check=False).returncode:
        pytest.skip("no mounts of its own can be made here")
    done = subprocess.run([*alone, *command], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "False"]


def test_many_paths_are_watched_in_turn(
    place: Path, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are more than can be watched, some are compared, and all changes are seen."""
    monkeypatch.setattr(change_watch, "_MOST_WATCHES", 0)
    other = Looks()
    other.at(str(place / "empty"))
    assert other.hold()
    monkeypatch.setattr(change_watch, "_RENEWED_SECONDS", 0.0)
    assert other.hold()
    assert looks.hold()
    (place / "empty" / "new").touch()
    assert not looks.hold()
    assert not other.hold()
