"""Cuts the part out of a text that a model asked for, or refuses what is too long."""

from __future__ import annotations

from msgspec import Struct

from agentscope_like.exception import RecoverableToolError

__all__ = [
    "MOST_PER_CALL",
    "MOST_PER_TEXT",
    "Range",
    "ReadErrors",
    "TextPart",
    "check_total",
    "part_of",
]

MOST_PER_TEXT = 8_000
"""The most characters of one text, or of a part of one (seed 001, "chat.read_messages")."""

MOST_PER_CALL = 20_000
"""The most characters of one call."""


class ReadErrors(Struct, frozen=True):
    """The codes of a tool's errors.

    Attributes:
        invalid_range: A part that the text does not have.
        too_large: A part, or all parts together, over the limits.
    """

    invalid_range: str
    too_large: str


class Range(Struct, frozen=True):
    """Which part of a text is wanted.

    Attributes:
        start_char: The first character, from 0; None for the beginning.
        max_chars: The most characters; None for all to the end.
    """

    start_char: int | None = None
    max_chars: int | None = None


class TextPart(Struct, frozen=True):
    """A part of a text.

    Attributes:
        text: The characters.
        start: The first one, from 0.
        total: How many the whole text has.
    """

    text: str
    start: int
    total: int

    def facts(self) -> dict[str, int | str]:
        """Return the part as a result tells it."""
        end = self.start + len(self.text)
        return {
            "text": self.text,
            "start_char": self.start,
            "end_char": end,
            "total_chars": self.total,
        }


def part_of(text: str, wanted: Range, *, what: str, errors: ReadErrors) -> TextPart:
    """Return the part of a text that is wanted; nothing is cut silently.

    Args:
        text: The text.
        wanted: The part.
        what: What the text is, for messages.
        errors: The codes of errors.

    Raises:
        RecoverableToolError: The text ends before the part, or the part is over 8,000 characters.
    """
    begin, most = wanted.start_char or 0, wanted.max_chars
    if begin and begin >= len(text):
        raise RecoverableToolError(
            errors.invalid_range,
            f"{what} has {len(text):,} characters, so none at start_char {begin:,}: begin before.",
        )
    if most is not None and most > MOST_PER_TEXT:
        raise RecoverableToolError(
            errors.too_large, f"max_chars is {most:,} and at most {MOST_PER_TEXT:,}: read less."
        )
    part = text[begin:] if most is None else text[begin : begin + most]
    if len(part) > MOST_PER_TEXT:
        raise RecoverableToolError(
            errors.too_large,
            f"{what} has {len(part):,} characters from start_char {begin:,} on, and at most "
            f"{MOST_PER_TEXT:,} are read at once: give start_char and max_chars.",
        )
    return TextPart(part, begin, len(text))


def check_total(parts: list[TextPart], errors: ReadErrors) -> None:
    """Refuse a call that would return over 20,000 characters.

    Raises:
        RecoverableToolError: It would.
    """
    total = sum(len(part.text) for part in parts)
    if total > MOST_PER_CALL:
        raise RecoverableToolError(
            errors.too_large,
            f"This call would return {total:,} characters, and at most {MOST_PER_CALL:,} are "
            "returned by one: read in several calls.",
        )
