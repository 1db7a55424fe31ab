"""Reads the journal of a run: what was done, what was not, and what is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from os import PathLike
from pathlib import Path
from typing import Any, Self

from msgspec import Struct
from msgspec.json import decode
from msgspec.structs import replace

from agentscope_like.journal.entry_file import (
    EVENTS,
    PAYLOADS,
    JournalError,
    RawEntry,
    raw_entries,
)

__all__ = ["CallOutcome", "JournalEntry", "RecordedCall", "RecordedRun"]

JournalEntry = RawEntry

_COMMIT = "workspace.commit"


class CallOutcome(StrEnum):
    """What is known of a call.

    Attributes:
        DONE: It ran to its end.
        NOT_DONE: It did not begin.
        UNKNOWN: It began, and its end was not recorded: it may have done all, some, or nothing.
    """

    DONE = "done"
    NOT_DONE = "not_done"
    UNKNOWN = "unknown"


class RecordedCall(Struct, frozen=True):
    """One call of a journal.

    Attributes:
        n: The number of its first entry, which identifies it.
        call_id: The id that the model's provider gave it, which may repeat.
        tool: The canonical name of the tool.
        arguments: The arguments; those that ran, if it ran.
        outcome: What is known of it.
        result: Its result: `state`, `text` and `metadata`; None where it has none.
    """

    n: int
    call_id: str
    tool: str
    arguments: Any
    outcome: CallOutcome = CallOutcome.NOT_DONE
    result: dict[str, Any] | None = None

    @property
    def succeeded(self) -> bool:
        """Return whether it ran, and its result is no error."""
        result = self.result or {}
        return self.outcome is CallOutcome.DONE and result.get("state") == "success"


class RecordedRun(Struct, frozen=True):
    """A journal as it was read.

    Attributes:
        entries: All entries, with the values that are kept in files.
        calls: The calls, in the order in which they were requested.
        state: The state in which the run ended; None where it did not.
    """

    entries: tuple[JournalEntry, ...]
    calls: tuple[RecordedCall, ...]
    state: str | None

    @classmethod
    def read(cls, directory: str | PathLike[str]) -> Self:
        """Read a journal, also one that is being written or whose process was killed.

        Raises:
            JournalError: There is none, or it was damaged.
        """
        path = Path(directory)
        try:
            entries = tuple(_whole(entry, path) for entry, _ in raw_entries(path / EVENTS))
        except OSError as error:
            raise JournalError(f"the journal {path} cannot be read: {error}") from error
        ends = [entry.data.get("state") for entry in entries if entry.type == "run_ended"]
        return cls(entries, tuple(_calls(entries).values()), ends[-1] if ends else None)

    @property
    def commits(self) -> tuple[RecordedCall, ...]:
        """Return the calls that commit; one that ended with an error committed nothing."""
        return tuple(
            replace(call, outcome=CallOutcome.NOT_DONE)
            if call.outcome is CallOutcome.DONE and not call.succeeded
            else call
            for call in self.calls
            if call.tool == _COMMIT
        )


def _calls(entries: tuple[JournalEntry, ...]) -> dict[int, RecordedCall]:
    calls: dict[int, RecordedCall] = {}
    for entry in entries:
        data = entry.data
        number = data.get("call", entry.n)
        known = calls.get(number)
        match entry.type:
            case "call_requested" | "call_refused" if known is None:
                calls[entry.n] = RecordedCall(
                    entry.n,
                    data["call_id"],
                    data["tool"],
                    data.get("arguments"),
                    result=data.get("result"),
                )
            case "call_started" if known is not None:
                calls[number] = replace(
                    known, arguments=data["arguments"], outcome=CallOutcome.UNKNOWN
                )
            case "call_ended" if known is not None:
                calls[number] = replace(known, outcome=CallOutcome.DONE, result=data["result"])
            case "call_refused" if known is not None:
                calls[number] = replace(known, result=data["result"])
            case _:
                pass
    return calls


def _whole(entry: JournalEntry, directory: Path) -> JournalEntry:
    """Return an entry with the values that are kept in files."""
    read = {name: _read(name, value, directory) for name, value in entry.data.items()}
    return replace(entry, data=read)


def _read(name: str, value: Any, directory: Path) -> Any:
    place = PAYLOADS.get(name)
    if place is None or not isinstance(value, Mapping) or "sha256" not in value:
        return value
    file = value.get("file")
    if not isinstance(file, str) or Path(file).parent != Path(place):
        return value
    return decode((directory / file).read_bytes())
