"""Refuses command text that is too long, or has control or invisible characters."""

from __future__ import annotations

import re
import unicodedata

from agentscope_like.shell.syntax.tree import Doubt, Span

__all__ = ["MAXIMUM_LENGTH", "MAXIMUM_WORDS", "check_text"]

MAXIMUM_LENGTH = 10_000
"""Longest command, in characters, that is read at all (docs/design/commands.md, "Gate")."""

MAXIMUM_WORDS = 2_500
"""Most words between blanks of a command that is read at all; what reading takes grows by them."""

_ASCII_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")

_REFUSED_CATEGORIES = {
    "Cc": "a control character",
    "Cf": "an invisible formatting character",
    "Cs": "a lone surrogate",
    "Zl": "an exotic line separator",
    "Zp": "an exotic paragraph separator",
    "Zs": "an exotic blank",
}

_BLANK_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters that Unicode does not class as blanks although they show as one."""

_CONTROL_NAMES = {"\0": "a NUL character", "\r": "a carriage return", "\x1b": "an escape character"}


def check_text(command: str) -> Doubt | None:
    """Return why a command's text must not be parsed at all, or None.

    Returns:
        The first doubt: text over 10,000 characters or 2,500 words, a leading `-` (which the shell
        would take for its own options), control characters other than tab and newline,
        bidirectional and zero-width characters, exotic blanks, lone surrogates
        (docs/design/commands.md, "Gate").
    """
    if len(command) > MAXIMUM_LENGTH:
        message = (
            f"The command is {len(command):,} characters long; "
            f"commands over {MAXIMUM_LENGTH:,} are not read."
        )
        return Doubt(message, Span(0, len(command)))
    if len(command) > 2 * MAXIMUM_WORDS and (words := len(command.split())) > MAXIMUM_WORDS:
        message = (
            f"The command is {words:,} words long; commands over {MAXIMUM_WORDS:,} are not read."
        )
        return Doubt(message, Span(0, len(command)))
    if command.startswith("-"):
        return Doubt(
            "The command starts with `-`, which the shell may take for its own options.", Span(0, 1)
        )
    if (control := _ASCII_CONTROL.search(command)) is not None:
        return _hidden(command, control.start(), "a control character")
    if command.isascii():
        return None
    return _check_unicode(command)


def _check_unicode(command: str) -> Doubt | None:
    for offset, character in enumerate(command):
        if character < "\x80":
            continue
        kind = _REFUSED_CATEGORIES.get(unicodedata.category(character))
        if kind is None and character in _BLANK_LETTERS:
            kind = "a letter that shows as a blank"
        if kind is not None:
            return _hidden(command, offset, kind)
    return None


def _hidden(command: str, offset: int, kind: str) -> Doubt:
    character = command[offset]
    kind = _CONTROL_NAMES.get(character, kind)
    message = (
        f"The command holds {kind} (U+{ord(character):04X}) at character {offset + 1}, "
        "which can make it look different from what runs."
    )
    return Doubt(message, Span(offset, offset + 1))
