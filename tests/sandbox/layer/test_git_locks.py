"""What a run did in a git directory is applied under git's own locks."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.exception import IsolationError
from agentscope_like.sandbox.layer import (
    ApplyError,
    Layer,
    apply_layer,
    finish_applying,
)
from tests.checkpoint.step_kills import steps_of
from tests.sandbox.layer.layers import NEEDS_LAYERS, run

pytestmark = [NEEDS_LAYERS, pytest.mark.slow]

_GIT = ("git", "--no-optional-locks", "-c", "user.name=a", "-c", "user.email=a@b.c")
_WORK = """
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c
echo x >> f; git commit -qam two; git branch -qD old; git branch new; git tag t
"""


def git(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run git in the project."""
    return subprocess.run([*_GIT, *words], cwd=project, capture_output=True, text=True, check=False)


def make_repository(project: Path) -> None:
    """Make a repository of one commit with a branch beside."""
    project.mkdir(parents=True)
    (project / "f").write_text("one\n")
    for words in (("init", "-qb", "main"), ("add", "f"), ("commit", "-qm", "one")):
        assert git(project, *words).returncode == 0
    assert git(project, "branch", "old").returncode == 0


def layer_of(project: Path) -> Layer:
    """Commit, and make and remove branches, on a layer over the project."""
    layer = Layer.make(project.parent / "layers", [str(project)])
    run(layer, _WORK)
    return layer


def told(project: Path) -> str:
    """Return what git tells of the commits and branches, and whether all is whole."""
    whole = git(project, "fsck", "--strict").returncode
    refs = git(project, "for-each-ref", "--format=%(refname) %(subject)").stdout
    return f"{whole} {git(project, 'status', '--short').stdout!r} {refs}"


def left_behind(project: Path) -> list[Path]:
    """Return locks and temporary files."""
    return [each for end in ("lock", "tmp") for each in project.rglob(f"*.{end}")]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a repository."""
    made = tmp_path / "project"
    make_repository(made)
    return made


BEFORE = "0 '' refs/heads/main one\nrefs/heads/old one\n"
AFTER = "0 '' refs/heads/main two\nrefs/heads/new two\nrefs/tags/t two\n"


def test_what_a_run_committed_is_there_and_no_lock_is(project: Path) -> None:
    """Afterwards git works on as ever."""
    layer = layer_of(project)
    assert told(project) == BEFORE
    apply_layer(layer, tuple(layer.manifests()))
    assert told(project) == AFTER
    assert left_behind(project) == []
    assert git(project, "commit", "-q", "--allow-empty", "-m", "three").returncode == 0


@pytest.mark.parametrize("name", ["index", "refs/heads/main", "refs/heads/old", "refs/tags/t"])
def test_where_git_is_at_work_nothing_is_applied(project: Path, name: str) -> None:
    """A lock that somebody else has stays theirs; once they are done, all is applied."""
    layer = layer_of(project)
    lock = project / ".git" / f"{name}.lock"
    lock.write_text("theirs")
    with pytest.raises(ApplyError, match=r"git is at work there \(.*\.lock exists\)"):
        apply_layer(layer, tuple(layer.manifests()))
    assert lock.read_text() == "theirs"
    lock.unlink()
    assert (told(project), left_behind(project)) == (BEFORE, [])
    apply_layer(layer, tuple(layer.manifests()))
    assert told(project) == AFTER


def _before(
    monkeypatch: pytest.MonkeyPatch, name: str, act: Callable[[tuple[object, ...]], None]
) -> None:
    real = getattr(os, name)

    def call(*arguments: object, **options: Any) -> object:
        act(arguments)
        return real(*arguments, **options)

    monkeypatch.setattr(os, name, call)


def test_meanwhile_git_changes_nothing(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who commits while files are replaced is told of the lock."""
    layer, said = layer_of(project), set[str]()

    def commit(arguments: tuple[object, ...]) -> None:
        if ".tmp" in str(arguments[0]):
            done = git(project, "commit", "-q", "--allow-empty", "-m", "other")
            said.add(f"{done.returncode} {'.lock' in done.stderr}")

    _before(monkeypatch, "replace", commit)
    apply_layer(layer, tuple(layer.manifests()))
    monkeypatch.undo()
    assert said == {"128 True"}
    assert told(project) == AFTER


def test_a_commit_just_before_the_lock_is_seen_under_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What changed after it was compared, and before it was locked, is not replaced."""
    layer = layer_of(project)

    def move(arguments: tuple[object, ...]) -> None:
        if arguments[1] == "main.lock":
            (project / ".git" / "refs" / "heads" / "main").write_text(f"{'0' * 39}1\n")

    _before(monkeypatch, "link", move)
    with pytest.raises(ApplyError, match=r"refs/heads/main changed since the run began"):
        apply_layer(layer, tuple(layer.manifests()))
    assert (project / ".git" / "refs" / "heads" / "main").read_text() == f"{'0' * 39}1\n"
    assert (project / "f").read_text() == "one\n"
    assert left_behind(project) == []


_PROGRAM = """
import os, sys

from agentscope_like.sandbox.layer import apply_layer
from tests.checkpoint.step_kills import kill_at_each_step
from tests.sandbox.layer.test_git_locks import layer_of, make_repository


def work(folder, kill):
    layer = layer_of(folder / "project")
    manifests = tuple(layer.manifests())
    kill.watch(os, "fsync", "unlink")
    apply_layer(layer, manifests)
    kill.end()


kill_at_each_step(*sys.argv[1:], work, lambda folder: make_repository(folder / "project"))
"""


@pytest.mark.timeout(300)
def test_a_kill_leaves_no_lock_once_it_is_settled(tmp_path: Path) -> None:
    """Killed at each step, the repository is as before or as after the run, and whole."""
    last = steps_of(_PROGRAM, tmp_path, 200)
    applied, locked = [], 0
    for step in range(1, last):
        project = tmp_path / str(step) / "project"
        locked += bool(left_behind(project))
        for folder in (tmp_path / str(step) / "layers").iterdir():
            try:
                applied.append(finish_applying(Layer.open(folder)))
            except IsolationError:
                applied.append(False)
        assert told(project) == (AFTER if applied[-1] else BEFORE), step
        assert left_behind(project) == [], step
    assert applied == sorted(applied)
    assert set(applied) == {False, True}
    assert locked > 5
