"""Telling that a command tried more than its profile allows."""

from __future__ import annotations

import errno
import os
import re
from functools import cache
from typing import Literal

from msgspec import Struct

from agentscope_like.sandbox.profile import Profile

__all__ = ["Heard", "Violation", "find_violation"]

_MOST_HEARD = 1 << 15


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


def find_violation(profile: Profile, status: int | None, output: str) -> Violation | None:
    """Return what a command tried beyond its profile, as far as its programs complained of it.

    The kernel refuses without telling anybody but the program, so this reads what that said: of a
    command that succeeded, nothing is believed, since it may have printed a file about such things.

    Args:
        profile: What it was allowed.
        status: Its exit status; None where its time was up.
        output: What it said, in English: its environment should have `LC_ALL=C.UTF-8`.
    """
    if status == 0:
        return None
    writes, reaches = _complaints()
    searched: list[tuple[Literal["write", "network"], re.Pattern[str]]] = [("write", writes)]
    if not profile.network:
        searched.append(("network", reaches))
    for line in output.splitlines():
        for kind, pattern in searched:
            if pattern.search(line):
                return Violation(kind, line.strip())
    return None


@cache
def _complaints() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return how programs complain that they cannot write, and that they cannot reach anybody."""
    read_only = re.escape(os.strerror(errno.EROFS))
    unreached = (
        os.strerror(errno.ENETUNREACH),
        os.strerror(errno.EAFNOSUPPORT),
        "Could not resolve host",
        "Name or service not known",
        "Temporary failure in name resolution",
    )
    return (
        re.compile(rf"{read_only}['\")]*$|\[Errno {errno.EROFS}\]|\bEROFS\b"),
        re.compile("|".join(map(re.escape, unreached))),
    )
