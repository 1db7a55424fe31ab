"""Detects a file's encoding, byte order mark and line endings, and decodes it."""

from __future__ import annotations

import codecs
import re

from msgspec import Struct

from agentscope_like.tool.builtin.file_errors import FileToolError

__all__ = [
    "TextFormat",
    "bom_format",
    "decode",
    "is_binary",
    "line_end_at",
    "line_starts",
    "only_line_end",
]

SNIFFED_BYTES = 8192
"""The number of bytes checked to tell text from binary data."""

LINE_END = re.compile(r"\r\n|\r|\n")


class TextFormat(Struct, frozen=True):
    """An encoding that reproduces a file's bytes exactly.

    Attributes:
        codec: The Python codec, without the mark.
        bom: The file's byte order mark; empty if there is none.
        guessed: Whether the encoding is only assumed: any bytes are valid latin-1.
    """

    codec: str = "utf-8"
    bom: bytes = b""
    guessed: bool = False

    @property
    def note(self) -> str:
        """Return a note for the reader; empty if there is nothing to say."""
        if self.guessed:
            return "The file is not UTF-8; it is shown, and edited, as latin-1."
        if self.codec != "utf-8":
            return f"The file is encoded as {self.codec.upper()}; edits keep that."
        return ""

    def encode(self, text: str, shown: str) -> bytes:
        """Return the bytes of `text` in this format.

        Raises:
            FileToolError: The encoding cannot express a character.
        """
        try:
            return self.bom + text.encode(self.codec)
        except UnicodeEncodeError as error:
            raise _not_encodable(error, self, shown) from None


_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def bom_format(start: bytes) -> TextFormat | None:
    """Return the format of a file's byte order mark, or None."""
    for mark, codec in _MARKS:
        if start.startswith(mark):
            return TextFormat(codec, mark)
    return None


def is_binary(start: bytes) -> bool:
    """Return whether a file with this beginning is binary: it has NUL but no byte order mark."""
    return b"\0" in start[:SNIFFED_BYTES] and bom_format(start) is None


def decode(data: bytes, shown: str) -> tuple[str, TextFormat]:
    """Return a file's text, with its line ends unchanged, and the format to encode it again.

    Raises:
        FileToolError: It is binary, or not in the encoding of its byte order mark.
    """
    if is_binary(data):
        raise FileToolError(f"{shown} is a binary file ({len(data):,} bytes), not text.")
    form = bom_format(data) or TextFormat()
    try:
        return data[len(form.bom) :].decode(form.codec), form
    except UnicodeDecodeError:
        if form.codec != "utf-8":
            raise not_as_marked(form, shown) from None
    form = TextFormat("latin-1", guessed=True)
    return data.decode(form.codec), form


def not_as_marked(form: TextFormat, shown: str) -> FileToolError:
    """Return the error for a file that is not in the encoding of its byte order mark."""
    return FileToolError(
        f"{shown} begins with the byte order mark of {form.codec.upper()} but is not valid in it: "
        "it is damaged, or no text."
    )


def only_line_end(text: str) -> str | None:
    r"""Return the line end that all lines of the text have: `\n`, `\r\n`, `\r`; or None."""
    found = {match[0] for match in LINE_END.finditer(text)} if "\r" in text else set()
    if not found:
        return "\n" if "\n" in text else None
    return found.pop() if len(found) == 1 else None


def line_end_at(text: str, start: int, end: int) -> str:
    r"""Return the line end used at a place: within it, else after it, before it, or `\n`."""
    if "\r" not in text:
        return "\n"
    found = LINE_END.search(text, start, end) or LINE_END.search(text, end)
    return found[0] if found is not None else _last_line_end(text[:start])


def line_starts(text: str) -> list[int]:
    """Return where each line of the text begins, and last where the text ends."""
    starts = [0, *(found.end() for found in LINE_END.finditer(text))]
    return starts if starts[-1] == len(text) else [*starts, len(text)]


def _last_line_end(text: str) -> str:
    at = max(text.rfind("\n"), text.rfind("\r"))
    if at < 0:
        return "\n"
    return "\r\n" if text[at - 1 : at + 1] == "\r\n" else text[at]


def _not_encodable(error: UnicodeEncodeError, form: TextFormat, shown: str) -> FileToolError:
    character = error.object[error.start]
    if "\ud800" <= character <= "\udfff":
        return FileToolError(
            f"The text for {shown} holds half of a surrogate pair (U+{ord(character):04X}) at "
            f"character {error.start}, which no file can hold. Send the whole character."
        )
    return FileToolError(
        f"{shown} is encoded as {form.codec}, which has no {character!r} (character "
        f"{error.start} of the new text). Leave such characters out, or convert the file first."
    )
