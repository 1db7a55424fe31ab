"""Builds the seccomp filter of system calls for a sandbox.

Namespaces do not isolate every kernel interface. The filter refuses those that bypass them, and
those that are only useful to attack the kernel. `seccomp.toml` lists them.
"""

from __future__ import annotations

import errno
import os
import platform
import socket
import stat
import struct
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any

__all__ = ["call_number", "connect_program", "seccomp_program"]

# linux/bpf_common.h, linux/filter.h
_LOAD = 0x20
_JUMP_IF_EQUAL = 0x15
_JUMP_IF_AT_LEAST = 0x35
_JUMP_IF_ANY_BIT = 0x45
_AND = 0x54
_RETURN = 0x06

# linux/seccomp.h: what a program returns, and where it finds what it examines.
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_KILL_PROCESS = 0x80000000
_NOTIFY = 0x7FC00000
_NUMBER = 0
_ARCHITECTURE = 4
_FIRST_ARGUMENT = 16
_ARGUMENT_BYTES = 8

_X32_BIT = 0x40000000
"""Marks the calls of x86_64's second table, which nobody needs."""

_NEW_NAMESPACES = 0x7E020000
"""linux/sched.h: all the CLONE_NEW flags that clone knows."""

_PUSHES_INPUT = (0x5412, 0x541C)
"""asm-generic/ioctls.h: TIOCSTI and TIOCLINUX put text into a terminal, as if it were typed."""

_SET_ID = stat.S_ISUID | stat.S_ISGID
_DEVICES = (stat.S_IFCHR, stat.S_IFBLK)
_CREATES = os.O_CREAT | 0x400000
"""asm-generic/fcntl.h: the second is O_TMPFILE without O_DIRECTORY."""

_KIND_OF_SOCKET = 0xF
_CONNECTED = (socket.SOCK_STREAM, socket.SOCK_SEQPACKET)
"""A pair of datagram sockets would not do: each can send to any other socket of the host."""

_INTERNET = (socket.AF_INET, socket.AF_INET6, getattr(socket, "AF_NETLINK", 16))


def seccomp_program(
    *,
    network: bool = False,
    sockets: bool = False,
    touching: bool = True,
    signals: bool = True,
    held: bool = False,
    machine: str | None = None,
) -> bytes | None:
    """Return a filter as bwrap's `--seccomp` reads it.

    No filter allows socket families other than IP and UNIX; a hypervisor's, for one, is in no
    namespace.

    Args:
        network: Whether IP sockets can be made.
        sockets: Whether UNIX sockets can be made.
        touching: Whether other processes can be traced or changed.
        signals: Whether signals can be sent to other processes; if not, a program cannot even end
            its own child processes.
        held: Whether IP sockets can be made, and no devices, set-id bits and attributes of files.
        machine: The architecture, as `uname -m` says it; by default, this machine's.

    Returns:
        The filter program, or None for an architecture whose system calls are unknown.
    """
    return _program(network, sockets, touching, signals, held, machine or platform.machine())


def connect_program() -> bytes:
    """Return a filter that tells a supervisor of each `connect`, and refuses nothing.

    It is for machines for which `seccomp_program` has a filter, whose architecture check it does
    not repeat.
    """
    number = call_number("told", "connect")
    told = [_step(_JUMP_IF_EQUAL, number, otherwise=1), _step(_RETURN, _NOTIFY)]
    return b"".join([_step(_LOAD, _NUMBER), *told, _step(_RETURN, _ALLOW)])


def call_number(table: str, name: str) -> int:
    """Return the number of a system call of `seccomp.toml` on this machine."""
    number: int = _table()[table][name][_column(platform.machine())]
    return number


