"""`SandboxHandle`: the interface by which tools use a sandbox."""
# ruff: noqa: ARG002 - what a provider does not have, it has no use for arguments of

from __future__ import annotations

import asyncio
import os
import uuid
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import TracebackType
from typing import Self

from agentscope_like.sandbox.config import SandboxConfig, SandboxType
from agentscope_like.sandbox.files import CommandFiles, KnownFiles, copy_tree
from agentscope_like.sandbox.mount import VolumeMount
from agentscope_like.sandbox.python import PythonRunner
from agentscope_like.sandbox.result import CommandResult, ExecutionResult, FileInfo

__all__ = ["ISandboxHandle", "IsolationLevel", "SandboxHandle"]


class IsolationLevel(StrEnum):
    """What isolates a command from this host.

    Attributes:
        NONE: Nothing.
        KERNEL: Namespaces or a profile that the kernel enforces.
        HOST: It runs on another machine.
    """

    NONE = "none"
    KERNEL = "kernel"
    HOST = "host"


class SandboxHandle(KnownFiles):
    """A sandbox: it runs commands and holds files (seed 003, 1.3).

    A provider has to return its type and run commands; everything else is implemented here by
    commands, and a provider may override it. Use it as an async context manager: it is ready inside
    the `async with`, and leaves nothing behind.

    Args:
        config: Its configuration.
    """

    def __init__(self, config: SandboxConfig | None = None) -> None:
        self.config = config if config is not None else SandboxConfig()
        self._preparing = asyncio.Lock()
        self._given_id = self.config.sandbox_id or uuid.uuid4().hex

    # What it is

    @property
    @abstractmethod
    def sandbox_type(self) -> SandboxType:
        """Return where commands run."""

    @property
    def sandbox_id(self) -> str:
        """Return its name, which is unique in the process."""
        return self._given_id

    @property
    def workspace_path(self) -> str:
        """Return the absolute path, as commands know it, of the directory that they start in."""
        return self.config.workspace or "/workspace"

    @property
    def host_workspace_path(self) -> str | None:
        """Return the workspace's path on this host, or None where it is not on this host."""
        return None

    @property
    def volume_mounts(self) -> tuple[VolumeMount, ...]:
        """Return the directories of this host that it can reach, the workspace first."""
        return ()

    @property
    def isolation(self) -> IsolationLevel:
        """Return what isolates a command from this host."""
        return IsolationLevel.HOST

    @property
    def scratch_path(self) -> str:
        """Return the directory, as commands know it, of files that are not the user's."""
        return f"{self.workspace_path.rstrip('/')}/.sandbox"

    @property
    def python(self) -> str:
        """Return the Python that virtual environments are made with."""
        return "python3"

    # Its life

    async def initialize(self) -> None:
        """Make it ready; called once, before anything else."""

    async def close(self) -> None:
        """End its commands and remove its own files; calling it again does nothing."""

    async def __aenter__(self) -> Self:
        await self.initialize()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    # Running

    @abstractmethod
    async def execute_command(
        self,
        command: str,
        workdir: str | None = None,
        timeout: float = 30,
        env_vars: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Run a command by bash until it and all its child processes have ended.

        Args:
            command: The command line, run with an empty stdin.
            workdir: Where it starts; relative to the workspace, which is the default.
            timeout: Seconds until it is ended with all its child processes.
            env_vars: Additional environment variables.

        Raises:
            IsolationError: It could not be isolated and was not run.
            SandboxPathError: The sandbox has no such directory.
            SandboxConnectionError: The other host cannot be reached, or was lost meanwhile.
            ToolArgumentError: The command cannot be passed to a process.
        """

    async def execute_python(
        self,
        code: str,
        requirements: Sequence[str] | None = None,
        workdir: str | None = None,
        timeout: float = 60,
    ) -> ExecutionResult:
        """Run a Python program in the sandbox's own virtual environment.

        Args:
            code: The program.
            requirements: What pip installs first, as in a requirements file, without options.
            workdir: Where it starts; relative to the workspace, which is the default.
            timeout: Seconds for all of it, including the installation.

        Raises:
            IsolationError, SandboxPathError, SandboxConnectionError: As for `execute_command`.
        """
        return await PythonRunner(self, self._preparing).run(
            code, requirements or (), workdir, timeout
        )

    # Files

    async def read_bytes(self, path: str) -> bytes:
        """Return what a file holds.

        Args:
            path: Of a regular file of at most 64 MB; a relative path is one in the workspace.

        Raises:
            SandboxPathError: The sandbox does not reach it, or it cannot be read so.
            FileNotFoundError: There is no such file.
        """
        return await CommandFiles(self).read(path)

    async def read_file(self, path: str, encoding: str = "utf-8") -> str:
        """Return the text of a file; for what is not text, `read_bytes`.

        Args:
            path: Of a regular file of at most 64 MB; a relative path is one in the workspace.
            encoding: What its bytes mean.

        Raises:
            SandboxPathError, FileNotFoundError: As for `read_bytes`.
            UnicodeDecodeError: It holds something else.
        """
        return (await self.read_bytes(path)).decode(encoding)

    async def write_file(self, path: str, content: str | bytes, *, append: bool = False) -> None:
        """Write a file, with the directories that lead to it.

        Args:
            path: Of the file; a relative path is one in the workspace.
            content: Its new content, text as UTF-8.
            append: Whether to put it behind what is there; by default it replaces that.

        Raises:
            SandboxPathError: The sandbox does not reach it, or not for writing.
        """
        data = content.encode() if isinstance(content, str) else content
        await CommandFiles(self).write(path, data, append=append)

    async def list_dir(self, path: str = ".", include_hidden: bool = False) -> list[FileInfo]:
        """Return the entries of a directory, sorted by name.

        Args:
            path: Of the directory; a relative path is one in the workspace.
            include_hidden: Whether to include names that begin with a dot.

        Raises:
            SandboxPathError: The sandbox does not reach it, or it is not a directory.
            FileNotFoundError: There is no such directory.
        """
        return await CommandFiles(self).entries(path, hidden=include_hidden)

    async def file_exists(self, path: str) -> bool:
        """Return whether there is a file or directory of that name, symlinks followed.

        Raises:
            SandboxPathError: The sandbox does not reach it.
        """
        return await CommandFiles(self).exists(path)

    async def delete_file(self, path: str) -> None:
        """Remove a file or symlink; a directory is left alone.

        Raises:
            SandboxPathError: The sandbox does not reach it, or not for writing.
            FileNotFoundError: There is no such file.
        """
        await CommandFiles(self).delete(path)

    async def copy_from_host(self, host_path: str | os.PathLike[str], path: str) -> None:
        """Copy a file or a directory of this host into the sandbox.

        A file that can be executed can be there, too. Symlinks are left out, so that no link brings
        in what it points to; one to a file inside of the directory is copied as that file.

        Args:
            host_path: Of the file or directory on this host.
            path: Where it is to be in the sandbox; a relative path is one in the workspace.

        Raises:
            SandboxPathError: The sandbox does not reach `path`, or not for writing.
            OSError: `host_path` cannot be read.
        """
        await copy_tree(self, os.fspath(host_path), path)

    # In the background

    @property
    def supports_background(self) -> bool:
        """Return whether commands can run in the background."""
        return False

    async def start_background(
        self,
        command: str,
        workdir: str | None = None,
        env_vars: Mapping[str, str] | None = None,
    ) -> str:
        """Start a command by bash in the background, with the same isolation; return its task id.

        Args:
            command: The command line, run with an empty stdin.
            workdir: Where it starts; relative to the workspace, which is the default.
            env_vars: Additional environment variables.

        Raises:
            NotImplementedError: The provider has no background tasks.
            IsolationError, SandboxPathError, SandboxConnectionError: As for `execute_command`.
        """
        raise self._no_background()

    async def read_background_output(self, task_id: str, max_bytes: int = 65536) -> str:
        """Return the end of a task's output, stdout and stderr in their order.

        Raises:
            NotImplementedError: The provider has no background tasks.
            ToolArgumentError: This sandbox has no such task.
        """
        raise self._no_background()

    async def read_background_output_range(
        self, task_id: str, offset: int, max_bytes: int = 1 << 20
    ) -> tuple[str, int]:
        r"""Return a task's output from an offset on, and the next offset.

        Read so until the offset stops moving, each byte comes once and none is lost; a character
        that is not complete yet waits for the next call.

        Args:
            task_id: Of the task.
            offset: The byte to begin with; 0, then what the last call returned.
            max_bytes: Most bytes to return.

        Raises:
            NotImplementedError: The provider cannot do that (seed 000, 12).
            ToolArgumentError: This sandbox has no such task, or the offset is negative.
        """
        raise self._no_background()

    async def get_background_output_size(self, task_id: str) -> int:
        """Return the size of a task's output in bytes."""
        raise self._no_background()

    async def is_background_alive(self, task_id: str) -> bool:
        """Return whether a task still runs."""
        raise self._no_background()

    async def get_background_exit_code(self, task_id: str) -> int | None:
        """Return a task's exit status, 128 + N after signal N; None while it runs."""
        raise self._no_background()

    async def kill_background(self, task_id: str, force: bool = False) -> None:
        """End a task with all its child processes.

        Args:
            task_id: Of the task.
            force: Whether to end it at once; by default it has two seconds to end itself.
        """
        raise self._no_background()

    async def cleanup_background(self, task_id: str) -> None:
        """End a task if it still runs, and forget it with its output."""
        raise self._no_background()

    def _no_background(self) -> NotImplementedError:
        return NotImplementedError(
            f"{type(self).__name__} does not run commands in the background: use execute_command, "
            "or a provider whose `supports_background` is true"
        )


ISandboxHandle = SandboxHandle
"""The name that seed 003 knows it by."""
