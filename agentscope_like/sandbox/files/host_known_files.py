"""Reads and replaces known files of a sandbox that are on this host."""

from __future__ import annotations

import contextlib
import errno
import os
import posixpath
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from agentscope_like.exception import SandboxPathError
from agentscope_like.sandbox.files.command_files import MAX_FILE_BYTES
from agentscope_like.sandbox.files.file_status import FileStatus
from agentscope_like.sandbox.files.host_path import DIRECTORY_FLAGS, Place, place_of
from agentscope_like.sandbox.files.whole_file import (
    create_whole_file,
    open_regular_file,
    read_whole_file,
    replace_whole_file,
)
from agentscope_like.sandbox.mount import MountTable

__all__ = ["HostKnownFiles"]


class HostKnownFiles:
    """Looks up, reads and replaces files in a sandbox's mounts; blocks, so call it in a thread.

    Args:
        mounts: The mounts of the sandbox.
    """

    def __init__(self, mounts: MountTable) -> None:
        self._mounts = mounts

    def status(self, paths: Sequence[str]) -> list[FileStatus]:
        """Return the status of each name; see `KnownFiles`."""
        return [self._status(path) for path in paths]

    def entries(self, paths: Sequence[str]) -> list[list[FileStatus] | None]:
        """Return the entries of each directory; see `KnownFiles`."""
        return [self._entries(path) for path in paths]

    def read(self, file: FileStatus) -> bytes:
        """Return what a file holds; see `KnownFiles`."""
        with self._at(file.path) as place:
            opened = open_regular_file(place.name, place.directory)
        with opened:
            if FileStatus.of(file.path, os.fstat(opened.fileno())).identity != file.identity:
                raise _error(errno.ESTALE)
            return read_whole_file(opened, MAX_FILE_BYTES)

    def replace(self, file: FileStatus, digest: str, data: bytes) -> FileStatus:
        """Put data in the place of a file; see `KnownFiles`."""
        with self._at(file.path) as place:
            _require_writable(place)
            status = replace_whole_file(
                place.name,
                place.directory,
                data,
                identity=file.identity,
                digest=digest,
                cancel_check=lambda: None,
            )
        return FileStatus.of(file.path, status)

    def create(self, path: str, data: bytes) -> FileStatus:
        """Make a file, and the directories that lead to it; see `KnownFiles`."""
        missing = self._missing_directories(path)
        if self._status(posixpath.dirname(missing[-1] if missing else path)).is_link:
            raise _error(errno.ELOOP)
        try:
            with self._at(path, make_directories=True) as place:
                _require_writable(place)
                status = create_whole_file(
                    place.name, place.directory, data, cancel_check=lambda: None
                )
        except BaseException:
            for directory in missing:
                with contextlib.suppress(OSError), self._at(directory) as place:
                    os.rmdir(place.name, dir_fd=place.directory)
            raise
        return FileStatus.of(path, status)

    def _status(self, path: str) -> FileStatus:
        try:
            with _going(path, self._mounts) as place:
                found = os.stat(place.name, dir_fd=place.directory, follow_symlinks=False)
                target = None
                if stat.S_ISLNK(found.st_mode):
                    target = os.readlink(place.name, dir_fd=place.directory)
                return FileStatus.of(path, found, target)
        except (OSError, SandboxPathError) as error:
            if self._mounts.leads_to_mount(path):
                return FileStatus(path, st_mode=stat.S_IFDIR | 0o555)
            if _number(error) in (errno.ENOENT, errno.ENOTDIR):
                return FileStatus.missing(path)
            reason = error.message if isinstance(error, SandboxPathError) else ""
            return FileStatus(path, error=_number(error), reason=reason)

    def _entries(self, path: str) -> list[FileStatus] | None:
        found: list[FileStatus] = []
        try:
            with self._at(path) as place:
                descriptor = os.open(place.name, DIRECTORY_FLAGS, dir_fd=place.directory)
            try:
                with os.scandir(descriptor) as entries:
                    for entry in entries:
                        with contextlib.suppress(FileNotFoundError):
                            status = os.stat(entry.name, dir_fd=descriptor, follow_symlinks=False)
                            found.append(FileStatus.of(posixpath.join(path, entry.name), status))
            finally:
                os.close(descriptor)
        except OSError:
            return None
        return found

    def _missing_directories(self, path: str) -> list[str]:
        """Return the directories that lead to a file and are not there, the innermost first."""
        missing = []
        directory = posixpath.dirname(path)
        while directory != "/" and self._status(directory).error == errno.ENOENT:
            missing.append(directory)
            directory = posixpath.dirname(directory)
        return missing

    @contextmanager
    def _at(self, path: str, *, make_directories: bool = False) -> Iterator[Place]:
        """Go to a path that has no symlink in it, or raise an `OSError`."""
        try:
            with _going(path, self._mounts, make_directories=make_directories) as place:
                if place.path != path:
                    raise _error(errno.ELOOP)
                yield place
        except SandboxPathError as error:
            raise OSError(_number(error), error.message) from error


@contextmanager
def _going(path: str, mounts: MountTable, *, make_directories: bool = False) -> Iterator[Place]:
    with place_of(path, mounts, make_directories=make_directories, follow_last=False) as place:
        yield place


def _number(error: OSError | SandboxPathError) -> int:
    if isinstance(error, FileNotFoundError):
        return errno.ENOENT
    cause = error if isinstance(error, OSError) else error.__cause__
    return (cause.errno if isinstance(cause, OSError) else None) or errno.EACCES


def _require_writable(place: Place) -> None:
    if place.read_only:
        raise _error(errno.EROFS)


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))
