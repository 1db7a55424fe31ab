"""Defines `Read`, the tool that reads a file."""

from __future__ import annotations

import base64
import os
import posixpath
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from typing_extensions import override

from agentscope_like.exception import ConfigurationError
from agentscope_like.message import Base64Source, DataBlock, TextBlock, ToolChunk, ToolResultState
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.nearest import nearest
from agentscope_like.paths import FileKind, Location
from agentscope_like.state import AgentState, ReadCacheEntry
from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.file_system import (
    Files,
    OpenFile,
    ReadingTool,
    explain,
    require_file,
    whole,
)
from agentscope_like.tool.builtin.files.line_window import LineWindow, read_window
from agentscope_like.tool.builtin.files.pdf_pages import PageRange, pdf_text
from agentscope_like.tool.builtin.files.read_record import remember
from agentscope_like.tool.builtin.files.text_format import SNIFFED_BYTES, is_binary
from agentscope_like.tool.builtin.tool_results import CancelCheck, failed, succeeded

if TYPE_CHECKING:
    from agentscope_like.sandbox import SandboxHandle

__all__ = ["Read"]

MAX_LINES = 2000
"""The maximum number of lines in one result (contract, Read's input schema)."""

MAX_MEDIA_BYTES = 10 * 1024 * 1024
"""The maximum size, in bytes, of an image or document for a model."""

PDF = "application/pdf"

_MEDIA_TYPES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", PDF),
)

