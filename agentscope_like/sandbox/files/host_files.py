"""Reads and writes files of a sandbox that are on this host."""

from __future__ import annotations

import contextlib
import os
import posixpath
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from agentscope_like.exception import SandboxPathError
from agentscope_like.sandbox.files.command_files import MAX_FILE_BYTES
from agentscope_like.sandbox.files.host_path import DIRECTORY_FLAGS, Place, missing, place_of
from agentscope_like.sandbox.mount import MountTable
from agentscope_like.sandbox.result import FileInfo

__all__ = ["HostFiles"]

_FILE_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class HostFiles:
    """Reads and writes files in the mounts of a sandbox; blocks, so call it in a thread.

    Args:
        mounts: The mounts of the sandbox.
        workspace: Where relative paths start, as the sandbox knows it.
    """

    def __init__(self, mounts: MountTable, workspace: str) -> None:
        self._mounts = mounts
        self._workspace = workspace

    def read(self, path: str) -> bytes:
        """Return the content of a regular file."""
        with self._at(path) as place:
            descriptor = _open_file(place, path, os.O_RDONLY)
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise SandboxPathError(
                f"{path} has more than the {MAX_FILE_BYTES:,} bytes that are read at once: read a "
                "part of it by a command such as head."
            )
        return data

    def write(self, path: str, data: bytes, *, append: bool) -> None:
        """Append to a file, or replace it atomically; it keeps its mode."""
        with self._at(path, make_directories=True) as place:
            _require_writable(place, path)
            if append:
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
                with os.fdopen(_open_file(place, path, flags), "ab") as file:
                    file.write(data)
            else:
                _replace(place, path, data)

    def entries(self, path: str, *, hidden: bool) -> list[FileInfo]:
        """Return the entries of a directory."""
        found: list[FileInfo] = []
        with self._at(path) as place, _opened(place, path) as descriptor:
            for name in sorted(os.listdir(descriptor)):
                if hidden or not name.startswith("."):
                    with contextlib.suppress(FileNotFoundError):
                        found.append(self._info(descriptor, posixpath.join(path, name)))
        return found

    def exists(self, path: str) -> bool:
        """Return whether the name exists."""
        try:
            with self._at(path) as place:
                os.stat(place.name, dir_fd=place.directory, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def delete(self, path: str) -> None:
        """Remove a file or a symlink, but no directory."""
        with self._at(path, follow_last=False) as place:
            _require_writable(place, path)
            try:
                os.unlink(place.name, dir_fd=place.directory)
            except FileNotFoundError:
                raise missing(path) from None
            except OSError as error:
                raise SandboxPathError(f"{path} cannot be removed: {error.strerror}.") from error

    def directory(self, path: str) -> str:
        """Return the absolute path, as the sandbox knows it and without symlinks, of a directory.

        Raises:
            SandboxPathError: It is not one, or lies outside of the mounts.
            FileNotFoundError: There is no such directory.
        """
        with self._at(path) as place, _opened(place, path):
            return place.path

    @contextmanager
    def _at(
        self, path: str, *, make_directories: bool = False, follow_last: bool = True
    ) -> Iterator[Place]:
        absolute = posixpath.join(self._workspace, path)
        with place_of(
            absolute, self._mounts, make_directories=make_directories, follow_last=follow_last
        ) as place:
            yield place

    def _info(self, directory: int, path: str) -> FileInfo:
        name = posixpath.basename(path)
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
        return FileInfo(
            name=name,
            path=posixpath.normpath(posixpath.join(self._workspace, path)),
            is_dir=stat.S_ISDIR(found.st_mode),
            size=found.st_size if stat.S_ISREG(found.st_mode) else 0,
        )


@contextmanager
def _opened(place: Place, path: str) -> Iterator[int]:
    """Open the directory that a path has come to."""
    try:
        descriptor = os.open(place.name, DIRECTORY_FLAGS, dir_fd=place.directory)
    except FileNotFoundError:
        raise missing(path) from None
    except OSError as error:
        raise SandboxPathError(
            f"{path} is not a directory that can be opened: {error.strerror}."
        ) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _open_file(place: Place, path: str, flags: int) -> int:
    try:
        descriptor = os.open(place.name, flags | _FILE_FLAGS, 0o666, dir_fd=place.directory)
    except FileNotFoundError:
        raise missing(path) from None
    except OSError as error:
        raise SandboxPathError(f"{path} cannot be opened: {error.strerror}.") from error
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise _not_regular(path)


def _replace(place: Place, path: str, data: bytes) -> None:
    directory = place.directory
    mode = None
    with contextlib.suppress(FileNotFoundError):
        before = os.stat(place.name, dir_fd=directory, follow_symlinks=False)
        if not stat.S_ISREG(before.st_mode):
            raise _not_regular(path)
        mode = stat.S_IMODE(before.st_mode)
    new = f".{uuid.uuid4().hex}.new"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE_FLAGS
    try:
        with os.fdopen(os.open(new, flags, 0o666, dir_fd=directory), "wb") as file:
            file.write(data)
            if mode is not None:
                os.fchmod(file.fileno(), mode)
        os.replace(new, place.name, src_dir_fd=directory, dst_dir_fd=directory)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(new, dir_fd=directory)
        raise SandboxPathError(f"{path} cannot be written: {error.strerror}.") from error


def _require_writable(place: Place, path: str) -> None:
    if place.read_only:
        raise SandboxPathError(
            f"{path} cannot be written: it is mounted read-only in the sandbox. Write elsewhere, "
            "such as in the workspace."
        )


def _not_regular(path: str) -> SandboxPathError:
    return SandboxPathError(f"{path} is not a regular file: name one.")
