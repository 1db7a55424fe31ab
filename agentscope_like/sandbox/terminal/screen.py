"""Turns what a program writes to its terminal into plain text."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from functools import partial

from msgspec import Struct

from agentscope_like.sandbox.terminal.output_window import OutputWindow

__all__ = ["COLUMNS", "ROWS", "Screen"]

ROWS = 40
COLUMNS = 160

# ECMA-48: control sequences, strings up to their terminator, other escapes, controls, text
_TOKEN = re.compile(
    r"\x1b\[(?P<parameters>[0-?]*)[ -/]*(?P<final>[@-~])"
    r"|\x1b[\]PX^_](?:[^\x07\x1b]|\x1b(?!\\))*?(?:\x07|\x1b\\)"
    r"|\x1b(?P<escape>[ -/]*[0-OQ-WYZ\\`-~])"
    r"|(?P<control>[\x00-\x08\x0a-\x1a\x1c-\x1f\x7f-\x9f])"
    r"|(?P<text>[^\x00-\x08\x0a-\x1f\x7f-\x9f]+)",
    re.DOTALL,
)
_UNENDED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07]*|[ -/]*)", re.DOTALL)
_PLAIN = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f-\x9f]*(?:\r\n[^\x00-\x08\x0a-\x1f\x7f-\x9f]*)*")
_MOST_PENDING = 8192
_MOST_COLUMN = 10_000
_NUMBER = re.compile(r"[0-9]{1,5}")
_OTHER_SCREEN = frozenset({"?47", "?1047", "?1049"})


class _Row(Struct):
    """One line of the screen.

    Attributes:
        text: What is on it.
        is_used: Whether anything was written to it, if only its end.
        shown: What of it has been shown; None for nothing.
    """

    text: str = ""
    is_used: bool = False
    shown: str | None = None

    @property
    def is_news(self) -> bool:
        """Return whether it has not been shown as it is."""
        return self.is_used and self.text != self.shown


class Screen:
    """The screen of a terminal: takes bytes, and gives the text that is new.

    Lines are of any length: a program wraps its lines as it likes. What is written over is gone, as
    a line that shows progress; what scrolls off is kept until it is shown. Colours and other
    attributes are left out. Of a program that draws the whole screen, the screen is shown.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = ""
        self._rows = [_Row()]
        self._row = self._column = 0
        self._saved = (0, 0)
        self._below: tuple[list[_Row], int, int] | None = None
        self._window = OutputWindow()
        self._acts: dict[str | None, Callable[[str], None]] = {
            "A": partial(self._move, down=-1),
            "B": partial(self._move, down=1),
            "C": partial(self._move, right=1),
            "D": partial(self._move, right=-1),
            "G": self._go_to_column,
            "H": self._place,
            "J": self._erase_screen,
            "K": self._erase_line,
            "L": self._insert_lines,
            "M": self._delete_lines,
            "P": partial(self._erase_characters, closes=True),
            "X": partial(self._erase_characters, closes=False),
            "@": self._insert_characters,
            "d": self._go_to_row,
            "f": self._place,
            "h": partial(self._switch, on=True),
            "l": partial(self._switch, on=False),
        }

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        text = self._pending + self._decoder.decode(data)
        self._pending = ""
        if text.endswith("\r"):  # the rest of the end of a line may follow
            text, self._pending = text[:-1], "\r"
        if self._takes_lines(text):
            return
        at = 0
        while at < len(text):
            token = _TOKEN.match(text, at)
            if token is not None:
                self._take(token)
                at = token.end()
            elif _UNENDED.fullmatch(text, at) and len(text) - at <= _MOST_PENDING:
                self._pending = text[at:] + self._pending
                return
            else:
                at += 1  # an escape character that begins nothing

    def take(self) -> str:
        """Return the text that has not been shown; a line that has changed is shown again."""
        draws = self._below is not None and any(row.is_news for row in self._rows)
        for row in self._rows:
            if draws or row.is_news:
                self._show(row)
        return self._window.take().rstrip("\n")

    @property
    def has_news(self) -> bool:
        """Return whether `take` would return anything."""
        return not self._window.is_empty or any(row.is_news for row in self._rows)

    @property
    def is_within_line(self) -> bool:
        """Return whether the last line has begun and not ended, as that of a prompt."""
        return self._column > 0

    # Text

    def _takes_lines(self, text: str) -> bool:
        """Take text that does nothing but add lines at the end; return whether it is such."""
        row = self._rows[self._row]
        is_last = self._row == len(self._rows) - 1 and self._column == len(row.text)
        if not is_last or self._below is not None or not _PLAIN.fullmatch(text):
            return False
        first, *more = text.split("\r\n")
        self._write(first)
        if len(more) <= ROWS:
            for line in more:
                self._feed()
                self._column = 0
                self._write(line)
            return True
        row.is_used = True
        for old in self._rows:
            self._push(old)
        self._window.add("".join(f"{line}\n" for line in more[:-1]))
        self._rows = [_Row()]
        self._row = self._column = 0
        self._write(more[-1])
        return True

    def _write(self, text: str) -> None:
        if not text:
            return
        row = self._rows[self._row]
        before = row.text[: self._column].ljust(self._column)
        row.text = before + text + row.text[self._column + len(text) :]
        row.is_used = True
        self._column = min(self._column + len(text), len(row.text))

    # Lines

    def _feed(self) -> None:
        """Go to the next line, and scroll at the last one."""
        self._rows[self._row].is_used = True
        self._row += 1
        if self._row == len(self._rows):
            self._rows.append(_Row())
        if len(self._rows) > ROWS:
            self._push(self._rows.pop(0))
            self._row -= 1

    def _push(self, row: _Row) -> None:
        """Keep a line that leaves the screen, unless it was shown or a whole screen is drawn."""
        if row.is_news and self._below is None:
            self._show(row)

    def _show(self, row: _Row) -> None:
        row.shown = row.text
        shown = row.text if self._below is None else row.text.rstrip(" ")
        self._window.add(f"{shown}\n")

    def _go(self, row: int, column: int) -> None:
        self._row = max(0, min(row, ROWS - 1))
        self._column = max(0, min(column, _MOST_COLUMN))
        while len(self._rows) <= self._row:
            self._rows.append(_Row())

    # Controls

    def _take(self, token: re.Match[str]) -> None:
        if text := token["text"]:
            self._write(text)
        elif token["control"]:
            self._control(token["control"])
        elif act := self._acts.get(token["final"]):
            act(token["parameters"])
        elif token["escape"]:
            self._escape(token["escape"])

    def _control(self, control: str) -> None:
        if control in "\n\x0b\x0c\x85":
            self._feed()
        elif control == "\r":
            self._column = 0
        elif control == "\b":
            self._column = max(0, self._column - 1)

    def _escape(self, escape: str) -> None:
        if escape == "7":
            self._saved = (self._row, self._column)
        elif escape == "8":
            self._go(*self._saved)
        elif escape in ("D", "E"):
            self._feed()
            self._column = 0 if escape == "E" else self._column
        elif escape == "M":
            self._go(self._row - 1, self._column)
        elif escape == "c":
            self._erase_screen("2")
            self._go(0, 0)

    def _move(self, parameters: str, *, down: int = 0, right: int = 0) -> None:
        many = max(1, _numbers(parameters, 1)[0])
        self._go(self._row + down * many, self._column + right * many)

    def _place(self, parameters: str) -> None:
        row, column = _numbers(parameters, 2)
        self._go(max(1, row) - 1, max(1, column) - 1)

    def _go_to_column(self, parameters: str) -> None:
        self._go(self._row, max(1, _numbers(parameters, 1)[0]) - 1)

    def _go_to_row(self, parameters: str) -> None:
        self._go(max(1, _numbers(parameters, 1)[0]) - 1, self._column)

    def _erase_line(self, parameters: str) -> None:
        row, kind = self._rows[self._row], _numbers(parameters, 1)[0]
        if kind == 0:
            row.text = row.text[: self._column]
        elif kind == 1:
            row.text = row.text[self._column + 1 :].rjust(len(row.text))
        else:
            row.text = ""

    def _erase_screen(self, parameters: str) -> None:
        kind = _numbers(parameters, 1)[0]
        if kind == 0:
            self._erase_line("0")
            del self._rows[self._row + 1 :]
        elif kind in (2, 3):
            for row in self._rows:
                self._push(row)
            self._rows = [_Row()]
            self._go(self._row, self._column)

    def _erase_characters(self, parameters: str, *, closes: bool) -> None:
        row, many = self._rows[self._row], max(1, _numbers(parameters, 1)[0])
        gap = "" if closes else " " * min(many, max(0, len(row.text) - self._column))
        row.text = row.text[: self._column] + gap + row.text[self._column + many :]

    def _insert_characters(self, parameters: str) -> None:
        row, many = self._rows[self._row], max(1, _numbers(parameters, 1)[0])
        if self._column < len(row.text):
            gap = " " * min(many, COLUMNS)
            row.text = row.text[: self._column] + gap + row.text[self._column :]

    def _insert_lines(self, parameters: str) -> None:
        many = min(ROWS, max(1, _numbers(parameters, 1)[0]))
        self._rows[self._row : self._row] = [_Row() for _ in range(many)]
        del self._rows[ROWS:]

    def _delete_lines(self, parameters: str) -> None:
        many = max(1, _numbers(parameters, 1)[0])
        del self._rows[self._row : self._row + many]
        self._go(self._row, self._column)

    def _switch(self, parameters: str, *, on: bool) -> None:
        """Begin or end a drawing on the other screen, which leaves this one as it is."""
        if parameters not in _OTHER_SCREEN:
            return
        if on and self._below is None:
            self._below = (self._rows, self._row, self._column)
            self._rows, self._row, self._column = [_Row()], 0, 0
        elif not on and self._below is not None:
            self._rows, self._row, self._column = self._below
            self._below = None


def _numbers(parameters: str, count: int) -> list[int]:
    fields = parameters.split(";")
    found = [int(each) if _NUMBER.fullmatch(each) else 0 for each in fields]
    return (found + [0] * count)[:count]
