"""Reads and replaces a whole file of this host, by its name in an open directory.

New content is written to a temporary file, which is then renamed: readers see the old or the new
content, never a part. No symlink is followed and only regular files are opened; opening never
blocks.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from io import BufferedReader

__all__ = [
    "READ_FLAGS",
    "create_whole_file",
    "open_regular_file",
    "read_whole_file",
    "remove_whole_file",
    "replace_whole_file",
]

LOCK_SECONDS = 5.0
"""How long to wait for another writer in the same directory."""

READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
"""With which a file is opened for reading."""

_CHANGE = os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_HERE = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_KEPT_MODE = 0o1777
_UNSUPPORTED = (errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL, errno.EBADF)
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)

CancelCheck = Callable[[], None]


def open_regular_file(name: str, directory: int, *, flags: int = READ_FLAGS) -> BufferedReader:
    """Open a regular file without blocking.

    Raises:
        OSError: It cannot be opened; ENXIO where it is no regular file.
    """
    descriptor = os.open(name, flags, dir_fd=directory)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.ENXIO, os.strerror(errno.ENXIO))
    return os.fdopen(descriptor, "rb")


def read_whole_file(file: BufferedReader, most: int) -> bytes:
    """Return the content of an open file.

    Raises:
        OSError: It cannot be read; EFBIG where it holds more than `most` bytes.
    """
    data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return data


def replace_whole_file(
    name: str,
    directory: int,
    data: bytes,
    *,
    identity: tuple[int, int],
    digest: str,
    cancel_check: CancelCheck,
    mode: int | None = None,
) -> os.stat_result:
    """Replace the content of a file by `data`.

    The file keeps its mode (set-id bits excepted), owner and extended attributes; of a file with
    several hard links only this name changes.

    Args:
        name: Its name.
        directory: The directory's descriptor.
        data: Its new content.
        identity: The device and inode that it must still have.
        digest: The SHA-256 of what it must still hold, in hexadecimal.
        cancel_check: Called before anything is changed.
        mode: Its permission bits; by default, those that it has.

    Raises:
        OSError: The system refuses; ESTALE if it is another file by now, EBUSY if others keep
            writing in the directory.
    """
    with _locked(directory):
        with open_regular_file(name, directory, flags=_CHANGE) as file:
            found = os.fstat(file.fileno())
            if (found.st_dev, found.st_ino) != identity or _digest(file) != digest:
                raise _changed()
            temporary = _write_beside(directory, name, data, 0o600, like=file.fileno())
        try:
            if mode is not None:
                os.chmod(temporary, mode & _KEPT_MODE, dir_fd=directory)
            cancel_check()
            if _trace(os.stat(name, dir_fd=directory, follow_symlinks=False)) != _trace(found):
                raise _changed()
            os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
        except BaseException:
            _discard(directory, temporary)
            raise
        _sync_directory(directory)
        return os.stat(name, dir_fd=directory, follow_symlinks=False)


def create_whole_file(
    name: str, directory: int, data: bytes, *, cancel_check: CancelCheck, mode: int | None = None
) -> os.stat_result:
    """Make a file that does not exist yet.

    Args:
        name: Its name.
        directory: The directory's descriptor.
        data: Its content.
        cancel_check: Called before it gets its name.
        mode: Its permission bits; by default, those of any new file.

    Raises:
        FileExistsError: It exists by now.
        OSError: The system refuses.
    """
    temporary = _write_beside(directory, name, data, 0o666)
    try:
        if mode is not None:
            os.chmod(temporary, mode & _KEPT_MODE, dir_fd=directory)
        cancel_check()
        _move_to_new_name(directory, temporary, name)
    except BaseException:
        _discard(directory, temporary)
        raise
    _sync_directory(directory)
    return os.stat(name, dir_fd=directory, follow_symlinks=False)


def remove_whole_file(name: str, directory: int, *, identity: tuple[int, int], digest: str) -> None:
    """Remove a file that is still the one that was looked at.

    Args:
        name: Its name.
        directory: The directory's descriptor.
        identity: The device and inode that it must still have.
        digest: The SHA-256 of what it must still hold, in hexadecimal.

    Raises:
        OSError: The system refuses; ESTALE if it is another file by now, EBUSY if others keep
            writing in the directory.
    """
    with _locked(directory):
        with open_regular_file(name, directory) as file:
            found = os.fstat(file.fileno())
            if (found.st_dev, found.st_ino) != identity or _digest(file) != digest:
                raise _changed()
        os.unlink(name, dir_fd=directory)
        _sync_directory(directory)


def _move_to_new_name(directory: int, temporary: str, name: str) -> None:
    """Rename without overwriting; without hard links, as safely as possible."""
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
def _locked(directory: int) -> Iterator[None]:
    """Lock the directory against other writers of this library, in any process."""
    try:
        lock = os.open(".", _HERE, dir_fd=directory)
    except PermissionError:
        yield
        return
    try:
        deadline = time.monotonic() + LOCK_SECONDS
        while not _try_lock(lock):
            if time.monotonic() > deadline:
                raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
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


def _digest(file: BufferedReader) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()


def _trace(status: os.stat_result) -> tuple[int, int, int, int]:
    """Return a fingerprint that changes with the file and with its name."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _changed() -> OSError:
    return OSError(errno.ESTALE, os.strerror(errno.ESTALE))


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


def _sync_directory(directory: int) -> None:
    """Make the new name durable; a directory that cannot be opened or synced is left as it is."""
    with contextlib.suppress(OSError):
        descriptor = os.open(".", _HERE, dir_fd=directory)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
