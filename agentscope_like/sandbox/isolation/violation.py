"""Recognises that a command tried more than its profile allows."""

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
    """The first and the last of what a command says, for `find_violation`."""

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
        """Return it, as far as it is text."""
        return (self._first + self._last).decode(errors="replace")


class Violation(Struct, frozen=True):
    """What a command tried, and could not, beyond what was decided.

    Attributes:
        kind: Whether it tried to write, or to reach somebody.
        evidence: The line in which a program complained.
    """

    kind: Literal["write", "network"]
    evidence: str

    @property
    def message(self) -> str:
        """Return what the result of the call says."""
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
    """Return what a command tried beyond its profile, as far as its programs complained of it.

    The kernel refuses without telling anybody but the program, so this reads what that said. Of a
    command that succeeded only those complaints are believed that are of its own programs: it may
    have printed a file that tells of others.

    Args:
        profile: What it was allowed.
        status: Its exit status; None where its time was up.
        output: What it said, with the messages of its programs in English.
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
    """Return whether a line looks like a complaint of a program that the command starts.

    Of bash, which every command is run by, it has to be about a word of the command.
    """
    spoken = _SPEAKER.match(line)
    if spoken is None:
        return False
    program, word = spoken.groups()
    if word is not None:
        return program == "bash" and word in command
    start = rf"{_WHERE_PROGRAMS_STAND}\s*(?:[\w./~-]*/)?{re.escape(program)}(?![\w.-])"
    return re.search(start, command, re.MULTILINE) is not None
