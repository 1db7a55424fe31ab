"""Detects in the output of a command that it was refused something.

The kernel reports a refusal only to the program, so this finds the program's messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from agentscope_like.sandbox.isolation.profile import Profile
from agentscope_like.toml_tables import read_table

__all__ = [
    "Complaint",
    "ComplaintKind",
    "Heard",
    "Violation",
    "find_complaints",
    "find_violation",
]

_MOST_HEARD = 1 << 15
_MOST_LINE = 2_000

ComplaintKind: TypeAlias = Literal[
    "read_only", "unreached", "family", "refused", "daemon", "denied", "missing", "database", "link"
]

_SPEAKER = re.compile(r"(?:\S*/)?([^\s/:]+): (?:line \d+: (.+): )?")
"""How a program names itself, and bash what it complains of, at the beginning of a line."""

_WHERE_PROGRAMS_STAND = (
    r"(?:^|[;&|({`!]|\b(?:command|do|else|env|exec|execdir|nice|nohup|then|time|xargs)\b)"
)


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The lists of `complaints.toml`, which says what each is."""

    read_only: tuple[str, ...]
    unreached: tuple[str, ...]
    family: tuple[str, ...]
    refused: tuple[str, ...]
    daemon: tuple[str, ...]
    denied: tuple[str, ...]
    missing: tuple[str, ...]
    database: tuple[str, ...]
    link: tuple[str, ...]
    source: tuple[str, ...]
    report: tuple[str, ...]
    words: dict[str, tuple[str, ...]]


class Heard:
    """The beginning and end of a command's output, for `find_complaints`."""

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


class Complaint(Struct, frozen=True):
    """A message of a program that it was refused something.

    Attributes:
        kind: What was refused, by the name of its list in `complaints.toml`.
        line: The line.
        where: The host that it names, if any.
    """

    kind: ComplaintKind
    line: str
    where: str = ""


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
        return Violation("write" if each.kind == "read_only" else "network", each.line.strip())
    return None


def find_complaints(
    kinds: Iterable[ComplaintKind], *, output: str, status: int | None, command: str
) -> Iterator[Complaint]:
    """Yield the messages of these kinds, in their order.

    A message that begins with the name of a program that the command starts always counts. If the
    command failed, so does any other line, unless it tells of such messages rather than being one:
    a line of source, the name of a test, an entry of a log. If source of the output has a message
    of that kind, the command made it itself.

    Args:
        kinds: The kinds to look for.
        output: The command's output, with messages in English.
        status: Its exit status; None after a timeout.
        command: Its text.
    """
    text = output.lower()
    searched = [(kind, _expression(kind)) for kind in kinds if _is_named(kind, text)]
    lines = [line[:_MOST_LINE] for line in output.splitlines()]
    found = [
        (kind, line, match)
        for line in lines
        for kind, expression in searched
        if (match := expression.search(line))
    ]
    source = "\n".join(filter(_expression("source").search, lines)) if found else ""
    made = {kind for kind, _ in searched if _is_named(kind, source.lower())}
    for kind, line, match in found:
        is_said = status != 0 and kind not in made and not _expression("report").search(line)
        if is_said or _is_of_a_program_in(command, line):
            places = filter(None, match.groupdict().values())
            yield Complaint(kind, line.rstrip(), next(places, ""))


def _is_named(kind: ComplaintKind, text: str) -> bool:
    """Return whether a text in lowercase has what messages of a kind have in any case."""
    return any(words in text for words in _table().words[kind])


@cache
def _expression(name: str) -> re.Pattern[str]:
    """Return one expression for a list of the table."""
    numbers = count()
    alternatives = "|".join(f"(?:{each})" for each in asdict(_table())[name])
    named = re.sub(r"\(\?P<where>", lambda _: f"(?P<where_{next(numbers)}>", alternatives)
    return re.compile(named, re.IGNORECASE)


@cache
def _table() -> _Table:
    return read_table(Path(__file__).with_name("complaints.toml"), _Table)


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
