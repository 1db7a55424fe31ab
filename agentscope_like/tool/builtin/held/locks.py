"""Locks of the folder of layers: a folder in use is not removed by another process."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["locked", "store_locked"]

_LOCK = "lock"


@contextlib.contextmanager
def store_locked(store: Path, kind: int) -> Iterator[None]:
    """Keep another process from tidying what is not locked yet; blocks while one tidies.

    Args:
        store: The folder of all layers.
        kind: `fcntl.LOCK_EX` to tidy, else `fcntl.LOCK_SH`.

    Raises:
        OSError: The lock cannot be had.
    """
    lock = os.open(store / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, kind)
        yield
    finally:
        os.close(lock)


def locked(folder: Path) -> int:
    """Return the descriptor of the folder's lock, taken.

    Raises:
        OSError: Another process has it.
    """
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock
