"""What a program writes to its terminal becomes plain text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_like.sandbox.terminal import ROWS, Screen
from agentscope_like.sandbox.terminal.output_window import (
    HEAD_CHARACTERS,
    TAIL_CHARACTERS,
    OutputWindow,
)


def shown(*pieces: bytes) -> str:
    screen = Screen()
    for piece in pieces:
        screen.add(piece)
    return screen.take()


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (b"a\r\nb\r\n\r\nc", "a\nb\n\nc"),
        (b"a\tb  \r\n   \r\nc", "a\tb  \n   \nc"),
        (b"10%\r 50%\r100%\r\ndone\r\n", "100%\ndone"),
        (b"long line\rshort", "shortline"),
        (b"long line\r\x1b[Kshort", "short"),
        (b"\x1b[1;31mred\x1b[0m and \x1b[38;5;12mblue\x1b[m", "red and blue"),
        (b"\x1b]0;a title\x07\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1bPq#0\x1b\\a\x1b(Bb\x1b=c", "abc"),
        (b"abc\b\b\x1b[KX", "aX"),
        (b"abc\x1b[2DX", "aXc"),
        (b"ab\x1b[5Gx", "ab  x"),
        (b"one\r\ntwo\x1b[A\rONE\x1b[B\r\nthree", "ONE\ntwo\nthree"),
        (b"one\r\n\x1b[H\x1b[2Jtwo", "one\ntwo"),
        (b"abcdef\r\x1b[2P", "cdef"),
        (b"ac\b\x1b[@b", "abc"),
        (b"\x1b7x\x1b8y", "y"),
        (b"a\x07\x00b", "ab"),
        (b"caf\xc3\xa9 \xff", "caf\xe9 \ufffd"),
        (b"a\x1b\r\nb", "a\nb"),
        (b"a\nb\r\nc", "a\n b\nc"),
        (b"a\x1b[999999999999Cb", "a b"),
    ],
)
def test_control_sequences_are_followed_or_left_out(written: bytes, text: str) -> None:
    """What they do to the text is done; what they do to its looks is left out."""
    assert shown(written) == text


@given(
    st.lists(
        st.sampled_from(
            [
                b"\x1b[",
                b"3",
                b";",
                b"1m",
                b"K",
                b"a",
                b"\r",
                b"\n",
                b"\xc3",
                b"\xa9",
                b"\x1b]0;",
                b"\x07",
                b"\b",
                b"\x1b[?1049h",
                b"H",
            ]
        )
    )
)
def test_pieces_show_what_the_whole_shows(pieces: list[bytes]) -> None:
    """It does not matter how the output is cut into pieces."""
    whole = b"".join(pieces)
    assert shown(*pieces) == shown(*[bytes([byte]) for byte in whole])


@given(st.binary(max_size=300))
def test_any_bytes_become_text_without_controls(written: bytes) -> None:
    """Nothing that a program writes reaches the model as a control character."""
    text = shown(written)
    assert not {c for c in text if (c < " " or "\x7f" <= c <= "\x9f") and c not in "\n\t"}


def test_only_what_is_new_is_shown() -> None:
    """A prompt is shown with what is typed behind it; what was shown and stays is not."""
    screen = Screen()
    screen.add(b"Python\r\n>>> ")
    assert screen.take() == "Python\n>>> "
    assert not screen.has_news
    screen.add(b"1+1\r\n2\r\n>>> ")
    assert screen.take() == ">>> 1+1\n2\n>>> "
    assert screen.take() == ""


def test_a_drawn_screen_is_shown_whole_and_leaves_the_other_one() -> None:
    """A program that draws the screen is shown as it stands; afterwards, lines go on as before."""
    screen = Screen()
    screen.add(b"before\r\n")
    screen.take()
    screen.add(b"\x1b[?1049h\x1b[H\x1b[2Jfirst\r\nsecond")
    assert screen.take() == "first\nsecond"
    screen.add(b"\x1b[1;1HFIRST")
    assert screen.take() == "FIRST\nsecond"
    screen.add(b"\x1b[?1049lafter\r\n")
    assert screen.take() == "after"


def test_what_scrolls_off_is_kept() -> None:
    """More lines than the screen has are shown all the same, in order."""
    lines = [f"line {number}" for number in range(3 * ROWS)]
    text = "".join(f"\x1b[32m{line}\x1b[0m\r\n" for line in lines).encode()
    assert shown(text).splitlines() == lines
    assert shown("\r\n".join(lines).encode()).splitlines() == lines


def test_of_a_long_output_the_ends_are_shown() -> None:
    """The first and last characters are shown, and how many there are between them."""
    window = OutputWindow()
    for number in range(20_000):
        window.add(f"{number:05}\n")
    text = window.take()
    left_out = 6 * 20_000 - HEAD_CHARACTERS - TAIL_CHARACTERS
    assert text.startswith("00000\n00001\n")
    assert text.endswith("19999\n")
    assert f"[{left_out:,} characters are left out here]" in text
    window.add("short")
    assert window.take() == "short"
