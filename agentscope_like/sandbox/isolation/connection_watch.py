"""Learns which addresses a confined program tries to connect to, by seccomp notifications.

It is for messages only. The kernel asks at each `connect` and waits for the answer, which is always
to go on; if nobody is left to answer, `connect` fails (ENOSYS), so that no program waits forever.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import socket
import struct
import threading
import time
from collections.abc import Iterator

from msgspec import Struct

from agentscope_like.sandbox.isolation.seccomp import call_number, connect_program

__all__ = ["Attempt", "ConnectionWatch", "telling_script"]

MOST_ATTEMPTS = 32
"""How many addresses are kept."""

MOST_LOOKED_AT = 1_000
"""How many attempts are looked at; later ones only go on."""

_ENDING_SECONDS = 1.0
_PAUSE_SECONDS = 0.0002
"""Between later attempts, so that a program that does nothing else leaves this process its time."""

# linux/seccomp.h
_SET_FILTER = 1
_NEW_LISTENER = 1 << 3
_WAIT_KILLABLE = 1 << 5
_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_GO_ON = 1
_NOTIFICATION = struct.Struct("=QIIiIQ6Q")
_ANSWER = struct.Struct("=QqiI")

_FILTER_STEP_BYTES = 8
_CONTROL_BYTES = 20
"""The size of a message with one descriptor: its length, level, type and the descriptor."""

_MOST_ADDRESS_BYTES = 28
_IPV4_IN_IPV6 = "::ffff:"
_PORT_AND_ADDRESS: dict[int, tuple[int, slice]] = {
    socket.AF_INET: (2, slice(4, 8)),
    socket.AF_INET6: (2, slice(8, 24)),
}


class Attempt(Struct, frozen=True):
    """An attempt to connect.

    Attributes:
        host: The address, as numbers.
        port: The port.
    """

    host: str
    port: int


class ConnectionWatch:
    """Notes the addresses that one program tries to connect to, in a thread, until it is closed."""

    def __init__(self) -> None:
        self._own, self._theirs = socket.socketpair()
        self._closing = os.eventfd(0)
        self._attempts: dict[Attempt, None] = {}
        self._is_told = False
        self._thread = threading.Thread(
            target=self._serve, args=(self._closing,), name="connections", daemon=True
        )
        self._thread.start()

    def take_descriptor(self) -> int:
        """Return the descriptor that the program's script inherits; the caller closes it."""
        return self._theirs.detach()

    def attempts(self) -> tuple[Attempt, ...] | None:
        """Return what it tried to connect to; None if that could not be told.

        Call it once the program has ended; may wait some milliseconds for the kernel.
        """
        self._theirs.close()  # if no script has taken it
        self._thread.join(_ENDING_SECONDS)
        return tuple(self._attempts) if self._is_told else None

    def close(self) -> None:
        """End the thread; calling it again does nothing."""
        if self._closing < 0:
            return
        self._theirs.close()
        with contextlib.suppress(OSError):  # the other end is closed
            self._own.shutdown(socket.SHUT_RDWR)
        closing, self._closing = self._closing, -1
        os.eventfd_write(closing, 1)
        self._thread.join(_ENDING_SECONDS)
        if not self._thread.is_alive():
            self._own.close()
            os.close(closing)

    def _serve(self, closing: int) -> None:
        """Answer the kernel until the program has ended, or this is closed."""
        try:
            _, received, _, _ = socket.recv_fds(self._own, 1, 1, socket.MSG_CMSG_CLOEXEC)
        except OSError:
            return
        for listener in received:
            self._is_told = True
            try:
                self._listen(listener, closing)
            except OSError:
                self._is_told = False
            finally:
                os.close(listener)

    def _listen(self, listener: int, closing: int) -> None:
        waiting = select.poll()
        waiting.register(listener, select.POLLIN)
        waiting.register(closing, select.POLLIN)
        looked_at = 0
        while True:
            ready = dict(waiting.poll())
            if closing in ready or ready.get(listener, 0) & select.POLLHUP:
                return
            notification = bytearray(_NOTIFICATION.size)
            try:
                fcntl.ioctl(listener, _RECEIVE, notification)
            except (FileNotFoundError, InterruptedError):
                continue  # it ended meanwhile
            number, thread, *_, place, length, _, _, _ = _NOTIFICATION.unpack(notification)
            looked_at += 1
            if looked_at > MOST_LOOKED_AT:
                time.sleep(_PAUSE_SECONDS)
            elif len(self._attempts) < MOST_ATTEMPTS:
                self._attempts.update(dict.fromkeys(_addresses(thread, place, length)))
            try:
                fcntl.ioctl(listener, _SEND, _ANSWER.pack(number, 0, 0, _GO_ON))
            except FileNotFoundError:
                continue


def telling_script(descriptor: int) -> str:
    """Return what perl does to have a watch told of what the program after it connects to.

    Args:
        descriptor: That of the watch.
    """
    program = connect_program()
    head = f"{_CONTROL_BYTES}, {socket.SOL_SOCKET}, {socket.SCM_RIGHTS}"
    close, seccomp, sendmsg = (
        call_number("telling", name) for name in ("close", "seccomp", "sendmsg")
    )
    return rf"""
my $steps = pack 'H*', '{program.hex()}';
my $filter = pack 'Sx6P', {len(program) // _FILTER_STEP_BYTES}, $steps;
my $listener = syscall {seccomp}, {_SET_FILTER}, {_NEW_LISTENER | _WAIT_KILLABLE}, $filter;
if ($listener >= 0) {{
    my $byte = 'x';
    my $data = pack 'PQ', $byte, 1;
    my $control = pack 'Qiiix4', {head}, $listener;
    my $message = pack 'QQPQPQQ', 0, 0, $data, 1, $control, length $control, 0;
    syscall {sendmsg}, {descriptor}, $message, 0;
    syscall {close}, $listener;
}}
syscall {close}, {descriptor};
"""


def _addresses(thread: int, place: int, length: int) -> Iterator[Attempt]:
    """Yield the address in the memory of a thread, if it is one of the internet and of others."""
    try:
        memory = os.open(f"/proc/{thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        data = os.pread(memory, min(length, _MOST_ADDRESS_BYTES), place)
    except OSError:
        return
    finally:
        os.close(memory)
    family = int.from_bytes(data[:2], "little")
    where = _PORT_AND_ADDRESS.get(family)
    if where is None or len(data) < where[1].stop:
        return
    start, address = where
    host = socket.inet_ntop(family, data[address]).removeprefix(_IPV4_IN_IPV6)
    yield Attempt(host, int.from_bytes(data[start : start + 2], "big"))
