"""Says by one system call that no watched path can have changed, where the kernel reports changes.

Linux reports a change of a local file before the system call that made it returns (inotify(7)), and
a change of the mounts by /proc/self/mountinfo (proc(5)). Paths on other file systems, and paths
with symlinks in them, are not watched. A file that is written to through memory is reported once it
is closed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import stat
import threading
import time
from collections.abc import Iterator
from functools import cache

from agentscope_like.file_changes.inotify import add_watch, new_instance

__all__ = ["ChangeWatch", "process_watch"]

_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF = 0x400, 0x800
_ONLY_DIRECTORY, _NO_LINK, _ADD = 0x01000000, 0x02000000, 0x20000000

_ABOVE = _DELETE_SELF | _MOVE_SELF | _ADD | _NO_LINK
_PARENT = _ABOVE | _MOVED_FROM | _MOVED_TO | _DELETE
"""An empty directory that some process is in is only reported removed by its parent."""

_DIRECTORY = _PARENT | _CREATE | _ATTRIB
_FILE = _ABOVE | _MODIFY | _ATTRIB | _CLOSE_WRITE

_LOCAL = frozenset({0xEF53, 0x58465342, 0x9123683E, 0xF2F52010, 0x01021994})
"""File systems that report every change (statfs(2)): ext2 to ext4, XFS, Btrfs, F2FS and tmpfs."""

_STATFS_LONGS = 64
_READ_BYTES = 1 << 16
_MOST_WATCHES = 4096
_RENEWED_SECONDS = 60.0
"""Ending an instance waits some milliseconds for the kernel."""


class ChangeWatch:
    """Counts the times at which watched paths may have changed; safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._descriptors: tuple[int, ...] = ()
        self._poll: select.poll | None = None
        self._watched: dict[str, int] = {}
        self._watches: set[int] = set()
        self._began = 0.0
        self._is_able = True
        self._local: dict[int, bool] = {}

    def count(self) -> int | None:
        """Return a number that is greater after each change; None if changes are not reported."""
        with self._lock:
            if self._poll is None and not self._begin():
                return None
            if self._poll is not None and self._poll.poll(0):
                self._note_change()
            return self._count

    def add(self, path: str) -> bool:
        """Watch a path from now on; return whether all changes of it are counted.

        Watch a path before looking at it, and watch it again whenever the count is greater: then it
        may be another file.

        Args:
            path: Absolute.
        """
        if os.path.normpath(path) != path or not path.startswith("/"):
            return False
        with self._lock:
            return self._poll is not None and all(
                self._add(each, mask) for each, mask in _masks(path)
            )

    def reset(self) -> None:
        """Begin anew, as a process has to that inherited the descriptors of its parent."""
        self._lock = threading.Lock()
        self._end()
        self._is_able = True

    def _begin(self) -> bool:
        if not self._is_able:
            return False
        self._is_able = False
        with contextlib.suppress(OSError):
            mounts = os.open("/proc/self/mountinfo", os.O_RDONLY | os.O_CLOEXEC)
            instance = new_instance()
            if instance is None:
                os.close(mounts)
                return False
            self._descriptors = (instance, mounts)
            self._poll = select.poll()
            self._poll.register(instance, select.POLLIN)
            self._poll.register(mounts, select.POLLPRI)
            self._began = time.monotonic()
            self._is_able = True
        return self._is_able

    def _end(self) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors = ()
        self._poll = None
        self._watches.clear()
        self._forget()

    def _note_change(self) -> None:
        with contextlib.suppress(OSError):  # the mounts alone have changed
            os.read(self._descriptors[0], _READ_BYTES)
        self._forget()

    def _forget(self) -> None:
        self._count += 1
        self._watched.clear()
        self._local.clear()

    def _add(self, path: str, mask: int | None) -> bool:
        """Watch one path for some events; without any, for all that are of use for its kind."""
        wanted = _DIRECTORY if mask is None else mask
        if self._watched.get(path, 0) & wanted == wanted:
            return True
        if len(self._watches) >= _MOST_WATCHES and not self._renew():
            return False
        instance = self._descriptors[0]
        watch = add_watch(instance, path, wanted | _ONLY_DIRECTORY)
        if watch is None and mask is None:
            watch = add_watch(instance, path, _FILE)
            wanted = _DIRECTORY | _FILE
        if watch is None:
            return False
        self._watches.add(watch)
        try:
            status = os.lstat(path)
        except OSError:
            return False
        if stat.S_ISLNK(status.st_mode) or not self._is_local(path, status.st_dev):
            return False
        self._watched[path] = self._watched.get(path, 0) | wanted
        return True

    def _renew(self) -> bool:
        """Drop all watches if that was not done lately, since many may be of no more use."""
        if time.monotonic() - self._began < _RENEWED_SECONDS:
            return False
        self._end()
        return self._begin()

    def _is_local(self, path: str, device: int) -> bool:
        if device not in self._local:
            self._local[device] = _type_of_file_system(path) in _LOCAL
        return self._local[device]


def _masks(path: str) -> Iterator[tuple[str, int | None]]:
    """Yield the directories above a path, outermost first, and the path, with their events."""
    above = [path]
    while (parent := os.path.dirname(above[-1])) != above[-1]:
        above.append(parent)
    for directory in reversed(above[2:]):
        yield directory, _ABOVE
    for directory in above[1:2]:
        yield directory, _PARENT
    yield path, None


def _type_of_file_system(path: str) -> int | None:
    found = (ctypes.c_long * _STATFS_LONGS)()
    if _libc().statfs(os.fsencode(path), ctypes.byref(found)) != 0:
        return None
    return found[0] & 0xFFFFFFFF


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


@cache
def process_watch() -> ChangeWatch:
    """Return the watch of this process."""
    watch = ChangeWatch()
    os.register_at_fork(after_in_child=watch.reset)
    return watch
