"""Walks to a path of a sandbox on this host without leaving its mounts.

Commands in a sandbox may change symlinks at any time, also while they are followed. So no path is
checked first and opened later. Each component is opened by itself, relative to the directory that
is already open, never through a symlink; a symlink is read and followed as the sandbox sees it,
where `/` is the sandbox's root.
"""

from __future__ import annotations

import contextlib
import errno
import os
import posixpath
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from agentscope_like.exception import SandboxPathError
from agentscope_like.sandbox.mount import MountTable, VolumeMount

__all__ = ["DIRECTORY_FLAGS", "Place", "missing", "place_of"]

DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""With which a directory is opened, if it is one."""

_MAX_SYMLINKS = 40


class Place(Struct, frozen=True):
    """The end of a walked path: an open directory and a name in it.

    Attributes:
        directory: Descriptor of the parent directory.
        name: The last name, or `.` for the directory itself.
        path: Its path in the sandbox, without symlinks.
        read_only: Whether nothing may be written there.
    """

    directory: int
    name: str
    path: str
    read_only: bool


class _Level(Struct, frozen=True):
    """A directory on the way; `descriptor` is None where only mounts lie below."""

    path: str
    descriptor: int | None
    read_only: bool


@contextmanager
def place_of(
    path: str, mounts: MountTable, *, make_directories: bool = False, follow_last: bool = True
) -> Iterator[Place]:
    """Walk to a path, and keep its directory open as long as the context lasts.

    Args:
        path: An absolute path of the sandbox.
        mounts: The mounts of the sandbox.
        make_directories: Whether to make the directories that lead there.
        follow_last: Whether to follow the last name, if that is a symlink.

    Raises:
        SandboxPathError: It leads out of the mounts, or through what is not a directory.
        FileNotFoundError: A directory on the way does not exist.
    """
    if "\0" in path:
        raise SandboxPathError("The path contains a NUL character: leave it out.")
    way = _Way(path, mounts, make_directories, follow_last)
    try:
        yield way.go()
    finally:
        way.close()


class _Way:
    """The open directories from the root to the current component of a path."""

    def __init__(
        self, path: str, mounts: MountTable, make_directories: bool, follow_last: bool
    ) -> None:
        self._path = path
        self._mounts = mounts
        self._make_directories = make_directories
        self._follow_last = follow_last
        self._todo = deque(path.split("/"))
        self._levels = [_Level("/", None, read_only=True)]
        self._symlinks = 0

    def go(self) -> Place:
        """Go to the end of the path."""
        name = None
        while self._todo and name is None:
            name = self._step(self._todo.popleft())
        top = self._levels[-1]
        if top.descriptor is None:
            raise _outside(self._path)
        return Place(
            directory=top.descriptor,
            name=name or ".",
            path=posixpath.join(top.path, name) if name else top.path,
            read_only=top.read_only,
        )

    def close(self) -> None:
        """Close all directories."""
        self._ascend(len(self._levels))

    def _step(self, name: str) -> str | None:
        """Take a component of the path; return the name if it is where the path ends."""
        if name in ("", ".", ".."):
            self._ascend(1 if name == ".." else 0)
            return None
        top = self._levels[-1]
        inside = posixpath.join(top.path, name)
        if mount := self._mounts.at(inside):
            return self._step_into_mount(mount)
        if top.descriptor is None or self._is_only_mount_point(top.descriptor, name, inside):
            if not self._mounts.leads_to_mount(inside):
                raise _outside(self._path)
            self._levels.append(_Level(inside, None, read_only=True))
            return None
        is_last = not any(part not in ("", ".") for part in self._todo)
        link = None if is_last and not self._follow_last else _link(top.descriptor, name)
        if link is not None:
            self._follow(link)
            return None
        if is_last:
            return name
        self._levels.append(self._opened(top.descriptor, name, inside, top.read_only))
        return None

    def _step_into_mount(self, mount: VolumeMount) -> str | None:
        host = mount.host_path
        is_directory = os.path.isdir(host)
        try:
            descriptor = os.open(host if is_directory else os.path.dirname(host), DIRECTORY_FLAGS)
        except OSError as error:
            raise SandboxPathError(
                f"{self._path} cannot be reached: {host}, which is mounted on the way to it, "
                f"cannot be opened: {error.strerror}."
            ) from error
        path = mount.mount_path if is_directory else posixpath.dirname(mount.mount_path)
        self._levels.append(_Level(path, descriptor, read_only=mount.read_only))
        return None if is_directory else os.path.basename(host)

    def _is_only_mount_point(self, directory: int, name: str, inside: str) -> bool:
        """Return whether a directory is only there because something is mounted below it."""
        if not self._mounts.leads_to_mount(inside):
            return False
        try:
            os.stat(name, dir_fd=directory, follow_symlinks=False)
        except FileNotFoundError:
            return True
        return False

    def _follow(self, link: str) -> None:
        self._symlinks += 1
        if self._symlinks > _MAX_SYMLINKS:
            raise SandboxPathError(f"{self._path} goes through too many symlinks: name a file.")
        if link.startswith("/"):
            self._ascend(len(self._levels))
        self._todo.extendleft(reversed(link.split("/")))

    def _opened(self, directory: int, name: str, inside: str, read_only: bool) -> _Level:
        try:
            if self._make_directories and not read_only:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=directory)
            descriptor = os.open(name, DIRECTORY_FLAGS, dir_fd=directory)
        except FileNotFoundError:
            raise missing(self._path) from None
        except OSError as error:
            raise SandboxPathError(
                f"{self._path} cannot be reached, because {name} on the way to it is not a "
                f"directory that can be opened: {error.strerror}."
            ) from error
        return _Level(inside, descriptor, read_only=read_only)

    def _ascend(self, count: int) -> None:
        """Leave that many directories; the root, which is not open, is never left."""
        for _ in range(min(count, len(self._levels) - 1)):
            level = self._levels.pop()
            if level.descriptor is not None:
                os.close(level.descriptor)


def missing(path: str) -> FileNotFoundError:
    """Return the error for what is not there."""
    return FileNotFoundError(f"there is no {path} in the sandbox")


def _outside(path: str) -> SandboxPathError:
    return SandboxPathError(
        f"{path} lies outside of the sandbox: only the workspace and what is mounted can be used."
    )


def _link(directory: int, name: str) -> str | None:
    """Return where a symlink points to, or None for what is not one."""
    try:
        return os.readlink(name, dir_fd=directory)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):
            return None
        raise SandboxPathError(f"{name} cannot be looked up: {error.strerror}.") from error
