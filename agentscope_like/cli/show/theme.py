"""Defines colours, and escapes text for the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from agentscope_like.permission.explain import Line, LineRole, pieces

__all__ = ["STYLES", "make_console", "one_line", "plain", "role_line"]

STYLES: Mapping[str, str] = {
    "allow": "bold green",
    "deny": "bold red",
    "ask": "bold yellow",
    "call": "bold",
    "mark": "yellow",
    "proven": "green",
    "part": "default",
    "effect": "magenta",
    "doubt": "yellow",
    "why": "default",
    "rule": "cyan",
    "offer": "cyan",
    "key": "bold cyan",
    "spelt": "reverse",
    "quiet": "dim",
    "error": "red",
    "added": "green",
    "removed": "red",
    "place": "cyan",
    "output": "dim",
    "think": "dim italic",
}
"""Styles by name, among them the roles of an explanation's lines."""


def make_console(
    *, record: bool = False, width: int | None = None, terminal: bool = False
) -> Console:
    """Return a console that shows text unchanged, without markup, emoji codes or highlighting.

    Args:
        record: Whether the output is recorded for export.
        width: The number of columns; that of the terminal by default.
        terminal: Whether to use colours even if the output is not a terminal.
    """
    return Console(
        theme=Theme({name: Style.parse(style) for name, style in STYLES.items()}),
        highlight=False,
        markup=False,
        emoji=False,
        record=record,
        width=width,
        force_terminal=True if terminal else None,
        color_system="truecolor" if terminal else "auto",
    )


def plain(text: str, style: str = "", *, layout: str = "\n\t") -> Text:
    """Return untrusted text with control characters escaped and in reverse video."""
    shown = Text(style=style)
    for piece in pieces(text, layout=layout):
        shown.append(piece.text, "spelt" if piece.is_spelt else None)
    return shown


def one_line(text: str, style: str = "") -> Text:
    """Return untrusted text as `plain` does, with line ends and tabs escaped as well."""
    return plain(text, style, layout="")


def role_line(line: Line) -> Text:
    """Return a line of an explanation in its colour."""
    text = Text(line.text)
    style = line.role.value
    if line.role in (LineRole.ALLOW, LineRole.DENY, LineRole.ASK):
        text.stylize(style, 0, line.text.find(" "))
        text.stylize("call", line.text.find(" "))
    else:
        text.stylize(style)
    return text
