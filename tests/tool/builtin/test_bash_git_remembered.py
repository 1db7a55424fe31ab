"""What was found of a repository is remembered only for as long as nothing in it has changed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

import pytest

from agentscope_like.file_changes import looks as file_looks
from agentscope_like.tool import Bash
from tests.tool.builtin.test_bash_git_files import (
    ALLOW,
    ASK,
    HOSTILE,
    Scene,
    bare,
    decided,
    git,
    pytestmark,
    said,
    scene,
)

__all__ = ["pytestmark", "scene"]

COMMANDS = ("git log --oneline", "git fsck", "git blame a.txt", "git branch -a | sort")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a repository count as unchanged after a moment."""
    monkeypatch.setattr(file_looks, "SETTLED_NS", 50_000_000)


async def remembered(bash: Bash, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return whether the commands are allowed, at last without a directory being listed."""
    await asyncio.sleep(0.1)
    allowed = [await decided(bash, command) for command in (*COMMANDS, *COMMANDS)]
    await asyncio.sleep(0.01)
    listed: list[str] = []
    scandir: Callable[[str], object] = os.scandir

    def noted(path: str) -> object:
        listed.append(path)
        return scandir(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", noted)
        allowed += [await decided(bash, command) for command in COMMANDS]
    return set(allowed) == {ALLOW} and not listed


@pytest.mark.parametrize("kind", HOSTILE)
async def test_a_change_after_a_decision_is_seen_by_the_next(
    scene: Scene, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever makes a fresh repository ask makes one ask that was found harmless before."""
    bash = Bash(cwd=scene.project, confine="off")
    assert await remembered(bash, monkeypatch)
    HOSTILE[kind](scene)
    await asyncio.sleep(0.02)
    asked = {command for command in COMMANDS if await decided(bash, command) is ASK}
    only = {"list of objects": {"git fsck"}, "list of commits": {"git blame a.txt"}}
    assert asked == only.get(kind, set(COMMANDS))


async def test_a_change_around_the_directory_is_seen(scene: Scene) -> None:
    """A repository that appears nearer to the directory counts from then on."""
    inner = Bash(cwd=scene.project / "sub", confine="off")
    assert await decided(inner, "git log --oneline") is ALLOW
    await asyncio.sleep(0.1)
    assert await decided(inner, "git log --oneline") is ALLOW
    bare(scene)
    await asyncio.sleep(0.02)
    assert await decided(inner, "git log --oneline") is ASK


async def test_a_linked_work_tree_is_looked_at_again(scene: Scene) -> None:
    """A repository that no longer acknowledges a work tree is not its own."""
    place = scene.project.parent / "linked"
    git(scene.other, "worktree", "add", "-q", str(place))
    linked = Bash(cwd=place, confine="off")
    await asyncio.sleep(0.1)
    for _ in range(2):
        assert await decided(linked, "git log --oneline") is ALLOW
    (scene.other / ".git" / "worktrees" / "linked" / "gitdir").write_text("/elsewhere/.git\n")
    await asyncio.sleep(0.02)
    assert await decided(linked, "git log --oneline") is ASK


async def test_a_run_looks_at_the_repository_whatever_is_remembered(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command does not run where its repository has changed since it was decided."""
    bash = Bash(cwd=scene.project, confine="off")
    assert await remembered(bash, monkeypatch)
    assert await said(bash, "git log --oneline")
    monkeypatch.setattr(file_looks.Looks, "hold", lambda _: True)
    await asyncio.sleep(0.01)
    assert await decided(bash, "git log --oneline") is ALLOW
    HOSTILE["link for shallow"](scene)
    assert await decided(bash, "git log --oneline") is ALLOW  # as made to
    assert await said(bash, "git log --oneline") == ""
