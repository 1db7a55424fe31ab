"""Keeps a confined command from opening the host's named pipes and devices for writing.

A read-only mount does not: writing to a pipe changes no file system. Landlock (landlock(7))
refuses to open anything for writing that is not below a path of its rules. It forbids mounts, so it
begins within bubblewrap, by a short script before the command. Where the kernel or the script's
interpreter is missing, pipes that some process has open are hidden instead.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
import platform
import stat
import struct
from collections.abc import Iterable, Mapping
from functools import cache

from agentscope_like.exception import IsolationError

__all__ = [
    "INTERPRETER",
    "environment_before",
    "landlock_words",
    "make_ruleset",
    "open_pipes",
    "works",
]

INTERPRETER = "/usr/bin/perl"
"""What runs the script: most systems have it, it starts in milliseconds and makes system calls."""

_CREATE_RULESET, _ADD_RULE = 444, 445
_ABI_WITH_REFER = 2
_WRITE_FILE, _REFER = 1 << 1, 1 << 13
"""linux/landlock.h. Moving a file to another directory is always refused unless it is a right."""

_BELOW_PATH = 1
_CLOSE = {"x86_64": 3, "aarch64": 57}
_MOST_PROCESSES = 2000

_OF_INTERPRETER = "PERL"
_KEPT = "AGENTSCOPE_LIKE_KEPT_"

_SCRIPT = rf"""
my ($rules, $close, $rights, $alive, $count) = map {{ $_ + 0 }} splice @ARGV, 0, 5;
for my $own (splice @ARGV, 0, $count) {{
    open(my $place, '<', $own) or opendir($place, $own) or next;
    my $rule = pack('Ql', $rights, fileno $place);
    syscall(445, $rules, 1, $rule, 0) == 0 or exit 126;
}}
syscall(446, $rules, 0) == 0 or exit 126;
syscall($close, $rules);
if ($alive >= 0) {{
    my $ended = '';
    vec($ended, $alive, 1) = 1;
    exit 126 if select $ended, undef, undef, 0;
    syscall($close, $alive);
}}
delete $ENV{{PERL_BADLANG}};
for my $kept (grep {{ /^{_KEPT}/ }} keys %ENV) {{
    $ENV{{substr $kept, {len(_KEPT)}}} = delete $ENV{{$kept}};
}}
exec {{$ARGV[0]}} @ARGV or exit 127;
"""


@cache
def works() -> bool:
    """Return whether the kernel and the interpreter are there."""
    if platform.machine() not in _CLOSE or not os.access(INTERPRETER, os.X_OK):
        return False
    version = _libc().syscall(_CREATE_RULESET, None, 0, 1)
    return int(version) >= _ABI_WITH_REFER


def make_ruleset(writable: Iterable[str]) -> int:
    """Return the descriptor of rules by which only these paths can be opened for writing.

    Raises:
        IsolationError: The kernel refuses.
    """
    rights = struct.pack("Q", _WRITE_FILE | _REFER)
    ruleset = int(_libc().syscall(_CREATE_RULESET, rights, len(rights), 0))
    if ruleset < 0:
        raise IsolationError(f"the kernel makes no Landlock rules: {_error()}")
    try:
        for path in writable:
            _allow(ruleset, path)
    except BaseException:
        os.close(ruleset)
        raise
    return ruleset


def landlock_words(
    ruleset: int, own: Iterable[str], alive: int | None = None, *, first: str = ""
) -> list[str]:
    """Return the words before a command that begin the rules for it.

    Args:
        ruleset: The descriptor, which the command has to inherit.
        own: Paths that exist only within the sandbox, and can be written to as well.
        alive: The descriptor of a pipe that this process holds open, likewise inherited: if it is
            closed by then, the command does not begin.
        first: What the interpreter does before.
    """
    places = list(own)
    close = _CLOSE[platform.machine()]
    rights = _WRITE_FILE | _REFER
    numbers = (ruleset, close, rights, -1 if alive is None else alive, len(places))
    return [INTERPRETER, "-e", first + _SCRIPT, *map(str, numbers), *places]


def environment_before(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a command gets by way of these words: those for its environment.

    Variables of the interpreter, such as PERL5OPT, are renamed until the command begins: they would
    make the interpreter load a file before the rules hold.
    """
    kept = {
        f"{_KEPT}{name}" if name.startswith(_OF_INTERPRETER) else name: value
        for name, value in environment.items()
    }
    return {**kept, "PERL_BADLANG": "0"}


def open_pipes() -> list[str]:
    """Return the named pipes that processes of this host have open, as far as that can be seen."""
    found: dict[str, None] = {}
    for place in glob.glob("/proc/[0-9]*/fd")[:_MOST_PROCESSES]:
        with contextlib.suppress(OSError), os.scandir(place) as descriptors:
            for each in descriptors:
                with contextlib.suppress(OSError):
                    path = os.readlink(each.path)
                    if path.startswith("/") and stat.S_ISFIFO(os.stat(path).st_mode):
                        found[path] = None
    return list(found)


def _allow(ruleset: int, path: str) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        is_directory = stat.S_ISDIR(os.fstat(place).st_mode)
        rights = _WRITE_FILE | (_REFER if is_directory else 0)
        rule = struct.pack("=Qi", rights, place)
        if _libc().syscall(_ADD_RULE, ruleset, _BELOW_PATH, rule, 0) != 0:
            raise IsolationError(f"Landlock takes no rule for {path}: {_error()}")
    finally:
        os.close(place)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _error() -> str:
    return os.strerror(ctypes.get_errno())
