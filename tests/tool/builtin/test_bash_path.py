"""A program that a working directory brings under a known name is not the known program."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agentscope_like.permission import (
    AdditionalWorkingDirectory,
    PermissionBehavior,
    PermissionContext,
    PermissionEngine,
    PermissionMode,
)
from agentscope_like.sandbox.isolation.profile import Confine
from agentscope_like.tool import Bash
from tests.tool.builtin.bash_kit import context_of

SECRET = "planted-marker-4711"
SYSTEM = "/usr/local/bin:/usr/bin:/bin"
ALLOW, ASK, DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY


def plant(directory: Path, *names: str) -> Path:
    """Put programs into a directory that show the secret."""
    directory.mkdir(parents=True, exist_ok=True)
    for name in names:
        program = directory / name
        program.write_text(f"#!/bin/sh\necho {SECRET}\n")
        program.chmod(0o755)
    return directory


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project."""
    made = tmp_path.resolve() / "project"
    made.mkdir()
    (made / "a.txt").write_text("first\n")
    return made


def entries(project: Path) -> dict[str, str]:
    """Return ways in which PATH may name a directory of the project."""
    planted = plant(project / ".venv" / "bin", "ls", "cat", "git", "sort", "touch", "jq")
    outside = project.parent / "link"
    outside.symlink_to(planted)
    return {
        "absolute": str(planted),
        "twice": f"{planted}/../bin/",
        "link": str(outside),
        "relative": ".venv/bin",
        "empty": "",
    }


async def decided(bash: Bash, command: str, policy: PermissionContext) -> PermissionBehavior:
    """Return what is decided."""
    engine = PermissionEngine(policy)
    return (await engine.check_permission(bash, {"command": command})).behavior


async def said(bash: Bash, command: str, policy: PermissionContext) -> str:
    """Return all that the command says."""
    run = bash.call(command, _permission_context=policy)
    return "".join([chunk.content[0].text async for chunk in run])  # type: ignore[union-attr]


@pytest.mark.parametrize("confine", ["auto", "off"])
@pytest.mark.parametrize("entry", ["absolute", "twice", "link", "relative", "empty"])
@pytest.mark.parametrize(
    "command",
    ["ls", "cat a.txt", "sort a.txt", "cat a.txt | sort", "env ls", "echo a.txt | xargs cat"],
)
async def test_a_proven_read_runs_the_known_program(
    project: Path, monkeypatch: pytest.MonkeyPatch, command: str, entry: str, confine: Confine
) -> None:
    """Whichever way PATH leads into the project, what is proven is what runs."""
    monkeypatch.setenv("PATH", f"{entries(project)[entry]}:{SYSTEM}")
    directory = project / ".venv" / "bin" if entry == "empty" else project
    (directory / "a.txt").write_text("first\n")
    bash = Bash(cwd=directory, confine=confine)
    policy = PermissionContext()
    assert await decided(bash, command, policy) is ALLOW
    text = await said(bash, command, policy)
    assert SECRET not in text
    assert "a.txt" in text or "first" in text


async def test_an_accepted_edit_runs_the_known_programs(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is proven to edit is searched for as what is proven to read."""
    monkeypatch.setenv("PATH", f"{entries(project)['absolute']}:{SYSTEM}")
    bash, policy = Bash(cwd=project), context_of(mode="accept_edits")
    assert await decided(bash, "touch b.txt && ls", policy) is ALLOW
    text = await said(bash, "touch b.txt && ls", policy)
    assert SECRET not in text
    assert "b.txt" in text


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (PermissionMode.DEFAULT, ASK),
        (PermissionMode.ACCEPT_EDITS, ASK),
        (PermissionMode.EXPLORE, DENY),
        (PermissionMode.DONT_ASK, DENY),
    ],
)
@pytest.mark.parametrize("command", ["nowhere-else -V", "helm list", "echo x | helm version"])
async def test_what_only_the_project_has_is_not_proven(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    mode: PermissionMode,
    expected: PermissionBehavior,
) -> None:
    """A program of a known name that only a directory of the project has is asked about."""
    if shutil.which("helm", path=SYSTEM) is not None:
        pytest.skip("this machine has helm")
    planted = plant(project / "node_modules" / ".bin", "helm", "nowhere-else")
    monkeypatch.setenv("PATH", f"{planted}:{SYSTEM}")
    policy = PermissionContext(mode=mode)
    bash = Bash(cwd=project)
    assert await decided(bash, command, policy) is expected
    assert await decided(bash, "ls", policy) is ALLOW


async def test_only_the_program_that_the_project_has_needs_the_rule(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the system has beside it stays proven, so that a rule for that program is enough."""
    planted = plant(project / "node_modules" / ".bin", "nowhere-else", "helm")
    monkeypatch.setenv("PATH", f"{planted}:{SYSTEM}")
    bash = Bash(cwd=project)
    command = "cat a.txt | sort; helm version"
    assert await decided(bash, command, context_of(["allow helm:*"])) is ALLOW
    assert await decided(bash, command, context_of(["allow sort:*"])) is ASK


async def test_a_program_that_is_nowhere_is_judged_by_its_name(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Directories of the project that lack it change nothing."""
    planted = plant(project / "bin", "other")
    monkeypatch.setenv("PATH", f"{planted}:{SYSTEM}")
    assert await decided(Bash(cwd=project), "helm list", PermissionContext()) is ALLOW


async def test_what_a_person_allowed_runs_with_the_whole_path(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rule for the project's own program starts it as a shell of the user would."""
    planted = plant(project / ".venv" / "bin", "pytest")
    monkeypatch.setenv("PATH", f"{planted}:{SYSTEM}")
    bash, policy = Bash(cwd=project), context_of(["allow pytest:*"])
    assert await decided(bash, "pytest --version", policy) is ALLOW
    assert SECRET in await said(bash, "pytest --version", policy)


async def test_beside_what_a_rule_allows_nothing_is_proven_that_the_project_brings(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole PATH serves every part of the line, so that a planted `ls` asks there."""
    planted = plant(project / ".venv" / "bin", "ls", "pytest")
    monkeypatch.setenv("PATH", f"{planted}:{SYSTEM}")
    bash = Bash(cwd=project)
    policy = context_of(["allow pytest:*"])
    assert await decided(bash, "ls && pytest", policy) is ASK
    assert await decided(bash, "cat a.txt && pytest", policy) is ALLOW
    assert await decided(bash, "ls && pytest", context_of(["allow pytest:*", "allow ls"])) is ALLOW


async def test_a_directory_of_path_outside_stays(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the user put into PATH elsewhere is the user's choice of the program."""
    own = plant(project.parent / "tools", "ls")
    monkeypatch.setenv("PATH", f"{own}:{SYSTEM}")
    assert SECRET in await said(Bash(cwd=project), "ls", PermissionContext())


async def test_each_working_directory_counts(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second working directory brings programs as the first does."""
    other = project.parent / "other"
    planted = plant(other / "bin", "ls", "only-here")
    monkeypatch.setenv("PATH", f"{planted}:{SYSTEM}")
    assert SECRET in await said(Bash(cwd=project), "ls", PermissionContext())
    both = {each: AdditionalWorkingDirectory(path=each) for each in (str(project), str(other))}
    policy = PermissionContext(working_directories=both)
    assert SECRET not in await said(Bash(cwd=project), "ls", policy)
