"""Names the files of a journal, and reads the lines of its events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.json import Decoder

from agentscope_like.exception import DeveloperOrientedException

__all__ = ["EVENTS", "PAYLOADS", "JournalError", "RawEntry", "raw_entries"]

EVENTS = "events.jsonl"

PAYLOADS = {
    "arguments": "tool-args",
    "result": "tool-results",
    "response": "model-responses",
}
"""Where large values of an entry are kept, by their field."""


class JournalError(DeveloperOrientedException):
    """A journal cannot be written or read; the run that it belongs to fails."""


class RawEntry(Struct, frozen=True):
    """One line of a journal.

    Attributes:
        n: Its number, the first being 1.
        at: When it was written, ISO 8601 in UTC.
        type: What happened.
        data: The facts; a value that is kept in a file is `{"file": PATH, ...}`.
    """

    n: int
    at: str
    type: str
    data: dict[str, Any]


_decode = Decoder(RawEntry).decode


def raw_entries(path: Path) -> Iterator[tuple[RawEntry, int]]:
    """Yield the entries of a journal with the position of their ends.

    A last line without an end was being written as the process died, and is left out.

    Raises:
        JournalError: A line is not an entry, or its number does not follow.
    """
    end = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                entry = _decode(line)
            except ValueError as error:
                raise JournalError(f"{path}, line {number}, is not an entry: {error}") from error
            if entry.n != number:
                raise JournalError(f"{path}, line {number}, has the number {entry.n}")
            end += len(line)
            yield entry, end
