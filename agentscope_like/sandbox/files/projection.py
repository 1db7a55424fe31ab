"""Copies a directory of this host into a sandbox through its interface.

Commands in the sandbox may change these files meanwhile. So a file is opened component by component
from the root, never through a symlink.
"""

from __future__ import annotations

import asyncio
import errno
import os
import posixpath
import shlex
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Protocol

from msgspec import Struct

from agentscope_like.exception import SandboxPathError
from agentscope_like.sandbox.result import CommandResult

__all__ = ["HostFile", "Writable", "copy_tree", "files_below", "put_file", "read_below"]

# of a directory on the way, entering is enough: it need not be readable
_PASS: int = getattr(os, "O_PATH", os.O_RDONLY)
_DIRECTORY_FLAGS = _PASS | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Writable(Protocol):
    """A sandbox to copy files into."""

    async def write_file(self, path: str, content: str | bytes, *, append: bool = False) -> None:
        """Write a file."""

    async def execute_command(
        self,
        command: str,
        workdir: str | None = None,
        timeout: float = 30,
        env_vars: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Run a command."""


class HostFile(Struct, frozen=True):
    """The content of a file of this host.

    Attributes:
        content: What it holds.
        is_executable: Whether its owner may run it.
    """

    content: bytes
    is_executable: bool


async def copy_tree(target: Writable, host_path: str, path: str) -> None:
    """Copy a file, or the files below a directory; of symlinks, only those to files inside.

    Raises:
        OSError: `host_path` cannot be read.
        SandboxPathError: `path` cannot be written.
    """
    for name, source in await asyncio.to_thread(lambda: list(_sources(host_path))):
        file = await asyncio.to_thread(read_below, *source)
        await put_file(target, posixpath.join(path, name) if name else path, file)


async def put_file(target: Writable, path: str, file: HostFile) -> None:
    """Write a file, and make it executable if it is on this host.

    Raises:
        SandboxPathError: It cannot be written.
    """
    await target.write_file(path, file.content)
    if file.is_executable:
        done = await target.execute_command(f"chmod +x -- {shlex.quote(path)}")
        if not done.success:
            raise SandboxPathError(f"{path} cannot be made executable: {done.stderr.strip()}")


def files_below(
    directory: str, *, skip: Collection[str] = (), most: int | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the files below a directory, sorted: the path and the resolved path of each.

    Both are relative to the directory, with `/`. Symlinks are left out, but for those to a regular
    file inside of the directory.

    Args:
        directory: The directory.
        skip: Names to leave out, with everything below them.
        most: The most entries to accept; by default there is no limit.

    Raises:
        OSError: It cannot be read, or is too large.
    """
    root = os.path.realpath(directory)
    waiting, seen = [""], 0
    while waiting:
        below = waiting.pop()
        with os.scandir(os.path.join(root, below)) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        seen += len(found)
        if most is not None and seen > most:
            raise OSError(errno.EFBIG, f"there are over {most:,} files and directories")
        directories = []
        for entry in found:
            path = posixpath.join(below, entry.name)
            if entry.name in skip:
                continue
            if entry.is_dir(follow_symlinks=False):
                directories.append(path)
            elif source := _regular(root, path, entry):
                yield path, source
        waiting.extend(reversed(directories))


def read_below(directory: str, path: str, most: int | None = None) -> HostFile:
    """Return what a regular file below a directory holds; no symlink is followed on the way.

    Args:
        directory: The directory, absolute and without symlinks.
        path: Of the file, relative, with `/`.
        most: The most bytes to accept; by default there is no limit.

    Raises:
        OSError: It cannot be read, is no regular file, or is too large.
    """
    *parents, name = posixpath.join(directory, path).removeprefix("/").split("/")
    opened = os.open("/", _DIRECTORY_FLAGS)
    try:
        for parent in parents:
            inner = os.open(parent, _DIRECTORY_FLAGS, dir_fd=opened)
            os.close(opened)
            opened = inner
        descriptor = os.open(name, _FILE_FLAGS, dir_fd=opened)
    finally:
        os.close(opened)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no regular file", path)
    with open(descriptor, "rb") as file:
        content = file.read(-1 if most is None else most + 1)
    if most is not None and len(content) > most:
        raise OSError(errno.EFBIG, f"it has over {most:,} bytes", path)
    return HostFile(content, is_executable=bool(mode & stat.S_IXUSR))


def _sources(host_path: str) -> Iterable[tuple[str, tuple[str, str]]]:
    """Yield the name of each file in the copy, and the directory and path that it is read from."""
    if os.path.isdir(host_path):
        root = os.path.realpath(host_path)
        return ((path, (root, source)) for path, source in files_below(root))
    return [("", os.path.split(os.path.realpath(host_path)))]


def _regular(root: str, path: str, entry: os.DirEntry[str]) -> str | None:
    """Return where a file below the root really lies; None for what is no file, or outside."""
    if entry.is_file(follow_symlinks=False):
        return path
    if not entry.is_symlink():
        return None
    real = os.path.realpath(os.path.join(root, path))
    inside = os.path.join(root, "")
    return real[len(inside) :] if real.startswith(inside) and os.path.isfile(real) else None