_BINARY_KINDS = (
    (b"\x7fELF", "an ELF program or library"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ", "xz data"),
    (b"(\xb5/\xfd", "zstd data"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program"),
    (b"MZ", "a Windows program"),
)


class Read(ReadingTool):
    """Shows a file's lines with their numbers, or an image (seed 002, "File Tools").

    Args:
        max_line_characters: The length at which a line is cut (default 2000).
        model_input_types: What the model accepts besides text, as media types or their families
            (`image/png`, `image`, `application/pdf`); by default images but no documents.
        middlewares: Layers around `call`.
        backend: The sandbox where the files are; by default they are on this host.
        cwd: The base of relative paths; the process's by default, or the
            sandbox's workspace.

    Raises:
        ConfigurationError: `max_line_characters` is below 1.
    """

    name = "Read"
    is_state_injected = True
    input_schema = {  # noqa: RUF012
        "type": "object",
        "properties": {
            "file_path": {
                "type": "string",
                "description": "The file: absolute, or relative to the working directory.",
            },
            "offset": {
                "type": "integer",
                "minimum": 1,
                "default": 1,
                "description": "The number of the first line to show.",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_LINES,
                "default": MAX_LINES,
                "description": "How many lines to show at most.",
            },
            "pages": {
                "anyOf": [{"type": "string"}, {"type": "null"}],
                "default": None,
                "description": "The pages of a PDF document to show, such as 3 or 1-5; at most 20.",
            },
        },
        "required": ["file_path"],
    }

    def __init__(
        self,
        max_line_characters: int = 2000,
        model_input_types: Sequence[str] | None = None,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
        backend: SandboxHandle | None = None,
        *,
        cwd: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(cwd=cwd, middlewares=middlewares, backend=backend)
        if max_line_characters < 1:
            raise ConfigurationError(
                f"`max_line_characters` is {max_line_characters}: a line is cut after 1 or more"
            )
        self.max_line_characters = max_line_characters
        self.model_input_types = ("image",) if model_input_types is None else (*model_input_types,)

    @property
    def description(self) -> str:  # type: ignore[override]
        """Return the description for the model, with the media types that it accepts."""
        described = (
            "Shows the lines of a text file with their numbers. Up to 2000 lines are shown; use "
            "`offset` and `limit` for others. The numbers and the tab after them are not part of "
            "the file. Write and Edit need a file to have been read first."
        )
        if self._takes("image/png"):
            described += " Images are handed over as they are."
        if self._takes(PDF):
            described += " PDF documents are handed over as they are, or the text of `pages`."
        else:
            described += (
                " Of a PDF document, the text is shown; one of more than 10 pages needs `pages`."
            )
        return described

    @override
    async def call(
        self,
        file_path: str,
        offset: int = 1,
        limit: int = MAX_LINES,
        pages: str | None = None,
        _agent_state: AgentState | None = None,
        _decision_basis: str | None = None,
    ) -> ToolChunk:
        """Show the file.

        Args:
            file_path: The file, absolute or relative to `cwd`.
            offset: The first line, counted from 1.
            limit: The maximum number of lines, up to 2000.
            pages: The pages of a PDF document whose text is shown, as "3" or "1-5".
            _agent_state: Records that the file was read.
            _decision_basis: Where its path led when the call was decided.
        """
        window = LineWindow(max(1, offset), max(1, min(limit, MAX_LINES)), self.max_line_characters)
        try:
            chunk, entry = await self._files.work(
                lambda files, cancel_check: self._read(
                    files,
                    self.located(files, {"file_path": file_path}, _decision_basis),
                    window,
                    pages,
                    cancel_check,
                )
            )
        except FileToolError as error:
            return failed(error.message)
        if _agent_state is not None:
            remember(_agent_state, entry)
        return chunk

    def _read(
        self,
        files: Files,
        location: Location,
        window: LineWindow,
        pages: str | None,
        cancel_check: CancelCheck,
    ) -> tuple[ToolChunk, ReadCacheEntry]:
        file_path = location.written
        require_file(files, location)
        if location.kind is FileKind.MISSING:
            raise _missing(files, location)
        try:
            with files.open(location) as file:
                start = file.stream.read(SNIFFED_BYTES) or b""
                media_type = _media_type(start)
                if media_type == PDF and (pages is not None or not self._takes(PDF)):
                    return _pages(location, file, pages, cancel_check)
                if media_type:
                    return self._media(location, file, media_type, pages)
                if pages is not None:
                    raise FileToolError(
                        f"{file_path} has no pages: leave `pages` out and use `offset` and `limit`."
                    )
                if is_binary(start):
                    raise _binary(file_path, start, file.status.st_size)
                file.stream.seek(0)
                window = read_window(file, location.resolved, file_path, window, cancel_check)
        except OSError as error:
            raise explain(error, file_path) from None
        if window.entry is None:
            raise FileToolError(f"{file_path} could not be read to its end. Call again.")
        return _shown(file_path, window), window.entry

    def _media(
        self, location: Location, file: OpenFile, media_type: str, pages: str | None
    ) -> tuple[ToolChunk, ReadCacheEntry]:
        shown = location.written
        if not self._takes(media_type):
            raise FileToolError(
                f"{shown} is {media_type}, which cannot be shown here. Ask the user what is in it."
            )
        if pages is not None:
            raise FileToolError(f"{shown} is handed over whole: leave `pages` out.")
        size = file.status.st_size
        if size > MAX_MEDIA_BYTES:
            raise FileToolError(
                f"{shown} is {media_type} of {size:,} bytes, over the {MAX_MEDIA_BYTES:,} that can "
                "be handed over. Make it smaller first."
            )
        file.stream.seek(0)
        content = whole(file, shown)
        data = base64.b64encode(content.data).decode("ascii")
        block = DataBlock(
            source=Base64Source(data=data, media_type=media_type),
            name=posixpath.basename(location.resolved),
        )
        text = TextBlock(text=f"{shown} ({media_type}, {size:,} bytes):")
        chunk = ToolChunk(content=[text, block], state=ToolResultState.SUCCESS)
        return chunk, content.entry(location.resolved)

    def _takes(self, media_type: str) -> bool:
        family = media_type.partition("/")[0]
        return not {media_type, family, f"{family}/*"}.isdisjoint(self.model_input_types)


def _pages(
    location: Location, file: OpenFile, pages: str | None, cancel_check: CancelCheck
) -> tuple[ToolChunk, ReadCacheEntry]:
    wanted = PageRange.parse(pages)
    file.stream.seek(0)
    content = whole(file, location.written)
    text = pdf_text(location.written, content.data, wanted, cancel_check)
    return succeeded(text), content.entry(location.resolved)


def _media_type(start: bytes) -> str | None:
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _MEDIA_TYPES if start.startswith(magic)), None)


def _missing(files: Files, location: Location) -> FileToolError:
    directory, name = posixpath.split(location.resolved)
    (entries,) = files.list([directory])
    names = [entry.name for entry in islice(entries or (), 1000)]
    return FileToolError(
        f"{location.written} does not exist{nearest(name, names) or '.'} Look for it with Glob."
    )


def _binary(shown: str, start: bytes, size: int) -> FileToolError:
    kind = next((kind for magic, kind in _BINARY_KINDS if start.startswith(magic)), "binary data")
    return FileToolError(
        f"{shown} is {kind} of {size:,} bytes, not text. Look at it with a program through the "
        "shell, such as `file` or `xxd`."
    )


def _shown(shown: str, window: LineWindow) -> ToolChunk:
    notes = [window.form.note] if window.form.note else []
    if not window.total:
        text = f"({shown} is empty.)"
    elif not window.lines:
        lines = "line" if window.total == 1 else "lines"
        raise FileToolError(
            f"{shown} has {window.total:,} {lines}; there is no line {window.first:,}. "
            "Use a smaller `offset`."
        )
    else:
        text = "\n".join(
            _numbered(number, line, length)
            for number, (line, length) in enumerate(
                zip(window.lines, window.lengths, strict=True), window.first
            )
        )
    if window.lines and window.last < window.total:
        notes.append(
            f"Lines {window.first:,} to {window.last:,} of {window.total:,}. "
            f"Continue with `offset={window.last + 1}`."
        )
    return ToolChunk(
        content=[TextBlock(text=text + "".join(f"\n\n({note})" for note in notes))],
        state=ToolResultState.SUCCESS,
        metadata={"total_lines": window.total},
    )


def _numbered(number: int, line: str, length: int) -> str:
    cut = f" [cut: {length:,} characters in all]" if length > len(line) else ""
    return f"{number:6d}\t{line}{cut}"
