"""The interface through which file tools identify a sandbox's file and change only that file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from agentscope_like.sandbox.files.command_names import CommandNames
from agentscope_like.sandbox.files.command_replacing import CommandReplacing
from agentscope_like.sandbox.files.file_status import FileStatus
from agentscope_like.sandbox.result import CommandResult

__all__ = ["KnownFiles"]


class KnownFiles(ABC):
    """Files identified by their known status; by default implemented by commands.

    A path here is absolute and without symlinks, `.` and `..`. A symlink on the way was put there
    meanwhile and is not followed. Failures are `OSError` with its `errno`, wherever the file is.
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
        """Return the home directory of commands; empty if they have none."""
        return await CommandNames(self).home()

    async def stat_files(self, paths: Sequence[str]) -> list[FileStatus]:
        """Return the status of each name, which may be unknown; symlinks are not followed.

        Args:
            paths: Absolute paths.

        Raises:
            OSError: None of them can be looked up.
        """
        return await CommandNames(self).status(paths)

    async def scan_dirs(self, paths: Sequence[str]) -> list[list[FileStatus] | None]:
        """Return the entries of each directory, hidden ones too; None where it cannot be listed.

        An entry has only its kind, path and modification time.

        Args:
            paths: Absolute paths of directories.

        Raises:
            OSError: None of them can be listed.
        """
        return await CommandNames(self).entries(paths)

    async def read_known_file(self, file: FileStatus) -> bytes:
        """Return the content of a regular file of at most 64 MB, if it is still the same file.

        Args:
            file: Its path, device and inode.

        Raises:
            OSError: It cannot be read; ESTALE where another file has its name by now, ENXIO where
                it is no regular file, EFBIG where it is too large.
        """
        return await CommandReplacing(self).read(file)

    async def replace_known_file(self, file: FileStatus, digest: str, data: bytes) -> FileStatus:
        """Replace the content of a file, if the file and its content are still the same.

        It keeps its mode and, if possible, its owner.

        Args:
            file: Its path, device and inode.
            digest: The SHA-256 of its content, in hexadecimal.
            data: Its new content.

        Returns:
            Its new status.

        Raises:
            OSError: It cannot be written; ESTALE where it is not the same.
        """
        return await CommandReplacing(self).replace(file, digest, data)

    async def create_file(self, path: str, data: bytes) -> FileStatus:
        """Create a file that does not exist, and its parent directories.

        Args:
            path: Its absolute path.
            data: Its content.

        Returns:
            Its status.

        Raises:
            FileExistsError: There is something of that name.
            OSError: It cannot be made; directories made for it are removed.
        """
        return await CommandReplacing(self).create(path, data)
