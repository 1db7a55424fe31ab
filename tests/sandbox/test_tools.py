"""The built-in file tools work through a handle, and are judged by what the handle says."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.exception import SandboxConnectionError
from agentscope_like.message import TextBlock, ToolCallBlock, ToolResponse, ToolResultState
from agentscope_like.permission import (
    AdditionalWorkingDirectory,
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.sandbox import (
    CommandResult,
    SandboxConfig,
    SandboxHandle,
    SandboxType,
    VolumeMount,
)
from agentscope_like.sandbox.files.file_status import FileStatus
from agentscope_like.state import AgentState
from agentscope_like.tool import Bash, Edit, Glob, Grep, Read, ToolBase, Toolkit, Write
from tests.sandbox.kit import MyRemoteSandbox, is_running, local, passthrough, until

pytestmark = pytest.mark.slow

ALLOW, ASK, DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY


def tools_of(handle: SandboxHandle, cwd: str | None = None) -> dict[str, ToolBase]:
    """Return the file tools in a sandbox, by name."""
    kinds = (Read, Write, Edit, Glob, Grep)
    return {kind.name: kind(backend=handle, cwd=cwd) for kind in kinds}


def rule(text: str) -> PermissionRule:
    """Return the rule that is written as `allow Read(src/**)`."""
    behavior, _, rest = text.partition(" ")
    name, _, content = rest.partition("(")
    return PermissionRule(
        tool_name=name,
        rule_content=content[:-1] or None,
        behavior=PermissionBehavior(behavior),
        source="test",
    )


async def decide(
    tool: ToolBase,
    *rules: str,
    mode: PermissionMode = PermissionMode.DEFAULT,
    working: str | None = None,
    **arguments: Any,
) -> PermissionDecision:
    """Decide about a call."""
    context = PermissionContext(mode=mode)
    if working is not None:
        added = AdditionalWorkingDirectory(path=working, source="test")
        context.working_directories[working] = added
    for text in rules:
        one = rule(text)
        context.table(one.behavior).add(one)
    return await PermissionEngine(context).check_permission(tool, arguments)


class Session:
    """A toolkit with a state that allows everything that is no safety question."""

    def __init__(self, handle: SandboxHandle) -> None:
        self.toolkit = Toolkit(list(tools_of(handle).values()))
        self.state = AgentState(permission_context=PermissionContext(mode=PermissionMode.BYPASS))

    async def __call__(self, name: str, **arguments: Any) -> str:
        """Call a tool as a model does and return what it says."""
        call = ToolCallBlock(id=os.urandom(4).hex(), name=name, input=json.dumps(arguments))
        async for chunk in self.toolkit.call_tool(call, self.state):
            if isinstance(chunk, ToolResponse):
                assert chunk.state is ToolResultState.SUCCESS, chunk.content
                return "".join(each.text for each in chunk.content if isinstance(each, TextBlock))
        raise AssertionError(f"{name} was not run: {call.decision}")


async def test_sage_t_27_file_tools_work_in_every_sandbox(
    sandbox: SandboxHandle, tmp_path: Path
) -> None:
    """Whatever it is, a model reads, edits, writes and searches in it, by the same calls."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").write_text("def main():\r\n    pass\r\n", newline="")
    (tmp_path / "src" / "main.py").chmod(0o750)
    call = Session(sandbox)
    assert await call("Read", file_path="src/main.py") == "     1\tdef main():\n     2\t    pass"
    await call("Edit", file_path="src/main.py", old_string="pass", new_string="return 1")
    assert (tmp_path / "src" / "main.py").read_bytes() == b"def main():\r\n    return 1\r\n"
    assert (tmp_path / "src" / "main.py").stat().st_mode & 0o777 == 0o750
    await call("Write", file_path="docs/new/page.md", content="# main\n")
    assert (tmp_path / "docs" / "new" / "page.md").read_text() == "# main\n"
    assert await call("Glob", pattern="**/*.py") == "src/main.py"
    found = await call("Grep", pattern="main", output_mode="content")
    assert found == "docs/new/page.md:1:# main\nsrc/main.py:1:def main():"
    assert sorted(os.listdir(tmp_path)) == ["docs", "src"]


