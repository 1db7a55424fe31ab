"""Commands in a container, by an engine that answers as Docker's documentation says."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agentscope_like.exception import (
    ConfigurationError,
    SandboxConnectionError,
    SandboxPathError,
)
from agentscope_like.sandbox import (
    IsolationLevel,
    SandboxConfig,
    SandboxProviderFactory,
    SandboxType,
)
from agentscope_like.sandbox.docker import DockerSandbox
from agentscope_like.state import AgentState
from agentscope_like.tool import Bash, Toolkit
from tests.sandbox.docker_engine import IMAGE, Engine
from tests.sandbox.kit import ended, is_running, until
from tests.tool.kit import call_of, outcome, text_of


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    """Return an engine on this host."""
    started = Engine(tmp_path)
    await started.start()
    yield started
    await started.stop()


async def test_sage_x_10_a_container_is_made_and_removed(engine: Engine) -> None:
    """The provider `docker` runs commands in a container of its own, without rights or network."""
    async with await SandboxProviderFactory.create(engine.config(memory_limit_mb=64)) as sandbox:
        assert sandbox.sandbox_type is SandboxType.REMOTE
        assert sandbox.isolation is IsolationLevel.HOST
        done = await sandbox.execute_command("pwd; echo oops >&2; exit 3")
        assert (done.stdout, done.stderr, done.return_code) == (
            f"{engine.workspace}\n",
            "oops\n",
            3,
        )
        assert len(engine.containers) == 1
    assert engine.containers == {}
    (settings,) = engine.settings
    limits = settings["HostConfig"]
    assert (limits["NetworkMode"], limits["CapDrop"]) == ("none", ["ALL"])
    assert limits["SecurityOpt"] == ["no-new-privileges"]
    assert limits["Memory"] == 64 << 20
    assert "Binds" not in limits


async def test_files_and_variables_go_through_commands(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the interface promises works; of this host's variables none is sent unnamed."""
    monkeypatch.setenv("SECRET", "s3cret")
    monkeypatch.setenv("NAMED", "named")
    config = engine.config(pass_env=("NAMED",), env={"OWN": "own"})
    async with await SandboxProviderFactory.create(config) as sandbox:
        await sandbox.write_file("deep/a.txt", "héllo")
        assert await sandbox.read_file("deep/a.txt") == "héllo"
        assert [one.name for one in await sandbox.list_dir("deep")] == ["a.txt"]
        shown = await sandbox.execute_command(
            'echo "$SECRET,$NAMED,$OWN,$NOW"; pwd', workdir="deep", env_vars={"NOW": "a b"}
        )
        assert shown.stdout == f",named,own,a b\n{engine.workspace}/deep\n"
        with pytest.raises(SandboxPathError, match="not a directory of the container"):
            await sandbox.execute_command("true", workdir="nowhere")


async def test_much_output_comes_whole(engine: Engine) -> None:
    """Frames of any size are put together, each to its stream."""
    async with await SandboxProviderFactory.create(engine.config()) as sandbox:
        done = await sandbox.execute_command("head -c 900000 /dev/zero | tr '\\0' x; echo end >&2")
        assert len(done.stdout) == 900_000
        assert done.stderr == "end\n"


async def test_a_timeout_ends_all_processes(engine: Engine) -> None:
    """Those that ignore SIGTERM or left the session as well."""
    mark = uuid.uuid4().hex
    async with await SandboxProviderFactory.create(engine.config()) as sandbox:
        done = await sandbox.execute_command(
            f"echo on; setsid bash -c 'trap \"\" TERM; exec -a {mark} sleep 60' & wait", timeout=0.5
        )
        assert (done.timed_out, done.stdout) == (True, "on\n")
        assert await until(lambda: not is_running(f"{mark}\0"))


async def test_commands_run_in_the_background(engine: Engine) -> None:
    """Their output is read by offset; they are ended when asked, and with the sandbox."""
    mark = uuid.uuid4().hex
    async with await SandboxProviderFactory.create(engine.config()) as sandbox:
        task = await sandbox.start_background("echo on; exit 4")
        await ended(sandbox, task)
        assert await sandbox.get_background_exit_code(task) == 4
        assert await sandbox.read_background_output_range(task, 1) == ("n\n", 3)
        endless = await sandbox.start_background(f"exec -a {mark} sleep 60")
        assert await until(lambda: is_running(f"{mark}\0"))
        await sandbox.kill_background(endless)
        assert not await sandbox.is_background_alive(endless)
        await sandbox.start_background(f"exec -a {mark} sleep 60")
        assert await until(lambda: is_running(f"{mark}\0"))
    assert await until(lambda: not is_running(f"{mark}\0"))


async def test_a_connection_that_is_lost_is_its_own_error(engine: Engine) -> None:
    """The command is ended, and not run again."""
    mark = uuid.uuid4().hex
    async with await SandboxProviderFactory.create(engine.config()) as sandbox:
        running = asyncio.create_task(
            sandbox.execute_command(f"echo ran >> runs; exec -a {mark} sleep 60")
        )
        assert await until(lambda: is_running(f"{mark}\0"))
        engine.cut()
        with pytest.raises(SandboxConnectionError, match="lost while"):
            await running
        assert await until(lambda: not is_running(f"{mark}\0"))
        assert (await sandbox.execute_command("cat runs")).stdout == "ran\n"


async def test_a_connection_that_is_lost_before_the_answer(engine: Engine) -> None:
    """A command that may have started is ended and counts as begun."""
    mark = uuid.uuid4().hex
    async with await SandboxProviderFactory.create(engine.config()) as sandbox:
        engine.starts_to_cut = 1
        with pytest.raises(SandboxConnectionError, match="lost while"):
            await sandbox.execute_command(f"exec -a {mark} sleep 60")
        assert await until(lambda: not is_running(f"{mark}\0"))


async def test_what_cannot_work_says_why(engine: Engine, tmp_path: Path) -> None:
    """No engine, no image, mounts of this host."""
    nowhere = {"image": IMAGE, "socket": str(tmp_path / "no.sock")}
    with pytest.raises(SandboxConnectionError, match="cannot be reached"):
        await SandboxProviderFactory.create(engine.config(remote_options=nowhere))
    unknown = {"image": "unknown", "socket": engine.socket}
    with pytest.raises(SandboxConnectionError, match="No such image: unknown"):
        await SandboxProviderFactory.create(engine.config(remote_options=unknown))
    with pytest.raises(ConfigurationError, match="does not mount"):
        DockerSandbox(engine.config(allowed_paths=("/etc",)))
    with pytest.raises(ConfigurationError, match="does not send all"):
        DockerSandbox(engine.config(pass_env=("*",)))
    assert engine.containers == {}
    assert "docker" in SandboxProviderFactory.remote_providers()
    assert SandboxConfig().mode is SandboxType.LOCAL


async def test_bash_works_in_a_container(engine: Engine) -> None:
    """The tool is given the handle, and a proven read runs unasked."""
    async with await SandboxProviderFactory.create(engine.config()) as sandbox:
        await sandbox.write_file("a.txt", "inside\n")
        toolkit = Toolkit([Bash(backend=sandbox)])
        call = call_of("Bash", json.dumps({"command": "cat a.txt"}))
        assert text_of(await outcome(toolkit, call, AgentState())) == "inside\n"