@cache
def _program(
    network: bool, sockets: bool, touching: bool, signals: bool, held: bool, machine: str
) -> bytes | None:
    table = _table()
    architecture = table["audit_architecture"].get(machine)
    if architecture is None:
        return None
    column = _column(machine)
    examined = {name: numbers[column] for name, numbers in table["examined"].items()}
    has_internet = network or sockets or held
    families = [*(_INTERNET if has_internet else ()), *([socket.AF_UNIX] if sockets else ())]
    program = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_JUMP_IF_EQUAL, architecture, then=1),
        _step(_RETURN, _KILL_PROCESS),
        _step(_LOAD, _NUMBER),
        *_refusal(_JUMP_IF_AT_LEAST, _X32_BIT, errno.ENOSYS),
    ]
    refused = ["refused", *(() if touching else ("touching",)), *(() if signals else ("signals",))]
    for numbers in chain.from_iterable(table[name].values() for name in refused):
        if numbers[column] >= 0:
            program += _refusal(_JUMP_IF_EQUAL, numbers[column], errno.EPERM)
    if not touching:
        for *numbers, argument in table["touching_another"].values():
            program += _examine(
                numbers[column], _argument(argument), _only((0,), otherwise=errno.EPERM)
            )
    if held:
        program += _held(table, column)
    # libraries that are told so use clone, whose flags can be seen
    program += _refusal(_JUMP_IF_EQUAL, examined["clone3"], errno.ENOSYS)
    program += _examine(
        examined["clone"],
        _argument(0),
        _refusal(_JUMP_IF_ANY_BIT, _NEW_NAMESPACES, errno.EPERM),
    )
    program += _examine(
        examined["ioctl"],
        _argument(1),
        [step for request in _PUSHES_INPUT for step in _refusal(_JUMP_IF_EQUAL, request, 1)],
    )
    unknown = errno.EAFNOSUPPORT
    program += _examine(examined["socket"], _argument(0), _only(families, otherwise=unknown))
    if not sockets:
        program += _examine(
            examined["socketpair"],
            _argument(0),
            [
                _step(_JUMP_IF_EQUAL, socket.AF_UNIX, then=1),
                _step(_RETURN, _ERRNO | unknown),
                _step(_LOAD, _argument(1)),
                _step(_AND, _KIND_OF_SOCKET),
                *_only(_CONNECTED, otherwise=errno.EPROTONOSUPPORT),
            ],
        )
    return b"".join([*program, _step(_RETURN, _ALLOW)])


def _column(machine: str) -> int:
    return 0 if machine == "x86_64" else 1


def _held(table: dict[str, Any], column: int) -> list[bytes]:
    """Return the instructions for what only held commands are refused."""
    program: list[bytes] = []
    for numbers in table["attributes"].values():
        program += _refusal(_JUMP_IF_EQUAL, numbers[column], errno.ENOTSUP)
    for numbers in table["unseen"].values():
        program += _refusal(_JUMP_IF_EQUAL, numbers[column], errno.ENOSYS)
    set_ids = _refusal(_JUMP_IF_ANY_BIT, _SET_ID, errno.EPERM)
    devices = [_step(_AND, stat.S_IFMT(0xFFFF))]
    for kind in _DEVICES:
        devices += _refusal(_JUMP_IF_EQUAL, kind, errno.EPERM)
    for name, checks in (("modes", set_ids), ("nodes", [*set_ids, *devices])):
        for *numbers, mode in table[name].values():
            if numbers[column] >= 0:
                program += _examine(numbers[column], _argument(mode), checks)
    for *numbers, mode in table["creating"].values():
        if numbers[column] >= 0:
            creating = [
                _step(_JUMP_IF_ANY_BIT, _CREATES, then=1),
                _step(_RETURN, _ALLOW),
                _step(_LOAD, _argument(mode)),
                *set_ids,
            ]
            program += _examine(numbers[column], _argument(mode - 1), creating)
    return program


def _examine(number: int, argument: int, checks: list[bytes]) -> list[bytes]:
    """Return the instructions that check the low half of an argument of one system call."""
    allowed = _step(_RETURN, _ALLOW)
    body = [_step(_LOAD, argument), *checks, allowed]
    return [_step(_JUMP_IF_EQUAL, number, otherwise=len(body)), *body]


def _argument(number: int) -> int:
    return _FIRST_ARGUMENT + number * _ARGUMENT_BYTES


def _only(values: Iterable[int], *, otherwise: int) -> list[bytes]:
    steps: list[bytes] = []
    for value in values:
        steps += [_step(_JUMP_IF_EQUAL, value, otherwise=1), _step(_RETURN, _ALLOW)]
    return [*steps, _step(_RETURN, _ERRNO | otherwise)]


def _refusal(comparison: int, value: int, error: int) -> list[bytes]:
    return [_step(comparison, value, otherwise=1), _step(_RETURN, _ERRNO | error)]


def _step(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    """Return a `struct sock_filter`; the jumps count the instructions to skip."""
    return struct.pack("=HBBI", code, then, otherwise, value)


@cache
def _table() -> dict[str, Any]:
    text = files(__package__).joinpath("seccomp.toml").read_text("utf-8")
    return tomllib.loads(text)
