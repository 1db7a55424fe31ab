"""The root of a work tree, told as git tells it or not at all."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agentscope_like.tool.builtin.bash.environment.work_tree import MAX_CONFIG_BYTES, work_tree_of

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def git(directory: Path, *arguments: str) -> str:
    """Return what git prints; nothing where it fails."""
    done = subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *arguments],
        cwd=directory,
        check=False,
        capture_output=True,
        text=True,
    )
    return done.stdout.rstrip("\n")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with a commit and directories below it."""
    root = tmp_path / "root"
    (root / "a" / "b").mkdir(parents=True)
    git(root, "init", "-q")
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    return root


@pytest.mark.parametrize("below", [".", "a", "a/b"])
def test_it_is_what_git_prints(repository: Path, below: str) -> None:
    """From anywhere below, the root is the one that git tells."""
    directory = repository / below
    assert work_tree_of(str(directory), {}) == git(directory, "rev-parse", "--show-toplevel")


def test_links_are_followed(repository: Path, tmp_path: Path) -> None:
    """A directory that a link leads to lies where it really lies."""
    link = tmp_path / "link"
    link.symlink_to(repository / "a")
    assert work_tree_of(str(link), {}) == str(repository.resolve())


def test_the_nearest_counts(repository: Path) -> None:
    """A repository within another is the one that git finds."""
    git(repository / "a", "init", "-q")
    assert work_tree_of(str(repository / "a" / "b"), {}) == str((repository / "a").resolve())


def _linked(root: Path) -> Path:
    git(root, "worktree", "add", "-q", "../linked")
    return root.parent / "linked"


def _bare(root: Path) -> Path:
    git(root, "init", "-q", "--bare", "a/bare")
    return root / "a" / "bare"


def _configured(root: Path) -> Path:
    git(root, "config", "core.worktree", str(root / "a"))
    return root


def _long(root: Path) -> Path:
    with (root / ".git" / "config").open("a") as file:
        file.write("#" * MAX_CONFIG_BYTES)
    return root


def _by_link(root: Path) -> Path:
    (root / ".git").rename(root / "git")
    (root / ".git").symlink_to("git")
    return root


@pytest.mark.parametrize(
    "change",
    [
        _linked,
        _bare,
        _configured,
        _long,
        _by_link,
        lambda root: root / ".git",
        lambda root: root / ".git" / "refs",
        lambda root: root.parent,
        lambda root: root / "nowhere",
    ],
)
def test_anything_out_of_the_ordinary_is_unknown(
    repository: Path, change: Callable[[Path], Path]
) -> None:
    """Nothing is told where git goes by more than the nearest `.git`."""
    assert work_tree_of(str(change(repository)), {}) is None


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_WORK_TREE", "GIT_CEILING_DIRECTORIES"])
def test_variables_may_lead_elsewhere(repository: Path, name: str) -> None:
    """With variables that change where git looks, nothing is told."""
    assert work_tree_of(str(repository), {name: "/"}) is None
    assert work_tree_of(str(repository), {"GIT_PAGER": "cat"}) is not None
