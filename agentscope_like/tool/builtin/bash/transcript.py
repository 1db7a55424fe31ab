"""Keeps a command's output: the part that is shown, and the file that holds the rest."""

from __future__ import annotations

import codecs
import os
from collections import deque
from collections.abc import Callable
from io import FileIO

__all__ = ["MAX_CHARACTERS", "MAX_FILE_BYTES", "StreamedOutput", "Transcript"]

MAX_CHARACTERS = 30_000
"""The maximum number of characters of output in a result (AgentScope 2.0.10, Bash)."""

HEAD_CHARACTERS = 20_000
"""How many of them are from the beginning of the output; the rest are from its end."""

MAX_FILE_BYTES = 1 << 30
"""The maximum size of the output on disk."""

_TAIL_CHARACTERS = MAX_CHARACTERS - HEAD_CHARACTERS


class Transcript:
    """Collects output and returns the part to show.

    The first 20,000 characters are shown at once. Later output is held back: at the end, its last
    10,000 characters are shown, and if that is not all of it, the full output is in a file. A disk
    that is full costs the file, not the command.

    Args:
        new_file: Returns the path of a file that does not exist yet; called once at most.
    """

    __slots__ = (
        "_decoder",
        "_early",
        "_failure",
        "_file",
        "_file_bytes",
        "_last",
        "_new_file",
        "_seen",
        "_tail",
        "_tail_size",
        "path",
    )

    def __init__(self, new_file: Callable[[], str]) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._new_file = new_file
        self._seen = 0
        self._last = ""
        self._early: list[bytes] = []
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._file: FileIO | None = None
        self._file_bytes = 0
        self._failure: OSError | None = None
        self.path: str | None = None

    def add(self, data: bytes) -> str:
        """Add the next bytes and return the characters to show now; may write to disk.

        Bytes that are not UTF-8 become U+FFFD; an incomplete character waits for its end.
        """
        return self._take(data, self._decoder.decode(data))

    def finish(self) -> str:
        """Return the rest to show, with a note on output that was left out."""
        shown = self._take(b"", self._decoder.decode(b"", final=True))
        self.close()
        hidden = self._seen - MAX_CHARACTERS
        if hidden <= 0:
            return shown + "".join(self._tail)
        tail = "".join(self._tail)[-_TAIL_CHARACTERS:]
        return (
            f"{shown}\n\n[{hidden:,} characters are left out here; {self._whereabouts()}]\n\n{tail}"
        )

    def close(self) -> None:
        """Close the file, if there is one."""
        file, self._file = self._file, None
        if file is not None:
            try:
                file.close()
            except OSError as error:
                self._failure = self._failure or error

    def lose(self, error: Exception) -> None:
        """Note that the file could not be kept; the result says so."""
        self.close()
        self.path, self._file_bytes = None, 0
        self._failure = error if isinstance(error, OSError) else OSError(str(error))

    def touches_disk(self, size: int) -> bool:
        """Return whether adding `size` bytes may write to disk."""
        return self.path is not None or self._seen + size > MAX_CHARACTERS

    @property
    def is_empty(self) -> bool:
        """Return whether there was no output at all."""
        return self._seen == 0

    @property
    def ends_line(self) -> bool:
        """Return whether there was output and it ended with a newline."""
        return self._last == "\n"

    def _take(self, data: bytes, text: str) -> str:
        room = max(0, HEAD_CHARACTERS - self._seen)
        self._seen += len(text)
        self._last = text[-1:] or self._last
        self._save(data)
        self._hold_back(text[room:])
        return text[:room]

    def _hold_back(self, text: str) -> None:
        if not text:
            return
        self._tail.append(text[-_TAIL_CHARACTERS:])
        self._tail_size += len(self._tail[-1])
        while self._tail_size - len(self._tail[0]) >= _TAIL_CHARACTERS:
            self._tail_size -= len(self._tail.popleft())

    def _save(self, data: bytes) -> None:
        """Keep the bytes for the file, or write them once there is more than can be shown."""
        if self._failure is not None:
            return
        if self.path is None:
            self._early.append(data)
            if self._seen <= MAX_CHARACTERS:
                return
        try:
            self._write(data)
        except OSError as error:
            self._failure = error
            self._early.clear()
            self.close()

    def _write(self, data: bytes) -> None:
        if self.path is None:
            path = self._new_file()
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            self._file = os.fdopen(os.open(path, flags, 0o600), "wb", buffering=0)
            self.path = path
            data = b"".join(self._early)
            self._early.clear()
        data = data[: MAX_FILE_BYTES - self._file_bytes]
        while data and self._file is not None:
            written = self._file.write(data)
            self._file_bytes += written
            data = data[written:]

    def _whereabouts(self) -> str:
        if self._failure is not None:
            error = self._failure
            reason = os.strerror(error.errno) if error.errno else str(error)
            if self._file_bytes:
                return f"only the beginning of the output is in {self.path}: {reason}"
            return f"they could not be kept: {reason}"
        if self._file_bytes >= MAX_FILE_BYTES:
            return f"the first {MAX_FILE_BYTES >> 20:,} MiB of the output are in {self.path}"
        return f"the whole output is in {self.path}"


class StreamedOutput(Transcript):
    """Output that is shown whole as it arrives; its reader keeps it."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(lambda: "")

    def touches_disk(self, size: int) -> bool:
        """Return False: nothing is written."""
        del size
        return False

    def _take(self, data: bytes, text: str) -> str:
        del data
        self._seen = min(MAX_CHARACTERS, self._seen + len(text))  # nothing is left out
        self._last = text[-1:] or self._last
        return text
