"""Records a change of files around the code that makes it."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence

from agentscope_like.checkpoint.records import FileChange, FileVersion
from agentscope_like.checkpoint.store import CheckpointError, CheckpointStore

__all__ = ["file_version", "recorded"]

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC


@contextlib.contextmanager
def recorded(
    store: CheckpointStore,
    changes: Sequence[FileChange],
    *,
    session_id: str = "",
    call_id: str = "",
    summary: str = "",
    look: Callable[[str], FileVersion | None] | None = None,
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
    """Return what a file of this host is now; None where there is no regular file.

    Raises:
        OSError: It cannot be read.
    """
    try:
        descriptor = os.open(path, _READ)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a symlink, or a socket
            return None
        raise
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return None
        return FileVersion(file.read(), stat.S_IMODE(status.st_mode))
