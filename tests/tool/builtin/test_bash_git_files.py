"""A repository's own files show no credential through a git command that runs unasked."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from agentscope_like.exception import ToolArgumentError
from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionEngine
from agentscope_like.tool import Bash

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

MARKER = "planted-marker-4711"
ALLOW, ASK = PermissionBehavior.ALLOW, PermissionBehavior.ASK
AUTHOR = ("-c", "user.name=A", "-c", "user.email=a@example.org")
SHOWING = (
    *("git status", "git log -p", "git diff", "git show", "git branch -a", "git grep -n ."),
    *("git ls-files -s", "git blame a.txt", "git fsck", "git reflog", "git config --list"),
    *("git rev-parse HEAD", "git for-each-ref", "git worktree list", "git stash list"),
    *("git check-ignore -v a.txt b.txt", "git check-attr -a a.txt", "git tag -l", "git remote -v"),
    *("git log --all --oneline", "git show HEAD:a.txt", "git ls-files -o", "git shortlog -s HEAD"),
)
"""Reads that a hostile repository may turn against its user."""


def git(directory: Path, *arguments: str) -> None:
    """Run git for the setting of the scene."""
    subprocess.run(["git", *AUTHOR, *arguments], cwd=directory, check=True, capture_output=True)


class Scene(NamedTuple):
    """A project, and what lies outside it.

    Attributes:
        project: The working directory, a repository.
        secret: A file outside it that holds the marker.
        other: A repository outside it whose history holds the marker.
    """

    project: Path
    secret: Path
    other: Path


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """Return a repository with a commit, and a home with secrets."""
    base = tmp_path.resolve()
    home, project = base / "home", base / "project"
    for place in (home / "private", project):
        place.mkdir(parents=True)
        git(place, "init", "-qb", "main")
    monkeypatch.setenv("HOME", str(home))
    (home / "notes").write_text(f"{MARKER}\n")
    (home / "private" / "a.txt").write_text(f"{MARKER}\n")
    (project / "a.txt").write_text("one\n")
    (project / "sub").mkdir()
    for place in (home / "private", project):
        git(place, "add", "-A")
        git(place, "commit", "-qm", "first")
    return Scene(project, home / "notes", home / "private")


def config(key: str, value: str = "{secret}") -> Callable[[Scene], None]:
    """Return what lets the configuration say something."""
    return lambda scene: git(
        scene.project, "config", key, value.format(secret=scene.secret, other=scene.other)
    )


def link(name: str, target: str = "{secret}") -> Callable[[Scene], None]:
    """Return what puts a link into the repository."""

    def put(scene: Scene) -> None:
        place = scene.project / ".git" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_dir():
            shutil.rmtree(place)
        place.unlink(missing_ok=True)
        place.symlink_to(target.format(secret=scene.secret, other=scene.other))

    return put


def write(name: str, text: str) -> Callable[[Scene], None]:
    """Return what puts a file into the project."""

    def put(scene: Scene) -> None:
        place = scene.project / name
        if place.is_dir():
            shutil.rmtree(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text.format(secret=scene.secret, other=scene.other))

    return put


def submodule(scene: Scene) -> None:
    """Make a directory of the project a submodule whose repository lies in the home."""
    git(scene.project, "clone", "-q", str(scene.project), "inner")
    git(scene.project, "add", "inner")
    shutil.rmtree(scene.project / "inner" / ".git")
    (scene.project / "inner" / ".git").write_text(f"gitdir: {scene.other}/.git\n")


def bare(scene: Scene) -> None:
    """Make a directory of the project a repository without a work tree, which names the home."""
    place = scene.project / "sub"
    git(scene.project, "clone", "-q", "--bare", str(scene.project), str(place))
    git(place, "config", "core.bare", "false")
    git(place, "config", "core.worktree", str(scene.other))


def secret_inside(scene: Scene) -> None:
    """Let the names of branches come from a credential file of the project."""
    (scene.project / ".env").write_text(f"TOKEN={MARKER}\n")
    (scene.project / ".git" / "packed-refs").symlink_to("../.env")


HOSTILE: dict[str, Callable[[Scene], None]] = {
    "work tree in the home": config("core.worktree", "{other}"),
    "work tree in the home, relative": config("core.worktree", "../../home"),
    "included file": config("include.path"),
    "included file, of the home": config("include.path", "~/notes"),
    "included on a condition": config("includeIf.onbranch:main.path"),
    "list of objects": config("fsck.skipList"),
    "list of commits": config("blame.ignoreRevsFile"),
    "link for shallow": link("shallow"),
    "link for packed-refs": link("packed-refs"),
    "link for alternates": link("objects/info/alternates"),
    "link for HEAD": link("HEAD"),
    "link for index": link("index"),
    "link for config": link("config"),
    "link for grafts": link("info/grafts"),
    "link for excludes": link("info/exclude"),
    "link for attributes": link("info/attributes"),
    "link for a branch": link("refs/heads/x"),
    "link for a log": link("logs/HEAD"),
    "link for the state of a rebase": link("rebase-merge/done"),
    "link for objects": link("objects", "{other}/.git/objects"),
    "link for one directory of objects": link("objects/ab", "{other}/.git/objects/ab"),
    "link for branches": link("refs", "{other}/.git/refs"),
    "link for modules": link("modules", "{other}/.git"),
    "alternate objects": write(".git/objects/info/alternates", "{other}/.git/objects\n"),
    "alternate objects, quoted": write(".git/objects/info/alternates", '"{other}/.git/objects"\n'),
    "directory elsewhere": write(".git", "gitdir: {other}/.git\n"),
    "directory elsewhere, relative": write(".git", "gitdir: ../home/private/.git\n"),
    "common directory elsewhere": write(".git/commondir", "{other}/.git\n"),
    "submodule elsewhere": submodule,
    "a secret of the project": secret_inside,
    "configuration that is not understood": write(".git/config", "[core\n"),
}

NOT_READ: dict[str, Callable[[Scene], None]] = {
    "excludes": config("core.excludesFile"),
    "attributes": config("core.attributesFile"),
    "mailmap": config("mailmap.file"),
    "template": config("commit.template"),
    "order": config("diff.orderFile"),
    "signature": config("format.signatureFile"),
}


async def decided(bash: Bash, command: str) -> PermissionBehavior:
    """Return what is decided in DEFAULT."""
    engine = PermissionEngine(PermissionContext())
    return (await engine.check_permission(bash, {"command": command})).behavior


async def said(bash: Bash, command: str) -> str:
    """Return all that a command says; nothing where it does not run."""
    try:
        return "".join([chunk.content[0].text async for chunk in bash.call(command)])  # type: ignore[union-attr]
    except ToolArgumentError:
        return ""


async def allowed(bash: Bash) -> list[str]:
    """Return the commands that run unasked, after each has run and shown no secret."""
    found = []
    for command in SHOWING:
        if await decided(bash, command) is ALLOW:
            found.append(command)
            assert MARKER not in await said(bash, command), command
    return found


async def test_a_plain_repository_is_read_unasked(scene: Scene) -> None:
    """Nothing is asked about where nothing leads elsewhere."""
    assert await allowed(Bash(cwd=scene.project, confine="off")) == list(SHOWING)


@pytest.mark.parametrize("kind", HOSTILE)
async def test_what_leads_git_to_files_elsewhere_asks(scene: Scene, kind: str) -> None:
    """Whatever the repository does to have other files shown, they are not shown unasked."""
    HOSTILE[kind](scene)
    bash = Bash(cwd=scene.project, confine="off")
    skips = {"list of objects": "git fsck", "list of commits": "git blame a.txt"}
    found = await allowed(bash)
    if kind in skips:
        assert set(SHOWING) - set(found) == {skips[kind]}
    else:
        assert found == []
    (scene.project / "sub" / "x").mkdir(parents=True, exist_ok=True)
    inner = Bash(cwd=scene.project / "sub", confine="off")
    assert len(await allowed(inner)) == len(found)


@pytest.mark.parametrize("kind", NOT_READ)
async def test_a_file_that_a_setting_names_is_not_read(scene: Scene, kind: str) -> None:
    """Where git can be told otherwise it is, and nothing is asked."""
    NOT_READ[kind](scene)
    assert await allowed(Bash(cwd=scene.project, confine="off")) == list(SHOWING)


async def test_a_repository_without_a_work_tree_is_looked_at_too(scene: Scene) -> None:
    """Git takes a directory that looks like a repository for one."""
    bare(scene)
    assert await allowed(Bash(cwd=scene.project, confine="off")) == list(SHOWING)
    assert await allowed(Bash(cwd=scene.project / "sub", confine="off")) == []
    assert await decided(Bash(cwd=scene.project), "git -C sub ls-files -o") is ASK


async def test_what_stays_within_the_project_does_not_ask(scene: Scene) -> None:
    """Links, included files, lists and alternates of the project are as good as its own files."""
    (scene.project / "shared").mkdir()
    (scene.project / "shared" / "config").write_text("[alias]\n\tx = log\n")
    (scene.project / ".skip").write_text("")
    (scene.project / ".git" / "info").mkdir(exist_ok=True)
    (scene.project / ".git" / "info" / "exclude").unlink(missing_ok=True)
    (scene.project / ".git" / "info" / "exclude").symlink_to("../../.skip")
    git(scene.project, "config", "include.path", "../shared/config")
    git(scene.project, "config", "blame.ignoreRevsFile", ".skip")
    git(scene.project, "config", "core.worktree", "..")
    git(scene.project, "clone", "-q", "--shared", str(scene.project), "second")
    assert await allowed(Bash(cwd=scene.project, confine="off")) == list(SHOWING)
    policy = PermissionContext()
    found = await PermissionEngine(policy).check_permission(
        Bash(cwd=scene.project), {"command": "git -C second log"}
    )
    assert found.behavior is ALLOW


async def test_a_linked_work_tree_is_read_unasked(scene: Scene) -> None:
    """`git worktree add` puts a work tree elsewhere, and the repository says that it is its own."""
    git(scene.other, "worktree", "add", "-q", str(scene.project.parent / "linked"))
    linked = Bash(cwd=scene.project.parent / "linked", confine="off")
    for command in ("git status", "git log --oneline", "git diff"):
        assert await decided(linked, command) is ALLOW
        assert "fatal" not in await said(linked, command)
    (scene.project / ".git").rename(scene.project / "old")
    (scene.project / ".git").write_text(f"gitdir: {scene.other}/.git/worktrees/linked\n")
    assert await decided(Bash(cwd=scene.project), "git log -p") is ASK


async def test_a_submodule_may_be_worked_in(scene: Scene) -> None:
    """The repository of a submodule lies with the one around it, and names the submodule."""
    git(
        scene.project,
        *("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(scene.other), "inner"),
    )
    for directory in (scene.project, scene.project / "inner"):
        assert await decided(Bash(cwd=directory), "git status") is ALLOW
        assert "main" in await said(Bash(cwd=directory, confine="off"), "git status")


async def test_nothing_is_run_to_find_that_out(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever `git` PATH finds first, it does not run before the command, and not unconfined."""
    planted = tmp_path / "bin"
    planted.mkdir()
    (planted / "git").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/ran\n')
    (planted / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{planted}:{os.environ['PATH']}")
    bash = Bash(cwd=scene.project, confine="off")
    assert await decided(bash, "git log -1") is ALLOW
    await said(bash, "git log -1")
    assert (tmp_path / "ran").read_text() == "log -1\n"
