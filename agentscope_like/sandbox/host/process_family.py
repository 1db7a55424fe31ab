"""Finds and ends every process that descends from one command."""

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
_PARENT_FIELD = 1
_SESSION_FIELD = 3
_START_FIELD = 19
_ENDED = frozenset({b"Z", b"X"})
_HAS_PIDFD = hasattr(os, "pidfd_open")
_PATIENCE_SECONDS = 0.5
_PAUSE_SECONDS = 0.001
_FEW_NUMBERS = 200
_SURE_SECONDS = 0.5


class _Process(Struct, frozen=True):
    """What Linux tells of a process that runs.

    Attributes:
        pid: Its number.
        parent: Its parent's number.
        session: The number of the process that leads its session.
        started: When it started, in ticks since the machine did; with `pid`, no other has it.
    """

    pid: int
    parent: int
    session: int
    started: int


class ProcessFamily:
    """The processes of one command.

    They are identified by the session that the command was started in. Those that left it, such as
    daemons, are identified by a mark in their initial environment, or by their parents; one that
    was found once is remembered. So a process escapes only if it leaves the session, the
    environment and its parents before the next look. This needs `/proc` of Linux; on other systems
    only the process group is reached.

    Args:
        leader: Process id of the shell, which leads the session and its first process group. It
            must not be reaped while this is used, so that no other process gets its id. None if
            it is reaped elsewhere: then only the mark identifies processes.
        mark: What the environment variable `MARK_VARIABLE` of the command ends with.
    """

    def __init__(self, leader: int | None, mark: str) -> None:
        self._leader = leader
        self._mark = mark.encode()
        self._known: dict[int, int] = {}
        self._made_at = time.monotonic()

    def has_session_members(self) -> bool:
        """Return whether others than the leader are still running in the session."""
        numbers = self._numbers_since_leader()
        running = _running() if numbers is None else filter(None, map(_process, numbers))
        return any(self._is_in_session(each) for each in running)

    def _numbers_since_leader(self) -> range | None:
        """Return the numbers given to processes since the leader's; None if many or not known.

        Every process of the session is newer than the leader. Ids are assigned in order, and
        wrapping around takes longer than the time allowed here.
        """
        if self._leader is None or time.monotonic() - self._made_at > _SURE_SECONDS:
            return None
        last = _last_number()
        if last is None or not self._leader <= last <= self._leader + _FEW_NUMBERS:
            return None
        return range(self._leader + 1, last + 1)

    def has_members(self) -> bool:
        """Return whether others than the leader are still running, in any session."""
        return bool(self._members(everyone=True))

    def end(self, number: signal.Signals, *, everyone: bool) -> None:
        """Send the signal to the process group and the session.

        Args:
            number: SIGKILL is sent until none is left, for at most half a second: on a busy machine
                a killed process runs on for a moment, and may fork.
            everyone: Whether processes that left the session get it as well.
        """
        # looked for before their parents end
        members = self._members(everyone=everyone)
        if self._leader is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._leader, number)
        deadline = time.monotonic() + (_PATIENCE_SECONDS if number is signal.SIGKILL else 0)
        while members:
            for each in members:
                _send(each, number)
            if time.monotonic() >= deadline:
                return
            time.sleep(_PAUSE_SECONDS)
            members = self._members(everyone=everyone)

    def _members(self, *, everyone: bool) -> list[_Process]:
        """Return the processes of the family that have not ended, but for the leader."""
        running = list(_running())
        found = {each.pid for each in running if self._is_in_session(each)}
        if everyone:
            found |= {each.pid for each in running if each.pid not in found and self._owns(each)}
            leaders = set() if self._leader is None else {self._leader}
            found |= _descendants(running, found | leaders)
        members = [each for each in running if each.pid in found and each.pid != self._leader]
        self._known = {each.pid: each.started for each in members} | self._known
        return members

    def _is_in_session(self, process: _Process) -> bool:
        return process.session == self._leader != process.pid

    def _owns(self, process: _Process) -> bool:
        return self._known.get(process.pid) == process.started or self._is_marked(process.pid)

    def _is_marked(self, pid: int) -> bool:
        try:
            variables = _read(f"{_PROCESSES}/{pid}/environ").split(b"\0")
        except OSError:
            return False
        name = f"{MARK_VARIABLE}=".encode()
        return any(
            self._mark in variable[len(name) :].split(b":")
            for variable in variables
            if variable.startswith(name)
        )


def _running() -> Iterator[_Process]:
    """Yield the processes that have not ended, but for this one."""
    try:
        names = os.listdir(_PROCESSES)
    except OSError:
        return
    for name in names:
        if name.isdigit() and int(name) != os.getpid() and (process := _process(int(name))):
            yield process


def _last_number() -> int | None:
    """Return the number of the process that was started last; None where it is not known."""
    try:
        with open(f"{_PROCESSES}/loadavg", "rb", buffering=0) as file:
            # some containers cover it by a file of their own, which is not up to date
            if os.fstat(file.fileno()).st_dev != os.stat(_PROCESSES).st_dev:
                return None
            return int(file.read().split()[-1])
    except (OSError, IndexError, ValueError):
        return None


def _process(pid: int) -> _Process | None:
    """Return what is known of a process; None if it has ended."""
    try:
        fields = _read(f"{_PROCESSES}/{pid}/stat").rpartition(b") ")[2].split()
        if fields[_STATE_FIELD] in _ENDED:
            return None
        numbers = (int(fields[at]) for at in (_PARENT_FIELD, _SESSION_FIELD, _START_FIELD))
        return _Process(pid, *numbers)
    except (OSError, IndexError, ValueError):
        return None


def _descendants(running: list[_Process], ancestors: set[int]) -> set[int]:
    """Return the descendants of the ancestors, without these."""
    found: set[int] = set()
    while children := {
        each.pid for each in running if each.parent in ancestors and each.pid not in found
    }:
        found |= children
        ancestors = children
    return found


def _send(process: _Process, number: signal.Signals) -> None:
    """Send the signal to the very process that was found, not to one that took its number."""
    if not _HAS_PIDFD:
        return
    with contextlib.suppress(OSError):
        handle = os.pidfd_open(process.pid)
        try:
            found = _process(process.pid)
            if found is not None and found.started == process.started:
                signal.pidfd_send_signal(handle, number)
        finally:
            os.close(handle)


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read()
