"""What the tests of sandboxes share: a real sshd, a user's provider, a look at the host."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentscope_like.sandbox import (
    CommandResult,
    ISandboxHandle,
    SandboxConfig,
    SandboxHandle,
    SandboxType,
)
from agentscope_like.sandbox.host.passthrough import PassthroughSandbox
from agentscope_like.sandbox.isolation.bubblewrap import bubblewrap_objection
from agentscope_like.sandbox.isolation.local import LocalSandbox

__all__ = [
    "MyRemoteSandbox",
    "SSHServer",
    "ended",
    "is_running",
    "local",
    "passthrough",
    "require_bubblewrap",
    "until",
]

_SSHD = "/usr/sbin/sshd"


class MyRemoteSandbox(ISandboxHandle):
    """A provider as a user writes one from seed 003, 5.2: what it must have, and no more."""

    def __init__(self, config: SandboxConfig) -> None:
        super().__init__(config)
        self._id = "my-machine"

    @property
    def sandbox_type(self) -> SandboxType:
        """Return where it runs."""
        return SandboxType.REMOTE

    @property
    def sandbox_id(self) -> str:
        """Return its name."""
        return self._id

    async def execute_command(
        self,
        command: str,
        workdir: str | None = None,
        timeout: float = 30,
        env_vars: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Run a command on what stands for the other machine."""
        process = await asyncio.create_subprocess_exec(
            *("bash", "-c", command),
            cwd=os.path.join(self.workspace_path, workdir or ""),
            env={"PATH": os.environ["PATH"], **(env_vars or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        stdout, stderr = await process.communicate()
        return CommandResult(
            success=process.returncode == 0,
            stdout=stdout.decode(),
            stderr=stderr.decode(),
            return_code=process.returncode or 0,
            execution_time=0.1,
        )


@dataclass(frozen=True)
class SSHServer:
    """A running sshd.

    Attributes:
        process: The sshd.
        options: `SandboxConfig.remote_options` that lead to it.
    """

    process: subprocess.Popen[bytes]
    options: dict[str, object]

    @classmethod
    def start(cls, directory: Path) -> SSHServer:
        """Start one on loopback, or skip the test where there is none to start."""
        for program in (_SSHD, "ssh-keygen"):
            if shutil.which(program) is None:
                pytest.skip(f"needs {program} (Debian: apt-get install openssh-server)")
        for name in ("host", "user"):
            key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(directory / name)]
            subprocess.run(key, check=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        settings = {
            "Port": port,
            "ListenAddress": "127.0.0.1",
            "HostKey": directory / "host",
            "AuthorizedKeysFile": directory / "user.pub",
            "StrictModes": "no",
            "UsePAM": "no",
            "PidFile": "none",
            "PasswordAuthentication": "no",
            "SetEnv": "SHLVL=2",  # so that bash does not read the tester's .bashrc
        }
        text = "".join(f"{name} {value}\n" for name, value in settings.items())
        (directory / "sshd_config").write_text(text)
        known = f"[127.0.0.1]:{port} {(directory / 'host.pub').read_text()}"
        (directory / "known_hosts").write_text(known)
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        with (directory / "log").open("wb") as log:
            process = subprocess.Popen(
                [_SSHD, "-D", "-e", "-f", str(directory / "sshd_config")],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        options = {
            "host": "127.0.0.1",
            "port": port,
            "known_hosts": str(directory / "known_hosts"),
            "client_keys": [str(directory / "user")],
        }
        server = cls(process, options)
        server._wait(port, directory / "log")
        return server

    def config(self, **changes: object) -> SandboxConfig:
        """Return the configuration of a sandbox there."""
        fields = {"remote_options": self.options, **changes}
        return SandboxConfig.model_validate(
            {"mode": SandboxType.REMOTE, "remote_provider": "ssh", **fields}
        )

    def cut(self) -> None:
        """End all connections, as a network does that fails."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        for child in children.split():
            below = Path(f"/proc/{child}/task/{child}/children").read_text().split()
            subprocess.run(["kill", "-KILL", child, *below], check=False)

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait()

    def _wait(self, port: int, log: Path) -> None:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        self.stop()
        raise RuntimeError(f"sshd does not answer: {log.read_text()}")


def require_bubblewrap() -> None:
    """Skip the test where nothing can be isolated."""
    if reason := bubblewrap_objection():
        pytest.skip(f"needs bubblewrap: {reason}")


def local(**fields: object) -> SandboxHandle:
    """Return a LOCAL sandbox that is not ready yet, or skip."""
    require_bubblewrap()
    return LocalSandbox(SandboxConfig.model_validate(fields))


def passthrough(**fields: object) -> SandboxHandle:
    """Return a PASSTHROUGH sandbox that is not ready yet."""
    fields = {"mode": SandboxType.PASSTHROUGH, **fields}
    return PassthroughSandbox(SandboxConfig.model_validate(fields))


def is_running(text: str) -> bool:
    """Return whether a process of this host has that text in its command line."""
    for place in Path("/proc").iterdir():
        if place.name.isdigit() and int(place.name) != os.getpid():
            try:
                words = (place / "cmdline").read_bytes()
                state = (place / "stat").read_text().rpartition(") ")[2][0]
            except OSError:
                continue
            if text.encode() in words and state != "Z":
                return True
    return False


async def ended(sandbox: SandboxHandle, task_id: str) -> int | None:
    """Wait until a task in the background has ended, and return its exit status."""
    for _ in range(2000):
        if not await sandbox.is_background_alive(task_id):
            return await sandbox.get_background_exit_code(task_id)
        await asyncio.sleep(0.01)
    raise AssertionError("the task does not end")


async def until(holds: Callable[[], bool], seconds: float = 10) -> bool:
    """Wait until something holds, and return whether it came to."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.01)
    return True
