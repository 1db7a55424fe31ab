"""Writing a file in one step: readers see the old content or the new one, never a part."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import secrets
import stat
import time
from collections.abc import Iterator

from agentscope_like.permission.paths import Location
from agentscope_like.tool.builtin.answers import Checkpoint
from agentscope_like.tool.builtin.files import (
    FileContent,
    FileToolError,
    explain,
    open_parent,
    open_regular,
    whole,
)

__all__ = ["create_file", "replace_file"]

LOCK_SECONDS = 5.0
"""How long to wait for another writer in the same directory."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CHANGE = os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
_KEPT_MODE = 0o1777
_UNSUPPORTED = (errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL, errno.EBADF)
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def replace_file(
    location: Location, data: bytes, before: FileContent, checkpoint: Checkpoint
) -> FileContent:
    """Put `data` in the place of what `before` describes.

    The file keeps its mode (set-id bits excepted), owner and extended attributes. A name that was
    reached through a symlink stays a symlink; of a file with several hard links only this name
    changes.

    Args:
        location: The file.
        data: Its new content.
        before: What it must still be, by inode and by content.
        checkpoint: Called before anything is changed.

    Raises:
        FileToolError: It is no longer that file, may not be written, or the disk refuses.
    """
    try:
        with open_parent(location.resolved) as (directory, name), _locked(directory, location):
            with _still_the_same(directory, name, location, before) as source:
                found = os.fstat(source)
                temporary = _write_beside(directory, name, data, 0o600, like=source)
            try:
                checkpoint()
                _require_unchanged(directory, name, location, found)
                os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
            except BaseException:
                _discard(directory, temporary)
                raise
            _sync_directory(directory)
            status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except OSError as error:
        raise explain(error, location.written) from None
    return FileContent(data, status)


def create_file(location: Location, data: bytes, checkpoint: Checkpoint) -> FileContent:
    """Make a file that does not exist yet, and the directories that lead to it.

    Raises:
        FileToolError: It exists by now, or the system refuses; directories made for it are removed.
    """
    made: list[str] = []
    try:
        return _create(location, data, checkpoint, made)
    except OSError as error:
        _remove_directories(made)
        raise explain(error, location.written) from None
    except BaseException:
        _remove_directories(made)
        raise


def _create(
    location: Location, data: bytes, checkpoint: Checkpoint, made: list[str]
) -> FileContent:
    with open_parent(location.resolved, made=made) as (directory, name):
        temporary = _write_beside(directory, name, data, 0o666)
        try:
            checkpoint()
            _move_to_new_name(directory, temporary, name)
        except FileExistsError:
            _discard(directory, temporary)
            raise FileToolError(
                f"{location.written} was made by somebody else in the meantime. Read it first."
            ) from None
        except BaseException:
            _discard(directory, temporary)
            raise
        _sync_directory(directory)
        return FileContent(data, os.stat(name, dir_fd=directory, follow_symlinks=False))


def _move_to_new_name(directory: int, temporary: str, name: str) -> None:
    """Rename, but never over something; where there are no hard links, as well as can be."""
    try:
        os.link(temporary, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        with contextlib.suppress(FileNotFoundError):
            os.stat(name, dir_fd=directory, follow_symlinks=False)
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    else:
        os.unlink(temporary, dir_fd=directory)


@contextlib.contextmanager
def _locked(directory: int, location: Location) -> Iterator[None]:
    """Keep other writers of this library out of the directory, in whatever process they are."""
    try:
        lock = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory)
    except PermissionError:
        yield
        return
    try:
        deadline = time.monotonic() + LOCK_SECONDS
        while not _try_lock(lock):
            if time.monotonic() > deadline:
                raise FileToolError(
                    f"{location.written} is being written by another process. Call again later."
                )
            time.sleep(0.01)
        yield
    finally:
        os.close(lock)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    return True


@contextlib.contextmanager
def _still_the_same(
    directory: int, name: str, location: Location, before: FileContent
) -> Iterator[int]:
    """Open the file for writing, compare it with `before`, and yield its descriptor."""
    if not before.status.st_mode & 0o222:
        raise FileToolError(
            f"{location.written} is read-only. Make it writable first (chmod u+w), or ask the user."
        )
    with open_regular(name, flags=_CHANGE, parent=directory) as file:
        found = whole(file, location.written)
        if _inode(found.status) != _inode(before.status) or found.digest != before.digest:
            raise _changed(location)
        yield file.fileno()


def _require_unchanged(
    directory: int, name: str, location: Location, found: os.stat_result
) -> None:
    status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    if _inode(status) != _inode(found) or _written(status) != _written(found):
        raise _changed(location)


def _written(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def _inode(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _changed(location: Location) -> FileToolError:
    return FileToolError(
        f"{location.written} changed while it was being written; nothing was overwritten. "
        "Read it again."
    )


def _write_beside(
    directory: int, name: str, data: bytes, mode: int, *, like: int | None = None
) -> str:
    """Write a temporary file next to `name`, safely on disk, and return its name."""
    digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:8]
    temporary = f".{digest}-{secrets.token_hex(8)}.tmp"
    descriptor = os.open(temporary, _NEW, mode, dir_fd=directory)
    try:
        try:
            with os.fdopen(os.dup(descriptor), "wb") as file:
                file.write(data)
            if like is not None:
                _copy_attributes(like, descriptor)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        _discard(directory, temporary)
        raise
    return temporary


def _copy_attributes(source: int, target: int) -> None:
    status = os.fstat(source)
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for attribute in os.listxattr(source):
                with contextlib.suppress(OSError):
                    os.setxattr(target, attribute, os.getxattr(source, attribute))
    with contextlib.suppress(PermissionError):
        os.fchown(target, status.st_uid, status.st_gid)
    os.fchmod(target, stat.S_IMODE(status.st_mode) & _KEPT_MODE)


def _discard(directory: int, name: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=directory)


def _remove_directories(made: list[str]) -> None:
    for path in reversed(made):
        with contextlib.suppress(OSError):
            os.rmdir(path)


def _sync_directory(directory: int) -> None:
    """Make the new name durable; a directory that cannot be opened or synced is left as it is."""
    with contextlib.suppress(OSError):
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
