"""What git records in an index is read as git reads it, and nothing else is taken for one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from agentscope_like.sandbox.repositories import GitIndexError, recorded_paths

Git = Callable[..., str]
NAMES = ("a", "a.b", "a/b/c.py", "é/ü", "with space", "x" * 200, "deep/" * 20 + "f", "tab\there")


@pytest.fixture(params=["sha1", "sha256"])
def git(tmp_path: Path, request: pytest.FixtureRequest) -> Git:
    """Return git in a repository that has some files in its index."""

    def run(*arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(tmp_path), "-c", "user.name=A", "-c", "user.email=a@b", *arguments],
            check=True,
            capture_output=True,
        )
        return os.fsdecode(done.stdout)

    run("init", "-q", f"--object-format={request.param}")
    for number, name in enumerate(NAMES):
        place = tmp_path / name if name != "a/b/c.py" else tmp_path / "b/c.py"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{number}\n")
    run("add", "-A")
    return run


def index(tmp_path: Path) -> bytes:
    return (tmp_path / ".git/index").read_bytes()


def listed(git: Git) -> frozenset[bytes]:
    return frozenset(map(os.fsencode, git("ls-files", "-z").split("\0")[:-1]))


@pytest.mark.parametrize("version", [2, 3, 4])
def test_every_version_is_read_as_git_reads_it(git: Git, tmp_path: Path, version: int) -> None:
    """Names of all lengths, of files that are only to be added, and of both sides of a conflict."""
    (tmp_path / "later").write_text("x")
    git("update-index", "--index-version", str(version))
    if version > 2:
        git("add", "--intent-to-add", "later")
    assert index(tmp_path)[7] == version
    assert recorded_paths(index(tmp_path)) == listed(git)
    assert len(listed(git)) >= len(NAMES)


def test_an_index_in_the_middle_of_a_merge(git: Git, tmp_path: Path) -> None:
    """A path with several stages is one path."""
    git("commit", "-q", "-m", "Start")
    git("checkout", "-q", "-b", "one")
    git("branch", "other")
    for branch in ("one", "other"):
        git("checkout", "-q", branch)
        (tmp_path / "a").write_text(f"{branch}\n")
        git("commit", "-q", "-a", "-m", branch)
    with pytest.raises(subprocess.CalledProcessError):
        git("merge", "-q", "one")
    assert "UU a" in git("status", "--short")
    assert recorded_paths(index(tmp_path)) == listed(git)


def test_an_empty_index(git: Git, tmp_path: Path) -> None:
    """Where nothing is tracked, nothing is recorded."""
    git("rm", "-q", "-r", "--cached", ".")
    assert recorded_paths(index(tmp_path)) == frozenset()


def test_what_means_something_else_is_refused(git: Git, tmp_path: Path) -> None:
    """Of a split index, only a part is there; a version of the future may mean anything."""
    data = index(tmp_path)
    assert recorded_paths(data)
    with pytest.raises(GitIndexError, match="version 5"):
        recorded_paths(data[:7] + b"\x05" + data[8:])
    git("update-index", "--split-index")
    with pytest.raises(GitIndexError):
        recorded_paths(index(tmp_path))


def test_nothing_damaged_is_read(git: Git, tmp_path: Path) -> None:
    """No part of an index is one, nor is an index with more or fewer entries than it says."""
    git("update-index", "--index-version", "4")
    for data in (index(tmp_path), index(tmp_path).replace(b"\0\0\0\x08", b"\0\0\0\x07", 1)):
        for end in range(0, len(data) - 1, 7):
            with pytest.raises(GitIndexError):
                recorded_paths(data[:end])
    count = int.from_bytes(index(tmp_path)[8:12])
    for wrong in (count - 1, count + 1, 2**32 - 1):
        with pytest.raises(GitIndexError):
            recorded_paths(index(tmp_path)[:8] + wrong.to_bytes(4) + index(tmp_path)[12:])


def test_damage_ends_in_a_refusal_or_an_answer(git: Git, tmp_path: Path) -> None:
    """Whatever bytes are changed, there is no other error and no endless reading."""
    random = Random(7)
    answers = 0
    for _ in range(400):
        data = bytearray(index(tmp_path))
        for _ in range(random.randint(1, 4)):
            data[random.randrange(len(data))] = random.randrange(256)
        try:
            recorded_paths(bytes(data))
            answers += 1
        except GitIndexError:
            pass
    assert 0 < answers < 400
