"""Detects in the output of a command that it tried more than its profile allows."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from agentscope_like.sandbox.isolation.profile import Profile

__all__ = ["Heard", "Violation", "find_violation"]

_MOST_HEARD = 1 << 15

# EROFS, as told by the C libraries, Python, Node.js, Rust, Perl and SQLite.
_READ_ONLY = re.compile(
    r"read-only file system(?: \(os error 30\)| at .* line \d+\.?)?['\")]*$"
    r"|\[Errno 30\]|\bEROFS\b|attempt to write a readonly database",
    re.IGNORECASE,
)

# EAFNOSUPPORT and ENETUNREACH, as told by two C libraries, and of names that cannot be looked up.
_UNREACHED = re.compile(
    "address family not supported by protocol|network is unreachable|network unreachable"
    "|could not resolve host|name or service not known|temporary failure in name resolution",
    re.IGNORECASE,
)

_SPEAKER = re.compile(r"(?:\S*/)?([^\s/:]+): (?:line \d+: (.+): )?")
"""How a program names itself, and bash what it complains of, at the beginning of a line."""

_WHERE_PROGRAMS_STAND = (
    r"(?:^|[;&|({`!]|\b(?:command|do|else|env|exec|execdir|nice|nohup|then|time|xargs)\b)"
)


class Heard:
    """The beginning and end of a command's output, for `find_violation`."""

    __slots__ = ("_first", "_last")

    def __init__(self) -> None:
        self._first = b""
        self._last = b""

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        room = _MOST_HEARD - len(self._first)
        self._first += data[:room]
        self._last = (self._last + data[max(0, room) :])[-_MOST_HEARD:]

    @property
    def text(self) -> str:
        """Return it as text."""
        return (self._first + self._last).decode(errors="replace")


class Violation(Struct, frozen=True):
    """An attempt of a command that exceeds its decision and was refused by the kernel.

    Attributes:
        kind: Whether it tried to write or to use the network.
        evidence: The line in which a program complained.
    """

    kind: Literal["write", "network"]
    evidence: str

    @property
    def message(self) -> str:
        """Return the message for the result of the call."""
        tried = "write where it" if self.kind == "write" else "use a network that it"
        return (
            f"The command tried to {tried} was not decided to, and the kernel refused: "
            f"{self.evidence!r}. What it had done before stands. Do not try to get around it: if "
            "that has to be done, call a command that plainly says so, or tell the user, who may "
            "run it, or switch confinement off."
        )


def find_violation(
    profile: Profile, status: int | None, output: str, command: str
) -> Violation | None:
    """Return what a command tried beyond its profile, if its error messages show it.

    The kernel reports a refusal only to the program, so this reads the program's messages. If the
    command succeeded, only messages of its own programs count: it may have printed a file with
    messages of others.

    Args:
        profile: Its profile.
        status: Its exit status; None after a timeout.
        output: Its output, with messages in English.
        command: Its text.
    """
    searched: list[tuple[Literal["write", "network"], re.Pattern[str]]] = [("write", _READ_ONLY)]
    if not profile.network:
        searched.append(("network", _UNREACHED))
    for line in output.splitlines():
        for kind, pattern in searched:
            if pattern.search(line) and (status != 0 or _is_of_a_program_in(command, line)):
                return Violation(kind, line.strip())
    return None


def _is_of_a_program_in(command: str, line: str) -> bool:
    """Return whether a line looks like an error message of a program that the command starts.

    A message of bash, which runs every command, has to be about a word of the command.
    """
    spoken = _SPEAKER.match(line)
    if spoken is None:
        return False
    program, word = spoken.groups()
    if word is not None:
        return program == "bash" and word in command
    start = rf"{_WHERE_PROGRAMS_STAND}\s*(?:[\w./~-]*/)?{re.escape(program)}(?![\w.-])"
    return re.search(start, command, re.MULTILINE) is not None
