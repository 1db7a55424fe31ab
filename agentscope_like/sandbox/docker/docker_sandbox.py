"""Runs commands in a container of a Docker engine."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Mapping, Sequence

from agentscope_like.exception import ConfigurationError, SandboxConnectionError, SandboxPathError
from agentscope_like.sandbox.config import SandboxConfig
from agentscope_like.sandbox.docker.engine import (
    DockerEngine,
    DockerError,
    DockerOptions,
    EngineStream,
)
from agentscope_like.sandbox.host import MARK_VARIABLE, RunningCommand
from agentscope_like.sandbox.remote_sandbox import RemoteSandbox

__all__ = ["DockerSandbox"]

_ENDING_SECONDS = 5.0
_MEGABYTE = 1 << 20

_IDLE = ("/bin/sh", "-c", "while :; do sleep 3600; done")
"""What keeps the container alive between commands."""

_RUN = """\
cd -- "$1" 2>/dev/null || { printf %s "$2" >&2; exit 254; }
exec bash --norc --noprofile -c -- "$3" </dev/null
"""

_END = """\
for process in /proc/[0-9]*; do
  if grep -qaF -- "$1" "$process/environ" 2>/dev/null; then kill -"$2" "${process#/proc/}"; fi
done 2>/dev/null
exit 0
"""
"""Ends the processes with a mark in their environment; its own has none."""


class DockerSandbox(RemoteSandbox):
    """Runs commands in a container of its own, made for it and removed with it.

    The container has no capabilities and, unless `network` is set, no network. Only the variables
    of this host that `pass_env` names are sent. No directory of this host is mounted.

    Args:
        config: Its configuration; `remote_options` are those of `DockerOptions`.

    Raises:
        ConfigurationError: It has mounts of this host, or asks for all variables.
        ValidationError: `remote_options` are invalid.
    """

    kind = "a Docker sandbox"
    where = "the container"

    def __init__(self, config: SandboxConfig) -> None:
        super().__init__(config)
        self._options = DockerOptions.model_validate(config.remote_options)
        self._engine = DockerEngine(self._options)
        self._container: str | None = None

    async def initialize(self) -> None:
        """Make the container and start it.

        Raises:
            SandboxConnectionError: The engine cannot be reached, or has no such image.
            SandboxPathError: The image has no bash.
        """
        if self._container is not None:
            return
        made = await self._engine.request("POST", "/containers/create", self._settings())
        self._container = str(made["Id"])
        await self._engine.request("POST", f"/containers/{self._container}/start")
        await self._keep_logs()
        done = await self.execute_command("true")
        if not done.success:
            raise SandboxPathError(
                f"The image {self._options.image} cannot run commands: {done.stderr.strip()}."
            )

    async def close(self) -> None:
        """End its commands and remove the container with all that is in it."""
        try:
            await super().close()
        finally:
            container, self._container = self._container, None
            if container is not None:
                await self._engine.request("DELETE", f"/containers/{container}", force="1", v="1")
            await self._remove_logs()

    async def _start(
        self,
        command: str,
        directory: str,
        env_vars: Mapping[str, str],
        stdout: int,
        stderr: int,
        mark: str,
    ) -> RunningCommand:
        """Start a command: the only way that one of this sandbox starts."""
        variables = {**self._variables(command, env_vars), MARK_VARIABLE: mark}
        words = ["bash", "--norc", "--noprofile", "-c", _RUN, "bash", directory, mark, command]
        exec_id = await self._prepared(words, variables)
        try:
            stream = await self._engine.start_exec(exec_id)
        except DockerError:
            raise
        except SandboxConnectionError:
            with contextlib.suppress(SandboxConnectionError):
                await self.signal(mark, "KILL")  # it may have started
            raise
        return _DockerCommand(self, exec_id, stream, mark, stdout, stderr)

    async def status_of(self, exec_id: str) -> int:
        """Return the exit status of a command that has ended.

        Raises:
            SandboxConnectionError: The engine does not know it, or it runs.
        """
        told = await self._engine.request("GET", f"/exec/{exec_id}/json")
        if told.get("Running") or told.get("ExitCode") is None:
            raise SandboxConnectionError(
                "The connection to the container was lost while the command ran. What it did until "
                "then stands; it was not run again. Look at what it has done first."
            )
        return int(told["ExitCode"])

    async def signal(self, mark: str, name: str) -> None:
        """Send a signal to all processes of a command."""
        if self._container is None:
            return  # they have ended with it
        words = ["/bin/sh", "-c", _END, "sh", f"{MARK_VARIABLE}={mark}", name]
        stream = await self._engine.start_exec(await self._prepared(words, {}))
        try:
            with open(os.devnull, "wb") as nothing:  # noqa: ASYNC230 - it never blocks
                await stream.copy(nothing.fileno(), nothing.fileno())
        finally:
            stream.close()

    async def _prepared(self, words: Sequence[str], variables: Mapping[str, str]) -> str:
        if self._container is None:
            raise ConfigurationError(
                "the sandbox is not ready: use it inside `async with`, or await `initialize()`"
            )
        settings = {
            "AttachStdout": True,
            "AttachStderr": True,
            "Cmd": list(words),
            "Env": [f"{name}={value}" for name, value in variables.items()],
            **({"User": self._options.user} if self._options.user else {}),
        }
        made = await self._engine.request("POST", f"/containers/{self._container}/exec", settings)
        return str(made["Id"])

    def _settings(self) -> dict[str, object]:
        """Return the settings of the container."""
        config = self.config
        limits = {"cpu": config.cpu_time_limit, "fsize": config.max_file_size_mb * _MEGABYTE}
        ulimits = [{"Name": name, "Soft": most, "Hard": most} for name, most in limits.items()]
        return {
            "Image": self._options.image,
            "Entrypoint": [],
            "Cmd": list(_IDLE),
            "WorkingDir": self.workspace_path,
            "Labels": {"agentscope-like.sandbox": self.sandbox_id},
            "HostConfig": {
                "NetworkMode": "bridge" if config.network else "none",
                "CapDrop": ["ALL"],
                "SecurityOpt": ["no-new-privileges"],
                "Init": True,
                "Memory": config.memory_limit_mb * _MEGABYTE,
                "PidsLimit": config.max_processes,
                "Ulimits": ulimits,
            },
            **({"User": self._options.user} if self._options.user else {}),
        }


class _DockerCommand(RunningCommand):
    """A command in a container, whose output is copied to two descriptors."""

    def __init__(
        self,
        sandbox: DockerSandbox,
        exec_id: str,
        stream: EngineStream,
        mark: str,
        stdout: int,
        stderr: int,
    ) -> None:
        self._sandbox = sandbox
        self._exec_id = exec_id
        self._stream = stream
        self._mark = mark
        self._copying = asyncio.create_task(self._copy(os.dup(stdout), os.dup(stderr)))
        self._ending: asyncio.Task[None] | None = None

    async def wait(self) -> int:
        """Return the exit status; see `RunningCommand`."""
        await asyncio.wait([self._copying])
        if not self._copying.cancelled():
            self._copying.result()
        return await self._sandbox.status_of(self._exec_id)

    async def end(self, *, grace: float) -> None:
        """End all its processes in the container."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end(grace))
        await asyncio.shield(self._ending)

    def end_now(self) -> None:
        """Begin to end all its processes, unless that was done."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end(0))

    async def _copy(self, stdout: int, stderr: int) -> None:
        try:
            await self._stream.copy(stdout, stderr)
        finally:
            self._stream.close()
            os.close(stdout)
            os.close(stderr)

    async def _end(self, grace: float) -> None:
        with contextlib.suppress(SandboxConnectionError):
            if grace and not self._copying.done():
                await self._sandbox.signal(self._mark, "TERM")
                await asyncio.wait([self._copying], timeout=grace)
            await self._sandbox.signal(self._mark, "KILL")
        await asyncio.wait([self._copying], timeout=_ENDING_SECONDS)
        self._copying.cancel()
        with contextlib.suppress(asyncio.CancelledError, SandboxConnectionError):
            await self._copying
