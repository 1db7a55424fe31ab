"""Reads text files of a workspace, and chooses the part that a call asks for."""

from __future__ import annotations

from bisect import bisect_right

from msgspec import Struct

from agentscope_like.exception import RecoverableToolError
from agentscope_like.tool.builtin.file_system import FileContent
from agentscope_like.workspace.places import Place
from agentscope_like.workspace.workspace import Workspace

__all__ = [
    "MAX_CHARACTERS",
    "MAX_LINES",
    "MAX_WHOLE_BYTES",
    "Part",
    "TextFile",
    "limited",
    "part_of",
    "read_text",
]

MAX_LINES = 1_200
"""Most lines of one read."""

MAX_CHARACTERS = 80_000
"""Most characters of a read of a part."""

MAX_WHOLE_BYTES = 256 * 1024
"""Size of the largest file that is read whole."""


class TextFile(Struct, frozen=True):
    """A text file at one moment.

    Attributes:
        content: Its bytes.
        text: The same as text.
    """

    content: FileContent
    text: str

    def line_starts(self) -> list[int]:
        r"""Return where each line begins; lines end with `\n`."""
        starts = [0] if self.text else []
        position = self.text.find("\n")
        while 0 <= position < len(self.text) - 1:
            starts.append(position + 1)
            position = self.text.find("\n", position + 1)
        return starts


class Part(Struct, frozen=True):
    """A part of a text.

    Attributes:
        start: Its first character.
        end: The position after its last one.
        lines: Where each of its lines begins; None for a part by characters.
        first_line: The number of the first line, from 1.
        line_count: How many lines the whole text has.
    """

    start: int
    end: int
    lines: list[int] | None = None
    first_line: int = 1
    line_count: int = 0


def read_text(workspace: Workspace, place: Place) -> TextFile:
    """Return a text file.

    Raises:
        RecoverableToolError: There is no such file, or it is no text in UTF-8.
    """
    content = workspace.read(place)
    try:
        text = content.data.decode("utf-8")
    except UnicodeDecodeError:
        raise _not_text(place, "is not text in UTF-8") from None
    if "\0" in text:
        raise _not_text(place, "is binary")
    return TextFile(content, text)


def _not_text(place: Place, what: str) -> RecoverableToolError:
    return RecoverableToolError(
        "workspace.not_text", f"{place.relative} {what}: only text in UTF-8 can be used here."
    )


def limited(name: str, value: int, least: int, most: int | None = None) -> int:
    """Return a number that is within its limits.

    Raises:
        RecoverableToolError: It is not; numbers are never changed to fit.
    """
    if isinstance(value, bool) or value < least or (most is not None and value > most):
        bounds = f"at least {least:,}" if most is None else f"from {least:,} to {most:,}"
        raise RecoverableToolError(
            "workspace.invalid_argument", f"{name} is {value:,}: give a number {bounds}."
        )
    return value


def part_of(
    file: TextFile,
    place: Place,
    *,
    start_line: int | None = None,
    line_count: int | None = None,
    start_char: int | None = None,
    max_chars: int | None = None,
) -> Part:
    """Return the part of a file that a call asks for: the whole, some lines, or some characters.

    Raises:
        RecoverableToolError: It is out of the file, too large, or asked for in both ways.
    """
    by_line = start_line is not None or line_count is not None
    by_character = start_char is not None or max_chars is not None
    if by_line and by_character:
        raise RecoverableToolError(
            "workspace.invalid_range",
            "Lines and characters cannot be mixed: give start_line and line_count, or start_char "
            "and max_chars.",
        )
    if by_character:
        return _characters(file, place, start_char, max_chars)
    if by_line:
        return _lines(file, place, start_line, line_count)
    return _whole(file, place)


def _whole(file: TextFile, place: Place) -> Part:
    starts = file.line_starts()
    size = len(file.content.data)
    if size > MAX_WHOLE_BYTES or len(starts) > MAX_LINES:
        raise RecoverableToolError(
            "workspace.read_too_large",
            f"{place.relative} has {size:,} bytes in {len(starts):,} lines, and a file is read "
            f"whole up to {MAX_WHOLE_BYTES:,} bytes and {MAX_LINES:,} lines: read it in parts, "
            "with start_line and line_count, or with start_char and max_chars.",
        )
    return Part(0, len(file.text), starts, 1, len(starts))


def _lines(file: TextFile, place: Place, start_line: int | None, line_count: int | None) -> Part:
    first = limited("start_line", 1 if start_line is None else start_line, 1)
    count = limited("line_count", MAX_LINES if line_count is None else line_count, 1, MAX_LINES)
    starts = file.line_starts()
    if first > max(len(starts), 1):
        raise _outside(place, f"start_line is {first:,}", f"{len(starts):,} lines")
    chosen = starts[first - 1 : first - 1 + count]
    start = chosen[0] if chosen else 0
    after = bisect_right(starts, chosen[-1]) if chosen else 0
    end = starts[after] if after < len(starts) else len(file.text)
    if end - start > MAX_CHARACTERS:
        raise RecoverableToolError(
            "workspace.read_too_large",
            f"These lines of {place.relative} have {end - start:,} characters, and at most "
            f"{MAX_CHARACTERS:,} are read at once: read fewer lines, or a part of them with "
            f"start_char={start} and max_chars.",
        )
    return Part(start, end, chosen, first, len(starts))


def _characters(
    file: TextFile, place: Place, start_char: int | None, max_chars: int | None
) -> Part:
    start = limited("start_char", 0 if start_char is None else start_char, 0)
    most = MAX_CHARACTERS if max_chars is None else max_chars
    limited("max_chars", most, 1, MAX_CHARACTERS)
    if start and start >= len(file.text):
        raise _outside(place, f"start_char is {start:,}", f"{len(file.text):,} characters")
    return Part(start, min(start + most, len(file.text)))


def _outside(place: Place, given: str, there: str) -> RecoverableToolError:
    return RecoverableToolError(
        "workspace.invalid_range", f"{given}, and {place.relative} has {there}."
    )
