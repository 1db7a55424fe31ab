"""`RemoteSandbox`: what sandboxes on another machine or in a container have in common."""

from __future__ import annotations

import asyncio
import os
import posixpath
import shutil
import tempfile
import uuid
from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from agentscope_like.exception import ConfigurationError, SandboxPathError
from agentscope_like.sandbox.config import SandboxConfig, SandboxType
from agentscope_like.sandbox.host import (
    BackgroundHandle,
    BackgroundTasks,
    RunningCommand,
    check_command,
    run_to_end,
)
from agentscope_like.sandbox.result import CommandResult
from agentscope_like.sandbox.variables import EVERYTHING, check_name

__all__ = ["NO_DIRECTORY", "RemoteSandbox"]

NO_DIRECTORY = 254
"""The exit status of a command whose directory is not there; it also prints its mark."""


class RemoteSandbox(BackgroundHandle):
    """Runs commands where no directory of this host is; subclasses say how one starts.

    Only the variables of this host that `pass_env` names are sent.

    Args:
        config: Its configuration.

    Attributes:
        kind: What it is called in messages.
        where: Where its commands run, in messages.

    Raises:
        ConfigurationError: It has mounts of this host, or asks for all variables.
    """

    kind: ClassVar[str]
    where: ClassVar[str]

    def __init__(self, config: SandboxConfig) -> None:
        super().__init__(config)
        self._logs: str | None = None
        if config.volume_mounts or config.allowed_paths or config.virtual_workspace:
            raise ConfigurationError(
                f"{self.kind} does not mount directories of this host: copy them with "
                f"copy_from_host, and name a directory of {self.where} as the workspace"
            )
        if EVERYTHING in config.pass_env:
            raise ConfigurationError(
                f"{self.kind} does not send all variables to {self.where}: name those it needs"
            )

    @property
    def sandbox_type(self) -> SandboxType:
        """Return REMOTE."""
        return SandboxType.REMOTE

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

    async def _execute(
        self, command: str, directory: str, timeout: float, env_vars: Mapping[str, str]
    ) -> CommandResult:
        mark = uuid.uuid4().hex

        async def start(stdout: int, stderr: int) -> RunningCommand:
            return await self._start(command, directory, env_vars, stdout, stderr, mark)

        done = await run_to_end(start, timeout)
        if done.return_code == NO_DIRECTORY and mark in done.stderr:
            raise SandboxPathError(
                f"{directory} is not a directory of {self._place} that commands can start in: make "
                "it first, or name another."
            )
        return done

    async def _start_in_background(
        self, command: str, workdir: str | None, env_vars: Mapping[str, str], output: int
    ) -> RunningCommand:
        directory = posixpath.join(self.workspace_path, workdir or "")
        return await self._start(command, directory, env_vars, output, output, uuid.uuid4().hex)

    @property
    def _place(self) -> str:
        """Where its commands run, as precisely as is known."""
        return self.where

    @abstractmethod
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

    def _variables(self, command: str, env_vars: Mapping[str, str]) -> dict[str, str]:
        """Return the variables of a command, which is checked.

        Raises:
            SandboxPathError: The command or a variable cannot be sent.
        """
        check_command(command)
        passed = {name: os.environ[name] for name in self.config.pass_env if name in os.environ}
        variables = {**passed, **self.config.env, **env_vars}
        for name, value in variables.items():
            check_name(name, value)
        return variables

    async def _keep_logs(self) -> None:
        """Begin to keep the output of commands in the background, on this host."""
        self._logs = await asyncio.to_thread(tempfile.mkdtemp, prefix="agentscope-like-sandbox-")
        self._background = BackgroundTasks(self._logs)

    async def _remove_logs(self) -> None:
        logs, self._logs = self._logs, None
        if logs is not None:
            await asyncio.to_thread(shutil.rmtree, logs, ignore_errors=True)
