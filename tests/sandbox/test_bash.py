"""The tool for commands works through a handle, and is judged by what the handle says."""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.exception import (
    ConfigurationError,
    SandboxConnectionError,
    ToolArgumentError,
)
from agentscope_like.message import TextBlock, ToolChunk, ToolResultState
from agentscope_like.permission import (
    AdditionalWorkingDirectory,
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.sandbox import CommandResult, SandboxConfig, SandboxHandle, SandboxType
from agentscope_like.tool import Bash
from agentscope_like.tool.builtin.bash.sandboxed import sandbox_shell
from agentscope_like.tool.builtin.file_system.known_names import UnknownNameError
from tests.sandbox.kit import MyRemoteSandbox, is_running, local, passthrough, until

pytestmark = pytest.mark.slow

ALLOW, ASK, DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY
EDITS = PermissionMode.ACCEPT_EDITS


async def run(bash: Bash, command: str, **arguments: Any) -> tuple[str, ToolChunk]:
    """Run a command; return what it says, and the last chunk."""
    chunks = [chunk async for chunk in bash(command=command, **arguments)]
    said = "".join(
        block.text for chunk in chunks for block in chunk.content if isinstance(block, TextBlock)
    )
    return said, chunks[-1]


async def decide(
    bash: Bash,
    command: str,
    *rules: tuple[PermissionBehavior, str, str],
    mode: PermissionMode = PermissionMode.DEFAULT,
    working: str | None = None,
) -> PermissionDecision:
    """Decide about a command."""
    context = PermissionContext(mode=mode)
    if working is not None:
        added = AdditionalWorkingDirectory(path=working, source="test")
        context.working_directories[working] = added
    for behavior, tool, content in rules:
        context.table(behavior).add(
            PermissionRule(tool_name=tool, rule_content=content, behavior=behavior, source="test")
        )
    return await PermissionEngine(context).check_permission(bash, {"command": command})


async def test_sage_t_27_commands_run_in_every_sandbox(
    sandbox: SandboxHandle, tmp_path: Path
) -> None:
    """Output and error come in their order, with the status; the directory is kept."""
    bash = Bash(backend=sandbox)
    said, last = await run(bash, "echo one; echo two >&2; echo three")
    assert said == "one\ntwo\nthree\n"
    assert last.state is ToolResultState.SUCCESS
    assert last.metadata["exit_code"] == 0
    assert last.metadata["confinement"] == "sandbox"
    said, last = await run(bash, "mkdir -p 'a b/c'; cd 'a b/c'; (cd /); exit 3")
    assert said == "[exit status 3]"
    assert last.state is ToolResultState.ERROR
    assert bash.cwd == f"{tmp_path}/a b/c"
    said, _ = await run(bash, "pwd; printf é")
    assert said == f"{tmp_path}/a b/c\né"
    assert (tmp_path / "a b" / "c").is_dir()
    assert (await run(bash, "true"))[0] == "The command ended without any output."


async def test_a_directory_that_is_gone(sandbox: SandboxHandle, tmp_path: Path) -> None:
    """A command does not run elsewhere than where it was decided to; the next one starts anew."""
    bash = Bash(backend=sandbox)
    await run(bash, "mkdir sub; cd sub")
    (tmp_path / "sub").rmdir()
    said, last = await run(bash, "touch here")
    assert "was not run" in said
    assert last.state is ToolResultState.ERROR
    assert os.listdir(tmp_path) == []
    assert (await run(bash, "pwd"))[0] == f"{tmp_path}\n"


async def test_a_command_is_the_shell_s_as_on_this_host(sandbox: SandboxHandle) -> None:
    """No input, no startup files, lines that keep their numbers, and traps of its own."""
    bash = Bash(backend=sandbox)
    assert (await run(bash, "cat; echo $LINENO\necho $LINENO"))[0] == "1\n2\n"
    said, _ = await run(bash, "echo $0 $-; shopt login_shell; echo ${BASH_ENV-none}")
    assert said == "bash hBc\nlogin_shell    \toff\nnone\n"
    assert (await run(bash, "trap 'echo bye' EXIT; echo hi"))[0] == "hi\nbye\n"
    said, _ = await run(bash, "echo before\nfi")
    assert said.startswith("before\n")
    assert "line 2: syntax error" in said


async def test_the_end_of_time_ends_everything(shipped: SandboxHandle) -> None:
    """What was said until then stands, also of a command that never stops talking."""
    bash = Bash(backend=shipped)
    mark = f"{60 + int.from_bytes(os.urandom(2)) / 1e5}"
    said, last = await run(bash, f"echo begun; sleep {mark} & sleep {mark}", timeout=500)
    assert said.startswith("begun\n[The command was ended after its timeout of 500 ms")
    assert last.metadata["timed_out"]
    assert await until(lambda: not is_running(f"sleep\0{mark}"))
    started = time.monotonic()
    said, last = await run(bash, "while :; do echo talking; done", timeout=500)
    assert last.metadata["timed_out"]
    assert time.monotonic() - started < 30


async def test_cancelling_ends_everything(shipped: SandboxHandle) -> None:
    """Nothing of a command that was cancelled is left."""
    bash = Bash(backend=shipped)
    mark = f"{60 + int.from_bytes(os.urandom(2)) / 1e5}"
    task = asyncio.create_task(run(bash, f"sleep {mark} & sleep {mark}"))
    assert await until(lambda: is_running(f"sleep\0{mark}"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await until(lambda: not is_running(f"sleep\0{mark}"))


async def test_output_comes_as_it_is_written(shipped: SandboxHandle) -> None:
    """The first is there while the command still runs."""
    bash = Bash(backend=shipped)
    stream = bash(command="echo first $(printf %040d 1); while [ ! -e go ]; do sleep 0.05; done")
    async for chunk in stream:
        assert "first" in str(chunk.content)
        break
    await shipped.write_file("go", "")
    assert [chunk async for chunk in stream][-1].state is ToolResultState.SUCCESS


async def test_what_is_too_long_is_in_a_file_of_the_sandbox(sandbox: SandboxHandle) -> None:
    """Where the model is told to look, its tools find it."""
    bash = Bash(backend=sandbox)
    said, last = await run(bash, "for i in {1..9000}; do echo $i; done")
    assert len(said) < 40_000
    path = last.metadata["output_file"]
    assert path in said
    whole = await sandbox.read_file(path)
    assert whole == "".join(f"{number}\n" for number in range(1, 9001))


async def test_the_files_of_the_sandbox_decide(sandbox: SandboxHandle, tmp_path: Path) -> None:
    """A link or pattern that leads to a credential asks, a neighbour does not; likewise edits."""
    (tmp_path / "work").mkdir()
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id_rsa").write_text("key")
    (tmp_path / "work" / "plain.txt").write_text("x")
    (tmp_path / "work" / "link.txt").symlink_to("../.ssh/id_rsa")
    (tmp_path / "work" / "out").symlink_to("..")
    (tmp_path / "work" / "hooks").symlink_to("../.git/hooks")
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "a.pub").symlink_to("../.ssh/id_rsa")
    bash = Bash(backend=sandbox, cwd="work")
    for command, expected in (
        ("cat plain.txt", ALLOW),
        ("cat link.txt", ASK),
        ("cat *.txt", ASK),
        ("cat p*.txt", ALLOW),
        ("cat out/keys/*", ASK),
        ("cat out/k?ys/nothing*", ALLOW),
    ):
        assert (await decide(bash, command)).behavior is expected, command
    for command, expected in (
        ("touch new", ALLOW),
        ("touch out/new", ASK),
        ("touch hooks/new", ASK),
        ("rm plain.txt", ALLOW),
    ):
        assert (await decide(bash, command, mode=EDITS)).behavior is expected, command


async def test_rules_for_files_speak_of_the_sandbox_s(
    sandbox: SandboxHandle, tmp_path: Path
) -> None:
    """A denied file is denied to commands by each of its names, and below a directory."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_text("x")
    (tmp_path / "link").symlink_to("real")
    bash = Bash(backend=sandbox)
    denial = (DENY, "Read", f"{tmp_path}/link/**")
    assert (await decide(bash, "cat real/file", denial)).behavior is DENY
    assert (await decide(bash, "cat link/file", denial)).behavior is DENY
    assert (await decide(bash, "cat r*/f*", denial)).behavior is DENY
    assert (await decide(bash, "grep -r x real", denial)).behavior is not ALLOW
    assert (await decide(bash, "cat other", denial)).behavior is ALLOW


async def test_this_host_s_files_do_not_decide(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Where both know a path, the sandbox's link is followed, and this host's is not."""
    inside = tmp_path_factory.mktemp("inside")
    (inside / "a").symlink_to(".ssh/id_rsa")
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").symlink_to(".ssh/id_rsa")
    (inside / "b").write_text("x")
    async with local(workspace=str(inside), virtual_workspace=str(tmp_path)) as handle:
        bash = Bash(backend=handle)
        assert (await decide(bash, "cat a")).behavior is ASK
        assert (await decide(bash, "cat b")).behavior is ALLOW
        assert (await run(bash, "cat b"))[0] == "x"


async def test_files_that_only_commands_reach_decide_too(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The file methods end at the mounts, commands do not: a link beyond is followed."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / ".ssh").mkdir()
    (outside / ".ssh" / "id_rsa").write_text("key")
    (outside / "notes").symlink_to(".ssh/id_rsa")
    (outside / "plain").write_text("x")
    async with passthrough(workspace=str(tmp_path)) as handle:
        bash = Bash(backend=handle)
        assert (await decide(bash, f"cat {outside}/notes")).behavior is ASK
        assert (await decide(bash, f"cat {outside}/plain")).behavior is ALLOW


class Broken(MyRemoteSandbox):
    """A sandbox that has become unreachable."""

    async def execute_command(
        self,
        command: str,
        workdir: str | None = None,
        timeout: float = 30,
        env_vars: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Fail."""
        raise SandboxConnectionError("The other machine does not answer.")


@pytest.mark.parametrize("mode", list(PermissionMode))
async def test_a_sandbox_that_cannot_say_is_not_trusted(
    tmp_path: Path, mode: PermissionMode
) -> None:
    """Not even a proven read is allowed while nobody knows what the files are."""
    config = SandboxConfig(mode=SandboxType.REMOTE, remote_provider="mine", workspace=str(tmp_path))
    everything = (ALLOW, "Bash", "*")
    decision = await decide(Bash(backend=Broken(config)), "cat a", everything, mode=mode)
    assert decision.behavior in (ASK, DENY)
    decision = await decide(Bash(backend=MyRemoteSandbox(config)), "cat a", everything, mode=mode)
    assert decision.behavior is ALLOW


@pytest.fixture
def hostile(shipped: SandboxHandle, tmp_path: Path) -> SandboxHandle:
    """Return a sandbox whose workspace is a repository that names a program of its own."""
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {shlex.quote(str(tmp_path / 'ran'))}\n")
    program.chmod(0o755)
    (tmp_path / "file").write_text("one\n")
    for words in (
        ("init", "-q"),
        ("add", "file"),
        ("config", "core.fsmonitor", str(program)),
        ("config", "diff.external", str(program)),
        ("config", "filter.x.clean", str(program)),
    ):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    (tmp_path / ".gitattributes").write_text("file filter=x\n")
    (tmp_path / "file").write_text("two\n")
    return shipped


async def test_a_repository_of_the_sandbox_runs_no_program(
    hostile: SandboxHandle, tmp_path: Path
) -> None:
    """What is allowed because it only reads, only reads; what a person allows does as it is."""
    bash = Bash(backend=hostile)
    for command in ("git status", "git diff"):
        assert (await decide(bash, command)).behavior is ALLOW
        said, _ = await run(bash, command)
        assert "file" in said
    edits = PermissionMode.ACCEPT_EDITS
    assert (await decide(bash, "git status > told", mode=edits)).behavior is ALLOW
    await run(bash, "git status > told", _permission_context=PermissionContext(mode=edits))
    assert "file" in (tmp_path / "told").read_text()
    assert not (tmp_path / "ran").exists()
    await run(bash, "git add file")
    assert (tmp_path / "ran").exists()


def git(directory: Path, *words: str) -> None:
    """Run git for the setting of the scene."""
    subprocess.run(["git", "-C", str(directory), *words], check=True, capture_output=True)


async def test_nor_does_a_submodule_in_it(hostile: SandboxHandle, tmp_path: Path) -> None:
    """A submodule of the sandbox is looked at as its repository is."""
    inner = tmp_path / "inner"
    inner.mkdir()
    for name in (".git", ".gitattributes", "file"):
        (tmp_path / name).rename(inner / name)
    git(inner, *("-c", "user.name=A", "-c", "user.email=a@example.org"), "commit", "-qm", "1")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "inner")
    (inner / "file").write_text("three\n")
    ran = tmp_path / "ran"
    ran.unlink(missing_ok=True)
    await run(Bash(backend=hostile), "git diff-files; git diff --ignore-submodules=none")
    assert not ran.exists()
    git(tmp_path, "diff-files")
    assert ran.exists()


async def test_nor_does_git_run_where_submodules_are_not_told(
    hostile: SandboxHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sandbox that lacks what it takes to tell them runs no git unasked, and says so."""
    monkeypatch.setattr(sandbox_shell, "_SWAP", "no-such-program")
    with pytest.raises(ToolArgumentError, match="git could not be asked"):
        await run(Bash(backend=hostile), "git status")
    said, _ = await run(Bash(backend=hostile), "echo hello")
    assert "hello" in said


async def test_secrets_of_the_sandbox_are_not_shown_unasked(tmp_path: Path) -> None:
    """A proven read finds them empty; what somebody allowed has them."""
    async with passthrough(workspace=str(tmp_path), env={"MY_TOKEN": "hunter2"}) as handle:
        bash = Bash(backend=handle)
        assert (await decide(bash, "echo $MY_TOKEN")).behavior is ALLOW
        assert "hunter2" not in (await run(bash, "echo $MY_TOKEN"))[0]
        assert "hunter2" in (await run(bash, "echo $MY_TOKEN > f; cat f"))[0]


async def test_what_would_change_a_command_s_meaning_is_taken_out(tmp_path: Path) -> None:
    """Functions and variables of the sandbox's environment that bash obeys are not there."""
    env = {"CDPATH": "/", "GLOBIGNORE": "*", "MY_SETTING": "kept"}
    (tmp_path / "usr").mkdir()
    async with passthrough(workspace=str(tmp_path), env=env) as handle:
        bash = Bash(backend=handle)
        said, _ = await run(bash, "cd usr; pwd; echo * $MY_SETTING")
        assert said == f"{tmp_path}/usr\n* kept\n"


def test_confinement_by_the_kernel_is_this_host_s(tmp_path: Path) -> None:
    """Who insists on it is told that a sandbox confines otherwise."""
    with pytest.raises(ConfigurationError, match="confined by the sandbox"):
        Bash(backend=passthrough(workspace=str(tmp_path)), confine="require")
    assert Bash(backend=passthrough(workspace=str(tmp_path))).cwd == str(tmp_path)


async def test_a_decision_about_files_that_nobody_looked_up_is_not_made(tmp_path: Path) -> None:
    """Should a decision come to ask more than its preparation did, a person is asked."""
    (tmp_path / "a").touch()
    async with passthrough(workspace=str(tmp_path)) as handle:
        bash = Bash(backend=handle)
        context = PermissionContext()
        assert (await decide(bash, "cat a")).behavior is ALLOW
        with pytest.raises(UnknownNameError):
            await bash.check_permissions({"command": "cat b"}, context)
        assert (await decide(bash, "cat b")).behavior is ALLOW


@pytest.mark.parametrize("make", [local, passthrough])
async def test_a_proven_read_in_a_sandbox_runs_the_known_program(make: Any, tmp_path: Path) -> None:
    """A directory of the workspace in the sandbox's PATH brings no `ls`, and proves no `helm`."""
    planted = tmp_path / ".venv" / "bin"
    planted.mkdir(parents=True)
    for name in ("ls", "helm"):
        (planted / name).write_text("#!/bin/sh\necho planted\n")
        (planted / name).chmod(0o755)
    path = f"{planted}:/usr/bin:/bin"
    async with make(workspace=str(tmp_path), env={"PATH": path}) as handle:
        bash = Bash(backend=handle)
        for _ in range(2):
            assert (await decide(bash, "ls")).behavior is ALLOW
            assert (await decide(bash, "helm list")).behavior is ASK
        said, _ = await run(bash, "ls -A")
        assert said == ".venv\n"
        said, _ = await run(bash, "helm list; sh -c true")
        assert "planted" in said


def set_scene(script: str, directory: Path) -> None:
    """Run a script for the setting of the scene."""
    subprocess.run(["bash", "-c", script], cwd=directory, check=True)


@pytest.mark.parametrize(
    "hostile",
    [
        "git config core.worktree {outside}",
        "git config include.path {outside}/notes",
        "ln -s {outside}/notes .git/packed-refs",
        "echo {outside}/objects > .git/objects/info/alternates",
        "mkdir x; mv .git x; echo 'gitdir: {outside}/.git' > .git; git init -q {outside}",
    ],
)
async def test_a_repository_in_a_sandbox_leads_git_nowhere_else(
    hostile: str, tmp_path: Path
) -> None:
    """What a repository of the workspace says git is to read elsewhere is not read unasked."""
    outside, workspace = tmp_path / "outside", tmp_path / "workspace"
    for place in (outside, workspace):
        place.mkdir()
    (outside / "notes").write_text("[a]\n\tb = planted\n")
    set_scene("git init -q", workspace)
    async with passthrough(workspace=str(workspace), pass_env=("PATH", "HOME")) as handle:
        bash = Bash(backend=handle)
        said, _ = await run(bash, "git status")
        assert "No commits yet" in said
        set_scene(hostile.format(outside=outside), workspace)
        with pytest.raises(ToolArgumentError, match="leads git to files elsewhere"):
            await run(bash, "git status")
