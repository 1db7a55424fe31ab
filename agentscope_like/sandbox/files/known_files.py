"""The interface by which file tools identify a sandbox's file and change that file only."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from agentscope_like.sandbox.files.command_names import CommandNames
from agentscope_like.sandbox.files.command_replacing import CommandReplacing
from agentscope_like.sandbox.files.file_status import FileStatus
from agentscope_like.sandbox.result import CommandResult

__all__ = ["KnownFiles"]


class KnownFiles(ABC):
    """Files by what was known of them; made of commands, unless a provider can do better.

    A path here is absolute and without symlinks, `.` and `..`; where there turns out to be a
    symlink on the way, somebody has put it there meanwhile, and it is not followed. Failures are
    those of a system, so that they read the same wherever the file is: `OSError`, with its `errno`.
    """

    @abstractmethod
    async def execute_command(
        self,
        command: str,
        workdir: str | None = None,
        timeout: float = 30,
        env_vars: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Run a command; see `SandboxHandle`."""

    async def home_path(self) -> str:
        """Return what `~` stands for in commands; empty where they have no home."""
        return await CommandNames(self).home()

    async def stat_files(self, paths: Sequence[str]) -> list[FileStatus]:
        """Return what is known of each name, symlinks not followed; what cannot be said is said so.

        Args:
            paths: Absolute paths.

        Raises:
            OSError: Nothing can be said of any.
        """
        return await CommandNames(self).status(paths)

    async def scan_dirs(self, paths: Sequence[str]) -> list[list[FileStatus] | None]:
        """Return the entries of each directory, hidden ones too; None where it cannot be listed.

        Of an entry, the kind, the path and the time of its last change are known, no more.

        Args:
            paths: Absolute paths of directories.

        Raises:
            OSError: None of them can be listed.
        """
        return await CommandNames(self).entries(paths)

    async def read_known_file(self, file: FileStatus) -> bytes:
        """Return what a regular file of at most 64 MB holds, if it is still the same file.

        Args:
            file: Its path, device and inode.

        Raises:
            OSError: It cannot be read; ESTALE where another file has its name by now, ENXIO where
                it is no regular file, EFBIG where it is too large.
        """
        return await CommandReplacing(self).read(file)

    async def replace_known_file(self, file: FileStatus, digest: str, data: bytes) -> FileStatus:
        """Put data in the place of a file, if that is still the same and holds the same.

        It keeps its mode and, as far as can be, its owner.

        Args:
            file: Its path, device and inode.
            digest: The SHA-256 of what it holds, in hexadecimal.
            data: What it is to hold.

        Returns:
            The file as it is now.

        Raises:
            OSError: It cannot be written; ESTALE where it is not the same.
        """
        return await CommandReplacing(self).replace(file, digest, data)

    async def create_file(self, path: str, data: bytes) -> FileStatus:
        """Make a file that is not there yet, and the directories that lead to it.

        Args:
            path: Its absolute path.
            data: What it is to hold.

        Returns:
            The file.

        Raises:
            FileExistsError: There is something of that name.
            OSError: It cannot be made; directories made for it are removed.
        """
        return await CommandReplacing(self).create(path, data)
