"""Text as it is shown: what is spelt out, in which pieces, and how wide it is."""

from __future__ import annotations

import pytest

from agentscope_like.permission.explain import Piece, cells, pieces, visible
from agentscope_like.permission.explain.visible_text import spelt


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", []),
        ("plain", [Piece("plain", False)]),
        ("a\x1bb", [Piece("a", False), Piece("\\x1b", True), Piece("b", False)]),
        ("\u202e\u200b", [Piece("\\u202e\\u200b", True)]),
        ("a\r\nb", [Piece("a\nb", False)]),
        ("a\rb", [Piece("a", False), Piece("\\r", True), Piece("b", False)]),
        ("a\n\tb", [Piece("a\n\tb", False)]),
        ("\ufe00\ufe0f", [Piece("\\ufe00\\ufe0f", True)]),
        ("\ufe10", [Piece("\ufe10", False)]),
        ("\U000e0100\U000e01ef", [Piece("\\U000e0100\\U000e01ef", True)]),
        ("\u2800\u3164", [Piece("\\u2800\\u3164", True)]),
        ("\ud800", [Piece("\\ud800", True)]),
    ],
)
def test_what_is_spelt_out_is_a_piece_of_its_own(text: str, shown: list[Piece]) -> None:
    """Runs of honest text and of escapes alternate, and each says which it is."""
    assert list(pieces(text)) == shown
    assert visible(text) == "".join(piece.text for piece in shown)


def test_a_line_has_no_line_ends() -> None:
    """Where a single line is wanted, tabs and line ends are spelt out as well."""
    assert list(pieces("a\r\n\tb", layout="")) == [
        Piece("a", False),
        Piece("\\r\\n\\t", True),
        Piece("b", False),
    ]
    assert visible("a\nb", layout="") == "a\\nb"
    assert visible("a\tb", layout="\t") == "a\tb"


@pytest.mark.parametrize(("char", "shown"), [("a", "a"), (" ", " "), ("é", "é"), ("\x00", "\\x00")])
def test_one_character_is_spelt(char: str, shown: str) -> None:
    """A character that can be seen stands for itself."""
    assert spelt(char) == shown


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("abc", 3),
        ("é", 1),
        ("e\u0301", 1),
        ("\u20dd", 0),
        ("日本", 4),
        ("\uff21", 2),
        ("\uff71", 1),
        ("🎉", 2),
        ("\u0903", 1),
        ("a日", 3),
    ],
)
def test_the_width_is_counted_in_columns(text: str, width: int) -> None:
    """Marks take no column, wide characters take two."""
    assert cells(text) == width
