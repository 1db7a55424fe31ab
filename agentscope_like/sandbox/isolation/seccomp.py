"""Builds the seccomp filter of system calls for a sandbox.

Namespaces do not isolate every kernel interface. The filter refuses those that bypass them, and
those that are only useful to attack the kernel. `seccomp.toml` lists them.
"""

from __future__ import annotations

import errno
import platform
import socket
import struct
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any

__all__ = ["seccomp_program"]

# linux/bpf_common.h, linux/filter.h
_LOAD = 0x20
_JUMP_IF_EQUAL = 0x15
_JUMP_IF_AT_LEAST = 0x35
_JUMP_IF_ANY_BIT = 0x45
_RETURN = 0x06

# linux/seccomp.h: what a program returns, and where it finds what it examines.
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_KILL_PROCESS = 0x80000000
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

_INTERNET = (socket.AF_INET, socket.AF_INET6, getattr(socket, "AF_NETLINK", 16))


def seccomp_program(
    *,
    network: bool = False,
    sockets: bool = False,
    touching: bool = True,
    signals: bool = True,
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
        machine: The architecture, as `uname -m` says it; by default, this machine's.

    Returns:
        The filter program, or None for an architecture whose system calls are unknown.
    """
    return _program(network, sockets, touching, signals, machine or platform.machine())


@cache
def _program(
    network: bool, sockets: bool, touching: bool, signals: bool, machine: str
) -> bytes | None:
    table = _table()
    architecture = table["audit_architecture"].get(machine)
    if architecture is None:
        return None
    column = 0 if machine == "x86_64" else 1
    examined = {name: numbers[column] for name, numbers in table["examined"].items()}
    families = [*(_INTERNET if network or sockets else ()), *([socket.AF_UNIX] if sockets else ())]
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
    return b"".join([*program, _step(_RETURN, _ALLOW)])


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
