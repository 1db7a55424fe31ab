"""Records a change of files around the code that makes it."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from io import BufferedReader

from agentscope_like.checkpoint.records import FileChange, FileDigest, FileVersion
from agentscope_like.checkpoint.store import CheckpointError, CheckpointStore

__all__ = ["file_digest", "file_version", "recorded"]

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC


@contextlib.contextmanager
def recorded(
    store: CheckpointStore,
    changes: Iterable[FileChange],
    *,
    session_id: str = "",
    call_id: str = "",
    summary: str = "",
    look: Callable[[str], FileVersion | FileDigest | None] | None = None,
) -> Iterator[int]:
    """Begin a checkpoint, make the change inside, and finish it.

    If the code inside raises an exception, the files tell whether the change was made.

    Args:
        store: Where the checkpoint is kept.
        changes: The files before and after the change.
        session_id: The session.
        call_id: The call.
        summary: What is done, in a sentence.
        look: Returns what a file is now; by default, on this host.

    Yields:
        The number of the checkpoint.

    Raises:
        CheckpointError: It cannot be stored; nothing has been changed, or the change stays begun.
    """
    checkpoint_id = store.begin(changes, session_id=session_id, call_id=call_id, summary=summary)
    try:
        yield checkpoint_id
    except BaseException:
        with contextlib.suppress(CheckpointError, OSError):  # else it stays begun
            store.conclude(checkpoint_id, look or file_version)
        raise
    store.finish(checkpoint_id)


def file_version(path: str) -> FileVersion | None:
    """Return what a file, symlink or directory of this host is now; None where there is none.

    Raises:
        OSError: It cannot be read.
    """
    found = _other_version(path)
    if found is not None:
        return found
    with _opened(path) as file:
        return None if file is None else FileVersion(file.read(), _mode(file))


def file_digest(path: str) -> FileDigest | None:
    """Return the digest of a file, symlink or directory of this host; None where there is none.

    A file of any size takes little memory.

    Raises:
        OSError: It cannot be read.
    """
    found = _other_version(path)
    if found is not None:
        return FileDigest(found.digest, found.mode)
    with _opened(path) as file:
        if file is None:
            return None
        return FileDigest(hashlib.file_digest(file, "sha256").hexdigest(), _mode(file))


def _other_version(path: str) -> FileVersion | None:
    """Return what a symlink or a directory is; None for all else."""
    try:
        found = os.lstat(path)
        if stat.S_ISLNK(found.st_mode):
            target = os.fsencode(os.readlink(path))
            return FileVersion(target, stat.S_IMODE(found.st_mode), "link")
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISDIR(found.st_mode):
        return FileVersion(b"", stat.S_IMODE(found.st_mode), "directory")
    return None


@contextlib.contextmanager
def _opened(path: str) -> Iterator[BufferedReader | None]:
    """Open a regular file; yield None where there is none."""
    try:
        descriptor = os.open(path, _READ)
    except (FileNotFoundError, NotADirectoryError):
        yield None
        return
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENXIO):  # a symlink, or a socket
            raise
        yield None
        return
    with os.fdopen(descriptor, "rb") as file:
        yield file if stat.S_ISREG(os.fstat(descriptor).st_mode) else None


def _mode(file: BufferedReader) -> int:
    return stat.S_IMODE(os.fstat(file.fileno()).st_mode)
