"""`HostSandbox`: the base of the sandboxes on this host."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
import uuid
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence

from agentscope_like.exception import ConfigurationError
from agentscope_like.sandbox.config import SandboxConfig
from agentscope_like.sandbox.files import FileStatus, HostFiles, HostKnownFiles
from agentscope_like.sandbox.host.background import BackgroundTasks
from agentscope_like.sandbox.host.background_handle import BackgroundHandle
from agentscope_like.sandbox.host.environment import sandbox_environment
from agentscope_like.sandbox.host.foreground import run_to_end
from agentscope_like.sandbox.host.launcher import Launcher, shell_words
from agentscope_like.sandbox.host.process_family import MARK_VARIABLE
from agentscope_like.sandbox.host.started_command import RunningCommand
from agentscope_like.sandbox.mount import MountTable, VolumeMount
from agentscope_like.sandbox.result import CommandResult, FileInfo
from agentscope_like.sandbox.variables import check_name

__all__ = ["HostSandbox"]


class HostSandbox(BackgroundHandle):
    """A sandbox whose commands are processes of this host.

    It has a private directory on this host, with a home, a virtual environment and programs for its
    commands, and logs that they cannot see.

    Args:
        config: Its configuration.

    Raises:
        ConfigurationError: A directory does not exist, or a path cannot be used as configured.
    """

    def __init__(self, config: SandboxConfig | None = None) -> None:
        super().__init__(config)
        self._private: str | None = None
        self._workspace = self._checked_workspace()

    # What it is

    @property
    def workspace_path(self) -> str:
        """Return the absolute path, as commands know it, of the directory that they start in."""
        return self.config.virtual_workspace or self._host_workspace

    @property
    def host_workspace_path(self) -> str:
        """Return the workspace's path on this host."""
        return self._host_workspace

    @property
    def volume_mounts(self) -> tuple[VolumeMount, ...]:
        """Return the directories of this host that it can reach, the workspace first."""
        return (
            VolumeMount(self._host_workspace, self.workspace_path),
            *self.config.volume_mounts,
            *(VolumeMount(path, path) for path in self.config.allowed_paths),
        )

    @property
    def scratch_path(self) -> str:
        """Return the directory, as commands know it, of files that are not the user's."""
        return os.path.join(self._private_directory, "scratch")

    @property
    def python(self) -> str:
        """Return the Python that virtual environments are made with: this process's."""
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        found = os.path.join(sys.base_prefix, "bin", version)
        return found if os.access(found, os.X_OK) else os.path.realpath(sys.executable)

    @property
    @abstractmethod
    def _launcher(self) -> Launcher:
        """Return the launcher of commands, in the foreground and in the background."""

    # Its life

    async def initialize(self) -> None:
        """Make its private directory."""
        if self._private is None:
            self._private = await asyncio.to_thread(self._make_private)
            self._background = BackgroundTasks(os.path.join(self._private, "logs"))

    async def close(self) -> None:
        """End all background tasks and remove the private directory."""
        private, self._private = self._private, None
        try:
            await super().close()
        finally:
            if private is not None:
                await asyncio.to_thread(shutil.rmtree, private, ignore_errors=True)

    # Running

    async def execute_command(
        self,
        command: str,
        workdir: str | None = None,
        timeout: float = 30,
        env_vars: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Run a command by bash and return its result; see `SandboxHandle`."""

        async def start(stdout: int, stderr: int) -> RunningCommand:
            return await self._start(command, workdir, env_vars or {}, stdout, stderr)

        return await run_to_end(start, timeout)

    async def _start_in_background(
        self, command: str, workdir: str | None, env_vars: Mapping[str, str], output: int
    ) -> RunningCommand:
        return await self._start(command, workdir, env_vars, output, output)

    async def _start(
        self,
        command: str,
        workdir: str | None,
        env_vars: Mapping[str, str],
        stdout: int,
        stderr: int,
    ) -> RunningCommand:
        """Start a command: the only way that one of this sandbox starts."""
        words = shell_words(command)
        for name, value in env_vars.items():
            check_name(name, value)
        directory = await asyncio.to_thread(self._files.directory, workdir or ".")
        mark = uuid.uuid4().hex
        return await self._launcher.start(
            words,
            directory=directory,
            environment=self._environment(mark, env_vars),
            mark=mark,
            stdout=stdout,
            stderr=stderr,
        )

    def _environment(self, mark: str, env_vars: Mapping[str, str]) -> dict[str, str]:
        outer = os.environ.get(MARK_VARIABLE)
        return sandbox_environment(
            os.environ,
            self.config.pass_env,
            {
                **self._own_variables(),
                **self.config.env,
                **env_vars,
                MARK_VARIABLE: f"{outer}:{mark}" if outer else mark,
            },
        )

    def _own_variables(self) -> dict[str, str]:
        return {"HOME": os.path.join(self.scratch_path, "home"), "SHELL": "/bin/bash"}

    # Files

    @property
    def _files(self) -> HostFiles:
        return HostFiles(MountTable(self._reachable()), self.workspace_path)

    def _reachable(self) -> Iterator[VolumeMount]:
        """Yield the mounts that the file methods reach."""
        yield from self.volume_mounts
        yield self._scratch

    async def read_bytes(self, path: str) -> bytes:
        """Return what a file holds; see `SandboxHandle`."""
        return await asyncio.to_thread(self._files.read, path)

    async def write_file(self, path: str, content: str | bytes, *, append: bool = False) -> None:
        """Write a file; see `SandboxHandle`."""
        data = content.encode() if isinstance(content, str) else content
        await asyncio.to_thread(self._files.write, path, data, append=append)

    async def list_dir(self, path: str = ".", include_hidden: bool = False) -> list[FileInfo]:
        """Return the entries of a directory; see `SandboxHandle`."""
        return await asyncio.to_thread(self._files.entries, path, hidden=include_hidden)

    async def file_exists(self, path: str) -> bool:
        """Return whether there is a file or directory of that name; see `SandboxHandle`."""
        return await asyncio.to_thread(self._files.exists, path)

    async def delete_file(self, path: str) -> None:
        """Remove a file or symlink; see `SandboxHandle`."""
        await asyncio.to_thread(self._files.delete, path)

    # Known files

    @property
    def _known_files(self) -> HostKnownFiles:
        return HostKnownFiles(MountTable(self._reachable()))

    async def stat_files(self, paths: Sequence[str]) -> list[FileStatus]:
        """Return the status of each name; see `KnownFiles`."""
        return await asyncio.to_thread(self._known_files.status, paths)

    async def scan_dirs(self, paths: Sequence[str]) -> list[list[FileStatus] | None]:
        """Return the entries of each directory; see `KnownFiles`."""
        return await asyncio.to_thread(self._known_files.entries, paths)

    async def read_known_file(self, file: FileStatus) -> bytes:
        """Return what a file holds, if it is still the same; see `KnownFiles`."""
        return await asyncio.to_thread(self._known_files.read, file)

    async def replace_known_file(self, file: FileStatus, digest: str, data: bytes) -> FileStatus:
        """Put data in the place of a file, if that is still the same; see `KnownFiles`."""
        return await asyncio.to_thread(self._known_files.replace, file, digest, data)

    async def create_file(self, path: str, data: bytes) -> FileStatus:
        """Make a file that is not there yet; see `KnownFiles`."""
        return await asyncio.to_thread(self._known_files.create, path, data)

    # Its directories

    @property
    def _host_workspace(self) -> str:
        return self._workspace or os.path.join(self._private_directory, "workspace")

    @property
    def _scratch(self) -> VolumeMount:
        return VolumeMount(os.path.join(self._private_directory, "scratch"), self.scratch_path)

    @property
    def _private_directory(self) -> str:
        if self._private is None:
            raise ConfigurationError(
                "the sandbox is not ready: use it inside `async with`, or await `initialize()`"
            )
        return self._private

    def _checked_workspace(self) -> str | None:
        if self.config.workspace is None:
            return None
        workspace = os.path.realpath(os.path.expanduser(self.config.workspace))
        for path in (workspace, *(mount.host_path for mount in self.config.volume_mounts)):
            if not os.path.exists(path):
                raise ConfigurationError(
                    f"a sandbox cannot have {path}: there is no such directory. Make it first"
                )
        if not os.path.isdir(workspace):
            raise ConfigurationError(
                f"{workspace} is not a directory, so it cannot be a workspace: name one"
            )
        return workspace

    @staticmethod
    def _make_private() -> str:
        private = os.path.realpath(tempfile.mkdtemp(prefix="agentscope-like-sandbox-"))
        for name in ("logs", "workspace", "scratch/home", "tmp"):
            os.makedirs(os.path.join(private, name))
        return private
