"""Every process that came of one command, and ending them all."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator

from msgspec import Struct

__all__ = ["MARK_VARIABLE", "ProcessFamily"]

MARK_VARIABLE = "AGENTSCOPE_LIKE_COMMAND"
"""Environment variable by which a process is known to come of a command."""

_PROCESSES = "/proc"
_STATE_FIELD = 0
_SESSION_FIELD = 3
_ENDED = frozenset({b"Z", b"X"})
_HAS_PIDFD = hasattr(os, "pidfd_open")
_PATIENCE_SECONDS = 0.5
_PAUSE_SECONDS = 0.001


class ProcessFamily(Struct, frozen=True):
    """The processes of one command.

    They are known by the session that the command was started in; those that left it, such as
    daemons, by the mark in the environment that they started with. Linux tells both under `/proc`;
    on other systems only the process group is reached.

    Attributes:
        leader: Process id of the shell, which leads the session and its first process group. It
            must not be reaped while this is used, so that no stranger gets its number. None where
            somebody else reaps it: then the mark alone tells.
        mark: What the environment variable `MARK_VARIABLE` of the command ends with.
    """

    leader: int | None
    mark: str

    def has_session_members(self) -> bool:
        """Return whether others than the leader are still running in the session."""
        return next(self._members(everyone=False), None) is not None

    def has_members(self) -> bool:
        """Return whether others than the leader are still running, wherever they went."""
        return next(self._members(everyone=True), None) is not None

    def end(self, number: signal.Signals, *, everyone: bool) -> None:
        """Send the signal to the process group and the session.

        Args:
            number: With SIGKILL, it is sent until nobody is left, for half a second at most: what
                is killed runs on for a moment on a busy machine, and may fork.
            everyone: Whether those that left the session get it as well.
        """
        if self.leader is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.leader, number)
        deadline = time.monotonic() + (_PATIENCE_SECONDS if number is signal.SIGKILL else 0)
        while members := list(self._members(everyone=everyone)):
            for pid in members:
                self._send(pid, number, everyone=everyone)
            if time.monotonic() >= deadline:
                return
            time.sleep(_PAUSE_SECONDS)

    def _members(self, *, everyone: bool) -> Iterator[int]:
        """Yield the processes of the family that have not ended, but for the leader."""
        try:
            names = os.listdir(_PROCESSES)
        except OSError:
            return
        for name in names:
            if name.isdigit():
                pid = int(name)
                if pid not in (self.leader, os.getpid()) and self._owns(pid, everyone=everyone):
                    yield pid

    def _owns(self, pid: int, *, everyone: bool) -> bool:
        try:
            fields = _read(f"{_PROCESSES}/{pid}/stat").rpartition(b") ")[2].split()
            if fields[_STATE_FIELD] in _ENDED:
                return False
            if int(fields[_SESSION_FIELD]) == self.leader:
                return True
            return everyone and self._is_marked(pid)
        except (OSError, IndexError, ValueError):
            return False

    def _is_marked(self, pid: int) -> bool:
        variables = _read(f"{_PROCESSES}/{pid}/environ").split(b"\0")
        name = f"{MARK_VARIABLE}=".encode()
        mine = self.mark.encode()
        return any(
            mine in variable[len(name) :].split(b":")
            for variable in variables
            if variable.startswith(name)
        )

    def _send(self, pid: int, number: signal.Signals, *, everyone: bool) -> None:
        """Send the signal to the very process that was found, not to one that took its number."""
        if not _HAS_PIDFD:
            return
        with contextlib.suppress(OSError):
            handle = os.pidfd_open(pid)
            try:
                if self._owns(pid, everyone=everyone):
                    signal.pidfd_send_signal(handle, number)
            finally:
                os.close(handle)


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read()
