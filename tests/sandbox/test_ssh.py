"""Commands on another host, by a real sshd on loopback."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from pydantic import ValidationError

from agentscope_like.exception import (
    ConfigurationError,
    SandboxConnectionError,
    SandboxPathError,
)
from agentscope_like.sandbox import IsolationLevel, SandboxProviderFactory, SandboxType
from agentscope_like.sandbox.ssh.ssh_sandbox import SSHSandbox
from tests.sandbox.kit import SSHServer, ended, is_running, until


async def test_sage_x_10_a_sandbox_of_its_own_is_made_and_removed(sshd: SSHServer) -> None:
    """Without a workspace, one is made on the other host, and goes with the sandbox."""
    async with await SandboxProviderFactory.create(sshd.config()) as sandbox:
        assert sandbox.sandbox_type is SandboxType.REMOTE
        assert sandbox.isolation is IsolationLevel.HOST
        assert sandbox.host_workspace_path is None
        place = Path(sandbox.workspace_path)
        assert (await sandbox.execute_command("pwd; touch file")).stdout == f"{place}\n"
        assert place.is_dir()
    assert not place.parent.exists()


async def test_a_connection_lost_in_mid_command_is_its_own_error(
    sshd: SSHServer, tmp_path: Path
) -> None:
    """The command is ended there, not run again, and the next one makes a new connection."""
    mark = uuid.uuid4().hex
    async with await SandboxProviderFactory.create(sshd.config(workspace=str(tmp_path))) as box:
        running = asyncio.create_task(
            box.execute_command(f"echo ran >> runs; (exec -a {mark} sleep 60); touch survived")
        )
        assert await until(lambda: is_running(f"{mark}\0"))
        sshd.cut()
        with pytest.raises(SandboxConnectionError, match="lost while the command ran"):
            await running
        assert await until(lambda: not is_running(f"{mark}\0"))
        assert (await box.execute_command("cat runs; ls")).stdout == "ran\nruns\n"


async def test_a_connection_lost_ends_the_background(sshd: SSHServer, tmp_path: Path) -> None:
    """A task whose connection is lost has no exit status; asking for it says why."""
    mark = uuid.uuid4().hex
    async with await SandboxProviderFactory.create(sshd.config(workspace=str(tmp_path))) as box:
        task = await box.start_background(f"echo on; exec -a {mark} sleep 60")
        assert await until(lambda: is_running(f"{mark}\0"))
        sshd.cut()
        with pytest.raises(SandboxConnectionError):
            await ended(box, task)
        assert await box.read_background_output(task) == "on\n"
        assert await until(lambda: not is_running(f"{mark}\0"))


async def test_no_variable_is_sent_that_was_not_named(
    sshd: SSHServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Variables of this host stay here, but for those that `pass_env` names."""
    monkeypatch.setenv("MY_API_KEY", "sk-secret")
    monkeypatch.setenv("NAMED", "named")
    config = sshd.config(workspace=str(tmp_path), pass_env=("NAMED",), env={"OWN": "1"})
    async with await SandboxProviderFactory.create(config) as sandbox:
        seen = (await sandbox.execute_command("env")).stdout.splitlines()
    assert {"NAMED=named", "OWN=1"} <= set(seen)
    assert "MY_API_KEY=sk-secret" not in seen


async def test_a_host_that_is_not_known_is_not_connected_to(
    sshd: SSHServer, tmp_path: Path
) -> None:
    """A key that is not among the known hosts is refused, and there is no way around."""
    (tmp_path / "empty").touch()
    config = sshd.config(remote_options={**sshd.options, "known_hosts": str(tmp_path / "empty")})
    with pytest.raises(SandboxConnectionError, match="key"):
        await SandboxProviderFactory.create(config)


async def test_a_host_that_does_not_answer_is_an_error(sshd: SSHServer) -> None:
    """Where nobody listens, creating a sandbox fails with what to look at."""
    config = sshd.config(remote_options={**sshd.options, "port": 1})
    with pytest.raises(SandboxConnectionError, match=r"127\.0\.0\.1 cannot be reached"):
        await SandboxProviderFactory.create(config)


async def test_a_workspace_that_is_not_there_is_an_error(sshd: SSHServer) -> None:
    """A sandbox is not made in a directory that the other host does not have."""
    with pytest.raises(SandboxPathError, match="nowhere"):
        await SandboxProviderFactory.create(sshd.config(workspace="/nowhere"))


def test_what_ssh_cannot_keep_is_refused(sshd: SSHServer) -> None:
    """Mounts of this host, all variables, and options with a typing error are refused."""
    with pytest.raises(ConfigurationError, match="mount"):
        SSHSandbox(sshd.config(allowed_paths=("/usr",)))
    with pytest.raises(ConfigurationError, match="all variables"):
        SSHSandbox(sshd.config(pass_env=("*",)))
    with pytest.raises(ValidationError, match="did you mean 'known_hosts'"):
        SSHSandbox(sshd.config(remote_options={"host": "h", "knwon_hosts": "/dev/null"}))


def test_asyncssh_is_loaded_on_first_use() -> None:
    """Importing sandboxes, the provider for SSH included, does not import asyncssh."""
    code = (
        "import sys, agentscope_like.sandbox, agentscope_like.sandbox.ssh.ssh_sandbox; "
        "print('asyncssh' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout == "False\n"
