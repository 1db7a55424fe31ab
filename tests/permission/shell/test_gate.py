"""The gate refuses text that shows otherwise than it runs, and lets the rest through."""

from __future__ import annotations

import pytest

from tests.permission.shell.syntax import MAXIMUM_LENGTH, MAXIMUM_WORDS, Span, check_text

_REFUSED = {
    "nul": ("ls\0x", 2),
    "bell": ("ls \a", 3),
    "carriage return": ("cat f\r", 5),
    "escape": ("ls \x1b[2K", 3),
    "delete": ("ls \x7f", 3),
    "unit separator": ("a\x1fb", 1),
    "next line": ("ls\x85x", 2),
    "c1 control": ("ls\x9bx", 2),
    "no-break space": ("ls\xa0x", 2),
    "soft hyphen": ("l\xads", 1),
    "em space": ("ls\u2003x", 2),
    "ideographic space": ("ls\u3000x", 2),
    "line separator": ("ls\u2028x", 2),
    "paragraph separator": ("ls\u2029x", 2),
    "zero-width space": ("l\u200bs", 1),
    "zero-width joiner": ("l\u200ds", 1),
    "word joiner": ("l\u2060s", 1),
    "byte order mark": ("\ufeffls", 0),
    "right-to-left override": ("ls \u202ex", 3),
    "isolate": ("ls \u2066x", 3),
    "arabic letter mark": ("ls \u061cx", 3),
    "lone surrogate": ("ls \udc80", 3),
    "hangul filler": ("ls\u3164x", 2),
    "braille blank": ("ls\u2800x", 2),
    "grapheme joiner": ("l\u034fs", 1),
    "tag letter": ("ls \U000e0041", 3),
}


@pytest.mark.parametrize(("command", "offset"), _REFUSED.values(), ids=_REFUSED)
def test_hidden_characters_are_refused_where_they_stand(command: str, offset: int) -> None:
    """Each character that can hide something is refused, and the doubt points at it."""
    doubt = check_text(command)
    assert doubt is not None
    assert doubt.span == Span(offset, offset + 1)
    assert f"U+{ord(command[offset]):04X}" in doubt.message


@pytest.mark.parametrize(
    "command",
    [
        "git log --oneline -20",
        "ls\t-la\nwc -l f",
        "echo 'Grüße, 世界 ✅ é'",
        "grep -n 'привет' f",
        "echo ⚠️",
        "",
        " -n",
        "a -",
    ],
)
def test_visible_text_passes(command: str) -> None:
    """Ordinary text, also beyond ASCII, with tabs and newlines, passes the gate."""
    assert check_text(command) is None


def test_a_leading_dash_is_refused() -> None:
    """Text that the shell would take for its own options is not read."""
    doubt = check_text("-n evil")
    assert doubt is not None
    assert doubt.span == Span(0, 1)


def test_the_length_is_bounded() -> None:
    """A command of exactly the longest length passes, one character more does not."""
    assert check_text("x" * MAXIMUM_LENGTH) is None
    doubt = check_text("x" * (MAXIMUM_LENGTH + 1))
    assert doubt is not None
    assert "10,001" in doubt.message


def test_the_words_are_bounded() -> None:
    """A command of exactly the most words passes, one word more does not."""
    assert check_text("ls " * MAXIMUM_WORDS) is None
    doubt = check_text("ls " * (MAXIMUM_WORDS + 1))
    assert doubt is not None
    assert "2,501 words" in doubt.message
