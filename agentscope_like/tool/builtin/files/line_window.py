"""Reads a window of a file's lines in one pass, keeping only the window in memory."""

from __future__ import annotations

import codecs
import hashlib
import io

from msgspec import Struct, field

from agentscope_like.state import ReadCacheEntry
from agentscope_like.tool.builtin.file_system import OpenFile
from agentscope_like.tool.builtin.files.text_format import (
    SNIFFED_BYTES,
    TextFormat,
    bom_format,
    not_as_marked,
)
from agentscope_like.tool.builtin.tool_results import CancelCheck

__all__ = ["LineWindow", "read_window"]

MAX_WINDOW_CHARACTERS = 120_000
"""The maximum number of characters in a window, which ends at a line end."""

_CHUNK_BYTES = 1 << 18


class LineWindow(Struct):
    """A window of a file's lines, and facts about the whole file.

    Attributes:
        first: The number of the first line, counted from 1.
        wanted: The maximum number of lines.
        max_characters: The length at which a line is cut.
        lines: The lines, without their ends, each cut.
        lengths: Their full lengths, in characters.
        total: The number of lines in the file.
        full: Whether `MAX_WINDOW_CHARACTERS` ended the window before `wanted` was reached.
        form: The file's encoding.
        entry: The file as read, for the read state.
    """

    first: int
    wanted: int
    max_characters: int
    lines: list[str] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    total: int = 0
    full: bool = False
    form: TextFormat = field(default_factory=TextFormat)
    entry: ReadCacheEntry | None = None
    _open: list[str] = field(default_factory=list)
    _open_length: int = 0
    _size: int = 0

    @property
    def last(self) -> int:
        """Return the number of the last line in the window."""
        return self.first + len(self.lines) - 1

    def feed(self, text: str) -> None:
        r"""Add the next piece of text; its line ends are `\n`."""
        ends = text.count("\n")
        if self._is_past() or self.total + ends + 1 < self.first:
            self._skip(text, ends)
            return
        *complete, rest = text.split("\n")
        for part in complete:
            self._add(part)
            self._end_line()
        self._add(rest)

    def finish(self) -> None:
        """Count a last line that has no end."""
        if self._open_length:
            self._end_line()

    def _is_past(self) -> bool:
        return self.full or self.total >= self.first + self.wanted - 1

    def _skip(self, text: str, ends: int) -> None:
        self.total += ends
        rest = len(text) - text.rfind("\n") - 1
        self._open_length = rest if ends else self._open_length + rest
        if ends:
            self._open.clear()

    def _add(self, part: str) -> None:
        if self._open_length <= self.max_characters:
            self._open.append(part[: self.max_characters - self._open_length])
        self._open_length += len(part)

    def _end_line(self) -> None:
        self.total += 1
        if self.first <= self.total < self.first + self.wanted and not self.full:
            line = "".join(self._open)
            self._size += len(line)
            if self._size > MAX_WINDOW_CHARACTERS and self.lines:
                self.full = True
            else:
                self.lines.append(line)
                self.lengths.append(self._open_length)
        self._open.clear()
        self._open_length = 0


def read_window(
    file: OpenFile, path: str, shown: str, window: LineWindow, cancel_check: CancelCheck
) -> LineWindow:
    r"""Fill the window from an open file; `\r\n`, `\r` and `\n` each end a line.

    Args:
        file: The file at its beginning; it is read to its end.
        path: Its resolved path, for the read state.
        shown: Its path as the model wrote it.
        window: An empty window.
        cancel_check: Called between pieces.

    Raises:
        FileToolError: The file is not in the encoding of its byte order mark.
        OSError: It cannot be read.
    """
    form = bom_format(file.stream.read(SNIFFED_BYTES) or b"") or TextFormat()
    try:
        return _read(file, path, _empty(window, form), cancel_check)
    except UnicodeDecodeError:
        if form.codec != "utf-8":
            raise not_as_marked(form, shown) from None
    form = TextFormat("latin-1", guessed=True)
    return _read(file, path, _empty(window, form), cancel_check)


def _empty(window: LineWindow, form: TextFormat) -> LineWindow:
    return LineWindow(window.first, window.wanted, window.max_characters, form=form)


def _read(file: OpenFile, path: str, window: LineWindow, cancel_check: CancelCheck) -> LineWindow:
    hasher = hashlib.sha256()
    decoder = io.IncrementalNewlineDecoder(
        codecs.getincrementaldecoder(window.form.codec)(), translate=True
    )
    file.stream.seek(0)
    size = 0
    mark = len(window.form.bom)
    while chunk := file.stream.read(_CHUNK_BYTES):
        cancel_check()
        hasher.update(chunk)
        window.feed(decoder.decode(chunk[mark:] if size == 0 else chunk))
        size += len(chunk)
    window.feed(decoder.decode(b"", final=True))
    window.finish()
    seen = ((window.first, window.last),) if window.lines else ()
    window.entry = ReadCacheEntry(
        file_path=path,
        digest=hasher.hexdigest(),
        bytes=size,
        updated_at=file.status.modified,
        seen=seen,
    )
    return window
