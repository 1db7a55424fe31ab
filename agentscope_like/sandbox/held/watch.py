"""Watches what a held command takes of the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from msgspec import Struct

from agentscope_like.sandbox.isolation import family_of

__all__ = ["HeldLimits", "Watch"]

_KILOBYTE = 1 << 10
_BLOCK = 512
_GIGABYTE = 1 << 30


class HeldLimits(Struct, frozen=True, kw_only=True):
    """What a held command may take.

    Address space is not limited: node and the JVM reserve many times what they use.

    Attributes:
        memory_bytes: Memory of all its processes, files in `/dev/shm` not counted.
        processes: Its processes and threads.
        disk_bytes: What it may write in all.
        file_bytes: Maximum size of a file that it writes; the kernel refuses more.
    """

    memory_bytes: int = 4 * _GIGABYTE
    processes: int = 2048
    disk_bytes: int = 8 * _GIGABYTE
    file_bytes: int = 2 * _GIGABYTE


class Watch:
    """Watches one held command.

    Args:
        limits: What it may take.
        folders: Where what it writes is kept.
    """

    def __init__(self, limits: HeldLimits, folders: Sequence[str]) -> None:
        self._limits = limits
        self._folders = folders
        self._free = _free(folders)

    def excess(self, first_process: int) -> str | None:
        """Return why the command has to be ended, or None; blocks for some milliseconds.

        Args:
            first_process: The first process of its namespace, all others descend from.
        """
        limits = self._limits
        processes, threads = family_of(first_process, limits.processes)
        if threads > limits.processes:
            return f"it had more than {limits.processes:,} processes and threads at a time"
        # what processes share counts for each in the first number, which is quick to get
        most = limits.memory_bytes
        if sum(map(_anonymous, processes)) > most < sum(map(_proportional, processes)):
            return f"it used more than {most >> 20:,} MB of memory"
        taken = any(
            before - now > limits.disk_bytes
            for before, now in zip(self._free, _free(self._folders), strict=True)
        )
        if taken and sum(map(_size, self._folders)) > limits.disk_bytes:
            return f"it wrote more than {limits.disk_bytes >> 20:,} MB"
        return None


def _anonymous(pid: int) -> int:
    return _field(pid, "status", "RssAnon:")


def _proportional(pid: int) -> int:
    return _field(pid, "smaps_rollup", "Pss:")


def _field(pid: int, file_name: str, field: str) -> int:
    """Return a number of bytes that the kernel tells of a process; 0 if it has ended."""
    try:
        with open(f"/proc/{pid}/{file_name}") as file:
            for line in file:
                if line.startswith(field):
                    return int(line.split()[1]) * _KILOBYTE
    except (OSError, ValueError):
        return 0
    return 0


def _free(folders: Sequence[str]) -> list[int]:
    found = [os.statvfs(each) for each in folders]
    return [each.f_bfree * each.f_frsize for each in found]


def _size(folder: str) -> int:
    return sum(each.st_blocks * _BLOCK for each in _below(folder))


def _below(folder: str) -> Iterator[os.stat_result]:
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    yield entry.stat(follow_symlinks=False)
        except OSError:
            continue
