"""`SSHSandbox`: commands on another host, over SSH."""

from __future__ import annotations

import asyncio
import os
import posixpath
import shlex
import shutil
import tempfile
import uuid
from collections.abc import Mapping

from agentscope_like.exception import ConfigurationError, SandboxPathError
from agentscope_like.sandbox.config import SandboxConfig, SandboxType
from agentscope_like.sandbox.host import (
    EVERYTHING,
    BackgroundHandle,
    BackgroundTasks,
    RunningCommand,
    check_command,
    check_name,
    run_to_end,
)
from agentscope_like.sandbox.result import CommandResult
from agentscope_like.sandbox.ssh.connection import SSHConnection, SSHOptions

__all__ = ["SSHSandbox"]

_NO_DIRECTORY = 254
_MAKE_SCRATCH = "umask 077 && mktemp -d /tmp/agentscope-like-XXXXXXXXXX"
_SECONDS = 30


class SSHSandbox(BackgroundHandle):
    """Runs commands on another host, by its bash and with the rights of its account.

    A command ends with the connection: if that is lost, its processes are ended and it is never run
    again. The next command makes a new connection. Only the variables of this host that `pass_env`
    names are sent.

    Args:
        config: Its configuration; `remote_options` are those of `SSHOptions`.

    Raises:
        ConfigurationError: It has mounts of this host, or asks for all variables.
        ValidationError: `remote_options` are invalid.
    """

    def __init__(self, config: SandboxConfig) -> None:
        super().__init__(config)
        self._connection = SSHConnection(SSHOptions.model_validate(config.remote_options))
        self._scratch: str | None = None
        self._logs: str | None = None
        if config.volume_mounts or config.allowed_paths or config.virtual_workspace:
            raise ConfigurationError(
                "an SSH sandbox cannot mount directories of this host: copy them with "
                "copy_from_host, and name a directory of the other host as the workspace"
            )
        if EVERYTHING in config.pass_env:
            raise ConfigurationError(
                "an SSH sandbox does not send all variables to another host: name those it needs"
            )

    @property
    def sandbox_type(self) -> SandboxType:
        """Return REMOTE."""
        return SandboxType.REMOTE

    @property
    def workspace_path(self) -> str:
        """Return the absolute path, on the other host, of the directory that commands start in."""
        return self.config.workspace or posixpath.join(self.scratch_path, "workspace")

    @property
    def scratch_path(self) -> str:
        """Return the directory, on the other host, of files that are not the user's."""
        if self._scratch is None:
            raise ConfigurationError(
                "the sandbox is not ready: use it inside `async with`, or await `initialize()`"
            )
        return self._scratch

    async def initialize(self) -> None:
        """Connect, and make its own directory on the other host.

        Raises:
            SandboxConnectionError: The host cannot be reached, or has no bash.
            SandboxPathError: The workspace is not a directory there.
        """
        if self._scratch is not None:
            return
        made = await self._run("/", _MAKE_SCRATCH)
        self._scratch = made.stdout.strip()
        await self._run(self._scratch, "mkdir workspace")
        await self._run(self.workspace_path, "true")
        self._logs = await asyncio.to_thread(tempfile.mkdtemp, prefix="agentscope-like-sandbox-")
        self._background = BackgroundTasks(self._logs)

    async def close(self) -> None:
        """End its commands, remove its own files on the other host, and close the connection."""
        scratch, self._scratch = self._scratch, None
        logs, self._logs = self._logs, None
        try:
            await super().close()
            if scratch is not None:
                await self._run("/", f"rm -rf -- {shlex.quote(scratch)}")
        finally:
            await self._connection.close()
            if logs is not None:
                await asyncio.to_thread(shutil.rmtree, logs, ignore_errors=True)

    async def execute_command(
        self,
        command: str,
        workdir: str | None = None,
        timeout: float = 30,
        env_vars: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Run a command by bash and return how it ended; see `SandboxHandle`."""
        directory = posixpath.join(self.workspace_path, workdir or "")
        return await self._execute(command, directory, timeout, env_vars or {})

    async def _start_in_background(
        self, command: str, workdir: str | None, env_vars: Mapping[str, str], output: int
    ) -> RunningCommand:
        directory = posixpath.join(self.workspace_path, workdir or "")
        return await self._start(command, directory, env_vars, output, output, uuid.uuid4().hex)

    async def _execute(
        self, command: str, directory: str, timeout: float, env_vars: Mapping[str, str]
    ) -> CommandResult:
        mark = uuid.uuid4().hex

        async def start(stdout: int, stderr: int) -> RunningCommand:
            return await self._start(command, directory, env_vars, stdout, stderr, mark)

        done = await run_to_end(start, timeout)
        if done.return_code == _NO_DIRECTORY and mark in done.stderr:
            raise SandboxPathError(
                f"{directory} is not a directory of {self._connection.host} that commands can "
                "start in: make it first, or name another."
            )
        return done

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
        check_command(command)
        passed = {name: os.environ[name] for name in self.config.pass_env if name in os.environ}
        variables = {**passed, **self.config.env, **env_vars}
        for name, value in variables.items():
            check_name(name, value)
        words = [mark, directory, command]
        words += [f"{name}={value}" for name, value in variables.items()]
        message = b"".join(os.fsencode(word) + b"\0" for word in [*words, ""])
        return await self._connection.run(message, stdout, stderr)

    async def _run(self, directory: str, command: str) -> CommandResult:
        """Run a command of the sandbox's own."""
        done = await self._execute(command, directory, _SECONDS, {})
        if not done.success:
            raise SandboxPathError(
                f"{self._connection.host} cannot be used: {command!r} in {directory} failed there: "
                f"{done.stderr.strip() or f'exit status {done.return_code}'}."
            )
        return done
