"""`SSHSandbox`: commands on another host, over SSH."""

from __future__ import annotations

import os
import posixpath
import shlex
from collections.abc import Mapping

from agentscope_like.exception import ConfigurationError, SandboxPathError
from agentscope_like.sandbox.config import SandboxConfig
from agentscope_like.sandbox.host import RunningCommand
from agentscope_like.sandbox.remote_sandbox import RemoteSandbox
from agentscope_like.sandbox.result import CommandResult
from agentscope_like.sandbox.ssh.connection import SSHConnection, SSHOptions

__all__ = ["SSHSandbox"]

_MAKE_SCRATCH = "umask 077 && mktemp -d /tmp/agentscope-like-XXXXXXXXXX"
_SECONDS = 30


class SSHSandbox(RemoteSandbox):
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

    kind = "an SSH sandbox"
    where = "the other host"

    def __init__(self, config: SandboxConfig) -> None:
        super().__init__(config)
        self._connection = SSHConnection(SSHOptions.model_validate(config.remote_options))
        self._scratch: str | None = None

    @property
    def _place(self) -> str:
        return self._connection.host

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
        await self._keep_logs()

    async def close(self) -> None:
        """End its commands, remove its own files on the other host, and close the connection."""
        scratch, self._scratch = self._scratch, None
        try:
            await super().close()
            if scratch is not None:
                await self._run("/", f"rm -rf -- {shlex.quote(scratch)}")
        finally:
            await self._connection.close()
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
        variables = self._variables(command, env_vars)
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
