"""Detects in the output of a command that it tried more than its profile allows."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from agentscope_like.sandbox.isolation.complaints import ComplaintKind, find_complaints
from agentscope_like.sandbox.isolation.profile import Profile

__all__ = ["Violation", "find_violation"]


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

    Args:
        profile: Its profile.
        status: Its exit status; None after a timeout.
        output: Its output, with messages in English.
        command: Its text.
    """
    kinds: tuple[ComplaintKind, ...] = (
        "read_only",
        *(() if profile.network else ("unreached", "family")),
    )
    for each in find_complaints(kinds, output=output, status=status, command=command):
        return Violation("write" if each.kind == "read_only" else "network", each.line)
    return None
