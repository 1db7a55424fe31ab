"""Writes the journal of a run."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from msgspec.json import Encoder

from agentscope_like.bridge import call_in_thread
from agentscope_like.journal.entry_file import (
    EVENTS,
    PAYLOADS,
    JournalError,
    RawEntry,
    raw_entries,
)
from agentscope_like.observability import SecretMasker

__all__ = ["Journal", "JournalError"]

_LARGE = 16_384
"""The size in bytes from which a value is kept in a file of its own."""

_encode = Encoder(enc_hook=repr, order="deterministic").encode


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Journal:
    """The journal of one run: `events.jsonl` in a directory that only its owner can read.

    Each entry is one line, written by one system call when `write` returns; so it survives the
    death of the process at any moment. Entries are numbered, and their numbers identify them: the
    ids that providers give to calls repeat. Large values are kept in files beside it, which are
    written first. Several processes cannot write one journal. It may be used from any thread.

    Args:
        directory: The directory; made if there is none. An existing journal is continued.
        masker: Masks secrets in all that is written.
        clock: Returns the time, ISO 8601 in UTC.

    Attributes:
        directory: The directory.

    Raises:
        JournalError: It cannot be opened, is not a journal, or another process writes it.
    """

    def __init__(
        self,
        directory: str | PathLike[str],
        *,
        masker: SecretMasker | None = None,
        clock: Callable[[], str] = _now,
    ) -> None:
        self.directory = Path(directory)
        self._masker = masker
        self._clock = clock
        self._lock = threading.Lock()
        self._is_closed = False
        try:
            self._file, self._count = self._opened()
        except OSError as error:
            raise JournalError(f"the journal {self.directory} cannot be opened: {error}") from error

    @property
    def count(self) -> int:
        """Return the number of entries."""
        return self._count

    def write(self, type: str, /, **data: Any) -> int:  # noqa: A002 - the name of its field
        """Write an entry, and return its number.

        Args:
            type: What happened, or is about to.
            data: The facts, as JSON data.

        Raises:
            JournalError: It was not written, or the journal is closed.
        """
        masked = data if self._masker is None else self._masker.mask_value(data)
        with self._lock:
            if self._is_closed:
                raise JournalError(f"the journal {self.directory} is closed")
            number = self._count + 1
            try:
                kept = {name: self._kept(name, value, number) for name, value in masked.items()}
                line = _encode(RawEntry(number, self._clock(), type, kept)) + b"\n"
                self._append(line)
            except OSError as error:
                self._is_closed = True  # what follows half a line could not be read
                raise JournalError(
                    f"the journal {self.directory} cannot be written: {error}"
                ) from error
            self._count = number
        return number

    async def record(self, type: str, /, **data: Any) -> int:  # noqa: A002 - as above
        """Do what `write` does, without blocking the event loop.

        Raises:
            JournalError: As `write`.
        """
        return await call_in_thread(partial(self.write, type, **data))

    def close(self) -> None:
        """Close the file; the journal can be continued by another object."""
        with self._lock:
            self._is_closed = True
            if self._file >= 0:
                os.close(self._file)
                self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.close()

    def _opened(self) -> tuple[int, int]:
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.directory / EVENTS
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(path, flags, 0o600)
        try:
            os.fchmod(file, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise JournalError(
                    f"the journal {self.directory} is being written: close the other one first"
                ) from None
            count = end = 0
            for entry, end in raw_entries(path):  # noqa: B007 - the last ones count
                count = entry.n
            os.ftruncate(file, end)
        except BaseException:
            os.close(file)
            raise
        return file, count

    def _append(self, line: bytes) -> None:
        written = os.write(self._file, line)
        if written != len(line):
            raise OSError(f"only {written} of {len(line)} bytes were written")

    def _kept(self, name: str, value: Any, number: int) -> Any:
        """Return a value as it stands in the entry: a large one is in a file."""
        place = PAYLOADS.get(name)
        if place is None:
            return value
        encoded = _encode(value)
        if len(encoded) < _LARGE:
            return value
        directory = self.directory / place
        directory.mkdir(mode=0o700, exist_ok=True)
        name = f"{place}/{number:06}.json"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(self.directory / name, flags, 0o600), "wb") as file:
            file.write(encoded)
        return {"file": name, "bytes": len(encoded), "sha256": sha256(encoded).hexdigest()}
