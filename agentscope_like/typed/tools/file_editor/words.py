"""Says what built-in file tools say with the names that the file editor has for it."""

from __future__ import annotations

import re

__all__ = ["in_own_words", "note_in_own_words"]

_WORDS = (
    (re.compile(r"`old_string`"), "`old_str`"),
    (re.compile(r"`new_string`"), "`new_str`"),
    (re.compile(r", or set `replace_all`"), ""),
    (re.compile(r"To write the whole of (.+), use Write\."), "To make a new file, use `create`."),
    (re.compile(r"Make it with Write, or find it first\."), "Make it with `create`."),
    (re.compile(r"\bRead it first\b"), "View it first"),
    (re.compile(r"\bRead it again\b"), "View it again"),
    (re.compile(r"\bthat Read puts\b"), "that `view` puts"),
    (re.compile(r"Continue with `offset=(\d+)`"), r"Continue with `view_range` [\1, -1]"),
    (re.compile(r"Use a smaller `offset`"), "Use a smaller `view_range`"),
    (re.compile(r"leave `pages` out and use `offset` and `limit`"), "use `view_range`"),
)


def in_own_words(message: str) -> str:
    """Return a message of a built-in file tool for the model that calls the file editor."""
    for pattern, words in _WORDS:
        message = pattern.sub(words, message)
    return message


def note_in_own_words(shown: str) -> str:
    """Return what Read shows, with the note below the lines said so; the lines stay as they are."""
    lines, gap, note = shown.partition("\n\n(")
    return lines + gap + in_own_words(note)