async def test_sage_t_27_this_host_is_not_looked_at(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Where both know a path, it is the sandbox's file that is judged, read, written and found."""
    inside = tmp_path_factory.mktemp("inside")
    (tmp_path / "same").mkdir()
    (tmp_path / "same" / "file").write_text("the host's\n")
    (inside / "same").mkdir()
    (inside / "same" / "file").write_text("the sandbox's\n")
    (tmp_path / "odd").symlink_to("/etc")
    (inside / "odd").mkdir()
    (inside / "link").symlink_to(".git")
    (tmp_path / "link").mkdir()
    async with local(workspace=str(inside), virtual_workspace=str(tmp_path)) as handle:
        call = Session(handle)
        assert "the sandbox's" in await call("Read", file_path=f"{tmp_path}/same/file")
        await call("Write", file_path="same/file", content="new\n")
        assert await call("Grep", pattern="new") == "same/file"
        assert await call("Glob", pattern="**") == "same/file"
        write = tools_of(handle)["Write"]
        for path, expected in (("odd/x", ALLOW), ("link/config", ASK), ("same/x", ALLOW)):
            decision = await decide(
                write, mode=PermissionMode.ACCEPT_EDITS, file_path=path, content=""
            )
            assert decision.behavior is expected, path
    assert (tmp_path / "same" / "file").read_text() == "the host's\n"
    assert (inside / "same" / "file").read_text() == "new\n"


async def test_a_path_is_judged_where_its_symlinks_lead(
    sandbox: SandboxHandle, tmp_path: Path
) -> None:
    """Through a link out of the working directory, or to something sensitive, it asks."""
    (tmp_path / "work").mkdir()
    (tmp_path / "else").mkdir()
    (tmp_path / "work" / "out").symlink_to("../else")
    (tmp_path / "work" / "hooks").symlink_to("../.git/hooks")
    (tmp_path / "work" / "in").symlink_to("sub")
    (tmp_path / "work" / "loop").symlink_to("loop")
    (tmp_path / "work" / "key").symlink_to("../.ssh/id_rsa")
    tools = tools_of(sandbox, "work")
    expected = {"a": ALLOW, "in/a": ALLOW, "out/a": ASK, "hooks/a": ASK, "loop/a": ASK}
    for path, behavior in expected.items():
        decision = await decide(
            tools["Write"], mode=PermissionMode.ACCEPT_EDITS, file_path=path, content=""
        )
        assert decision.behavior is behavior, path
    for path, behavior in {"a": ALLOW, "out/a": ALLOW, "key": ASK, "loop": ASK}.items():
        explored = await decide(tools["Read"], "allow Read(**)", "allow Read(/**)", file_path=path)
        assert explored.behavior is behavior, path


async def test_rules_follow_the_symlinks_of_the_sandbox(
    sandbox: SandboxHandle, tmp_path: Path
) -> None:
    """What is denied by one name is denied by the other, written in the rule or in the call."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_text("x")
    (tmp_path / "link").symlink_to("real")
    read = tools_of(sandbox)["Read"]
    grep = tools_of(sandbox)["Grep"]
    for name, other in (("real", "link"), ("link", "real")):
        denial = f"deny Read({tmp_path}/{name}/**)"
        decision = await decide(read, "allow Read", denial, file_path=f"{other}/file")
        assert decision.behavior is DENY
        decision = await decide(grep, "allow Grep", denial, pattern="x", path=other)
        assert decision.behavior is DENY
        decision = await decide(read, "allow Read", denial, file_path="elsewhere")
        assert decision.behavior is ALLOW
    allowed = f"allow Read({tmp_path}/link/**)"
    assert (await decide(read, allowed, file_path="link/file")).behavior is ASK
    both = f"allow Read({tmp_path}/{{link,real}}/**)"
    assert (await decide(read, both, file_path="link/file")).behavior is ALLOW


async def test_a_tilde_is_the_sandbox_s_home(tmp_path: Path) -> None:
    """In a call and in a rule that allows; a rule that denies means this host's as well."""
    home = Path.home()
    async with passthrough(workspace=str(tmp_path), env={"HOME": str(tmp_path)}) as handle:
        read = tools_of(handle)["Read"]
        (tmp_path / "notes").write_text("x")
        allowed = await decide(read, "allow Read(~/notes)", file_path="~/notes")
        assert allowed.behavior is ALLOW
        assert (await decide(read, "deny Read(~/notes)", file_path="notes")).behavior is DENY
        assert (await decide(read, file_path="~/.aws/credentials")).bypass_immune
        theirs = await decide(read, "allow Read(~/**)", file_path=f"{home}/notes")
        assert theirs.behavior is ASK
        theirs = await decide(read, "deny Read(~/notes)", file_path=f"{home}/notes")
        assert theirs.behavior is DENY
        other = await decide(read, "allow Read", file_path="~root/notes")
        assert other.behavior is DENY
        assert "written out" in other.message or "write it out" in other.message


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
        raise SandboxConnectionError("The other machine does not answer. Try again later.")


def mine(kind: type[MyRemoteSandbox], workspace: Path) -> MyRemoteSandbox:
    """Return a sandbox of a user's provider."""
    return kind(
        SandboxConfig(mode=SandboxType.REMOTE, remote_provider="mine", workspace=str(workspace))
    )


@pytest.mark.parametrize("mode", list(PermissionMode))
async def test_a_sandbox_that_cannot_say_is_not_trusted(
    tmp_path: Path, mode: PermissionMode
) -> None:
    """Nothing is allowed while it cannot be asked, whatever the rules and the mode."""
    (tmp_path / "a").touch()
    for kind, expected in ((Broken, (ASK, DENY)), (MyRemoteSandbox, (ALLOW,))):
        for name, tool in tools_of(mine(kind, tmp_path)).items():
            if name in ("Write", "Edit") and mode is PermissionMode.EXPLORE:
                continue
            arguments = {"Glob": {"pattern": "*"}, "Grep": {"pattern": "x"}}.get(
                name, {"file_path": "a"}
            )
            decision = await decide(tool, f"allow {name}", mode=mode, **arguments)
            assert decision.behavior in expected, name
    read = tools_of(mine(Broken, tmp_path))["Read"]
    assert "does not answer" in (await decide(read, "allow Read", file_path="a")).message
    (chunk,) = [chunk async for chunk in read(file_path="a")]
    assert chunk.state is ToolResultState.ERROR
    assert "does not answer" in str(chunk.content)


class Restless(MyRemoteSandbox):
    """A sandbox in which somebody swaps a file for a link, once it was looked at."""

    async def stat_files(self, paths: Any) -> list[FileStatus]:
        """Say what the files are, and swap one."""
        found = await super().stat_files(paths)
        place = Path(self.workspace_path)
        if not (place / "notes").is_symlink():
            (place / "notes").unlink()
            (place / "notes").symlink_to(".env")
        return found


@pytest.mark.parametrize("tool", ["Read", "Write"])
async def test_what_is_used_is_what_was_judged(tmp_path: Path, tool: str) -> None:
    """A file that became a link to another one after the look is neither read nor written."""
    (tmp_path / ".env").write_text("SECRET")
    (tmp_path / "notes").write_text("notes")
    one = tools_of(mine(Restless, tmp_path))[tool]
    arguments = {"file_path": "notes"} | ({"content": "x"} if tool == "Write" else {})
    (chunk,) = [chunk async for chunk in one(**arguments, _agent_state=AgentState())]
    assert chunk.state is ToolResultState.ERROR
    assert "SECRET" not in str(chunk.content)
    assert (tmp_path / ".env").read_text() == "SECRET"


class Swapping(MyRemoteSandbox):
    """A sandbox in which a directory becomes a link once a call has been decided about."""

    looks = 0

    async def stat_files(self, paths: Any) -> list[FileStatus]:
        """Say what the files are; from the look on that the call itself takes, others."""
        self.looks += 1
        place = Path(self.workspace_path)
        if self.looks == 4:  # the decision, its rules, the grant, the call
            (place / "dir").rename(place / "aside")
            (place / "dir").symlink_to("secret")
        return await super().stat_files(paths)


async def test_a_path_that_leads_elsewhere_than_when_it_was_decided_about(tmp_path: Path) -> None:
    """What a rule denies is not read by way of a link that was put there after the decision."""
    for name, text in (("dir", "harmless"), ("secret", "SECRET")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(text)
    state = AgentState(permission_context=PermissionContext(mode=PermissionMode.BYPASS))
    state.permission_context.table(DENY).add(rule("deny Read(secret/**)"))
    toolkit = Toolkit([Read(backend=mine(Swapping, tmp_path))])
    call = ToolCallBlock(id="1", name="Read", input=json.dumps({"file_path": "dir/file"}))
    chunks = [chunk async for chunk in toolkit.call_tool(call, state)]
    assert (tmp_path / "dir").is_symlink()
    assert "no longer leads where it did when the call was decided" in str(chunks[-1].content)
    assert "SECRET" not in str(chunks)
    again = ToolCallBlock(id="2", name="Read", input=json.dumps({"file_path": "dir/file"}))
    chunks = [chunk async for chunk in toolkit.call_tool(again, state)]
    assert again.decision is not None
    assert again.decision.behavior is DENY


class Bare(MyRemoteSandbox):
    """A sandbox with few programs: no Python, no gzip, and find and env with few options."""

    async def execute_command(
        self,
        command: str,
        workdir: str | None = None,
        timeout: float = 30,
        env_vars: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Run a command with these programs."""
        programs = Path(self.workspace_path).parent / "programs"
        if not programs.exists():
            programs.mkdir()
            for name in (
                *("base64", "bash", "cat", "chmod", "chown", "head", "ln", "mkdir", "mv"),
                *("pwd", "readlink", "rm", "rmdir", "sh", "sha256sum", "stat", "tail"),
            ):
                (programs / name).symlink_to(str(shutil.which(name)))
            (programs / "find").write_text(
                '#!/bin/sh\ncase "$*" in *-printf\\ *) exit 1;; esac\n'
                f'exec {shutil.which("find")} "$@"\n'
            )
            (programs / "env").write_text(
                f'#!/bin/sh\n[ "$1" != -0 ] || exit 125\nexec {shutil.which("env")} "$@"\n'
            )
            for name in ("find", "env"):
                (programs / name).chmod(0o755)
        return await super().execute_command(
            f"PATH={programs}; {command}", workdir, timeout, env_vars
        )


async def test_few_programs_are_enough(tmp_path: Path) -> None:
    """Without Python, gzip and GNU's find, the answers are the same."""
    work = tmp_path / "work"
    (work / "a").mkdir(parents=True)
    (work / "a" / "one.txt").write_text("x\nfound\n")
    (work / "a" / "two.txt").write_bytes(b"found\0")
    (work / "link").symlink_to("a")
    os.utime(work / "a" / "one.txt", (1, 1))
    handle = mine(Bare, work)
    assert (await handle.execute_command("python3 -V; gzip -V")).return_code == 127
    call = Session(handle)
    assert await call("Glob", pattern="**") == "a/two.txt\na/one.txt"
    assert await call("Grep", pattern="fou.d", output_mode="content") == "a/one.txt:2:found"
    assert await call("Grep", pattern="nothing") == "No matches found."
    await call("Read", file_path="link/one.txt")
    await call("Write", file_path="link/one.txt", content="found\n" * 3)
    assert await call("Grep", pattern="found", output_mode="count") == "a/one.txt:3"
    bash = Bash(backend=handle)
    assert (await decide(bash, command="cat a/*")).behavior is ALLOW
    chunks = [chunk async for chunk in bash(command="cd a; echo $HOME one.*")]
    assert "one.txt" in str(chunks[0].content)
    assert bash.cwd == f"{work}/a"


async def test_a_search_that_finds_more_than_one_answer_carries(on_host: SandboxHandle) -> None:
    """Nothing is left out: not of many files together, and not of one alone."""
    for name, lines in (("a", 9_000), ("b", 9_000), ("c", 20_000)):
        noise = "".join(f"{os.urandom(40).hex()}\n" for _ in range(lines))
        await on_host.write_file(name, noise)
    grep = tools_of(on_host)["Grep"]
    (chunk,) = [chunk async for chunk in grep(pattern=".", output_mode="content", head_limit=1)]
    assert chunk.metadata == {"files": 3, "matches": 38_000}
    assert "too much" not in str(chunk.content)


async def test_cancelling_ends_what_the_sandbox_does(shipped: SandboxHandle) -> None:
    """A search that is cancelled is over there, too."""
    mark = f"mark{os.urandom(6).hex()}"
    await shipped.write_file("file", "a" * 40 + "b")
    grep = tools_of(shipped)["Grep"]

    async def search() -> None:
        async for _ in grep(pattern=f"{mark}|(a*)*c"):
            pass

    task = asyncio.create_task(search())
    assert await until(lambda: is_running("search_worker") or is_running("-I\0-S"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await until(lambda: not is_running("-I\0-S"))


async def test_tools_are_made_before_their_sandbox(tmp_path: Path) -> None:
    """A tool needs its sandbox when it is called; until then nothing of it is allowed."""
    handle = local()
    tools = tools_of(handle)
    assert (await decide(tools["Read"], "allow Read", file_path="a")).behavior is ASK
    async with handle:
        await handle.write_file("a", "there")
        assert (await decide(tools["Read"], "allow Read", file_path="a")).behavior is ALLOW
        (chunk,) = [chunk async for chunk in tools["Read"](file_path="a")]
        assert "there" in str(chunk.content)


async def test_a_mount_is_judged_by_its_path_in_the_sandbox(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What is mounted read-only is read there, and not written; outside there is nothing."""
    data = tmp_path_factory.mktemp("data")
    (data / "file").write_text("data\n")
    mounts = [VolumeMount(str(data), "/data", read_only=True)]
    async with local(workspace=str(tmp_path), volume_mounts=mounts) as handle:
        tools = tools_of(handle)
        call = Session(handle)
        assert "data" in await call("Read", file_path="/data/file")
        assert await call("Grep", pattern="data", path="/data") == "/data/file"
        for path in ("/data/file", "/data/new"):
            (chunk,) = [
                chunk
                async for chunk in tools["Write"](
                    file_path=path, content="x", _agent_state=call.state
                )
            ]
            assert "read-only" in str(chunk.content)
        decision = await decide(tools["Read"], "allow Read(/**)", file_path=f"{data}/file")
        assert decision.behavior is ASK
        (chunk,) = [chunk async for chunk in tools["Read"](file_path=f"{data}/file")]
        assert "outside of the sandbox" in str(chunk.content)
