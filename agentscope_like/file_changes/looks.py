"""Notes which files and directories a result is read from, and says while they are unchanged.

A file's time of change cannot be set by a program: each write renews it, and each name that comes
or goes renews that of its directory. Of one that changed a moment ago the clock is too coarse to
tell. The times are only compared where the kernel has reported a change, or reports none.
"""

from __future__ import annotations

import os
import time

from agentscope_like.file_changes.change_watch import process_watch

__all__ = ["Looks"]

SETTLED_NS = 2_000_000_000
MOST_LOOKS = 1_000


class Looks:
    """The devices, inodes and times of change of all that one result is read from."""

    def __init__(self) -> None:
        self._stamps: dict[str, tuple[int, int, int]] | None = {}
        self._watch = process_watch()
        self._can_be_watched = True
        self._unchanged_at: int | None = None

    def at(self, path: str) -> None:
        """Note a path before it is looked at; links are followed."""
        if self._stamps is None or path in self._stamps:
            return
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            self._stamps = None
            return
        is_settled = time.time_ns() - status.st_ctime_ns > SETTLED_NS
        self._stamps[path] = (status.st_ctime_ns, status.st_ino, status.st_dev)
        if not is_settled or len(self._stamps) > MOST_LOOKS:
            self._stamps = None

    def elsewhere(self) -> None:
        """Note that more is looked at than paths that were noted."""
        self._stamps = None

    @property
    def are_known(self) -> bool:
        """Whether all is noted, and a change of it will show."""
        return self._stamps is not None

    def hold(self) -> bool:
        """Return whether all is as it was."""
        if self._stamps is None:
            return False
        count = self._watch.count() if self._can_be_watched else None
        if count is not None and count == self._unchanged_at:
            return True
        if count is not None and not all(map(self._watch.add, self._stamps)):
            self._can_be_watched = False
        if not self._are_unchanged(self._stamps):
            return False
        self._unchanged_at = count if self._can_be_watched else None
        return True

    def _are_unchanged(self, stamps: dict[str, tuple[int, int, int]]) -> bool:
        stat = os.stat
        try:
            for path, (changed, inode, device) in stamps.items():
                now = stat(path)
                if now.st_ctime_ns != changed or now.st_ino != inode or now.st_dev != device:
                    return False
        except OSError:
            return False
        return True
