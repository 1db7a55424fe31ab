"""Proves that a sed script only prints, deletes and substitutes.

The grammar is that of GNU sed 4.9 ("sed scripts", sections 3 to 6 of its manual), narrowed to what
GNU, BSD and busybox sed parse alike. `e`, `r`, `R`, `w`, `W` and the flags `e` and `w` of `s` are
not in it.
"""

from __future__ import annotations

import re

__all__ = ["check_sed"]

_ADDRESS = re.compile(r"[0-9]+(~[0-9]+)?|\$")
_SECOND_ADDRESS = re.compile(r"[0-9]+|\$|[+~][0-9]+")
_REGEX_FLAGS = re.compile(r"[IM]*")
_PLAIN = frozenset("=dDgGhHnNpPxzF")
_COUNTED = frozenset("lqQ")
_COUNT = re.compile(r"[ \t]*[0-9]*")
_JUMPS = frozenset("btT:")
_LABEL = re.compile(r"[ \t]*[A-Za-z0-9_]*")
_TEXTS = frozenset("aic")
_BRACKET = re.compile(r"\^?\]?(?:\[[:.=][a-z-]{1,12}[:.=]\]|\\[^\n]|[^\]\\\n])*\]")
_FLAGS = re.compile(r"[gpiImM0-9]*")
_BLANKS = re.compile(r"[ \t]*")
_BETWEEN = re.compile(r"[ \t\n;]*")


class _NotUnderstoodError(Exception):
    """What is not understood."""


def check_sed(script: str) -> str | None:
    """Return why `script` is not known to only print and edit its stream, or None where it is."""
    try:
        _Script(script).read()
    except _NotUnderstoodError as doubt:
        return str(doubt)
    return None


class _Script:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def read(self) -> None:
        """Read every command.

        Raises:
            _NotUnderstoodError: A command is not harmless, or not every sed parses it alike.
        """
        while True:
            self._skip(_BETWEEN)
            if self.at >= len(self.text):
                return
            if self._peek() == "#":
                self._end_line()
                continue
            self._addresses()
            self._command()

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        found = pattern.match(self.text, self.at)
        if found is None:
            return False
        self.at = found.end()
        return True

    def _addresses(self) -> None:
        if not self._address(_ADDRESS):
            return
        self._skip(_BLANKS)
        if self._peek() == ",":
            self.at += 1
            self._skip(_BLANKS)
            if not self._address(_SECOND_ADDRESS):
                raise _NotUnderstoodError("a sed address cannot be read")
        self._skip(_BLANKS)

    def _address(self, numbers: re.Pattern[str]) -> bool:
        if self._skip(numbers):
            return True
        if self._peek() == "/":
            self.at += 1
            self._delimited("/", regex=True)
        elif self._peek() == "\\" and len(self.text) > self.at + 1:
            delimiter = self.text[self.at + 1]
            self.at += 2
            self._delimited(delimiter, regex=True)
        else:
            return False
        self._skip(_REGEX_FLAGS)
        return True

    def _command(self) -> None:
        while self._peek() == "!":
            self.at += 1
            self._skip(_BLANKS)
        letter = self._peek()
        self.at += 1
        if letter == "{":
            return
        if letter in _TEXTS:
            self._text_to_add()
            return
        if letter == "s":
            self._substitute()
        elif letter == "y":
            delimiter = self._delimiter()
            self._delimited(delimiter, regex=False)
            self._delimited(delimiter, regex=False)
        elif letter in _COUNTED:
            self._skip(_COUNT)
        elif letter in _JUMPS:
            self._skip(_LABEL)
        elif letter not in _PLAIN and letter != "}":
            raise _NotUnderstoodError(f"the sed command `{letter}` is not known to be harmless")
        self._skip(_BLANKS)
        if self._peek() not in {"", ";", "}", "\n", "#"}:
            raise _NotUnderstoodError(f"what follows the sed command `{letter}` cannot be read")

    def _substitute(self) -> None:
        delimiter = self._delimiter()
        self._delimited(delimiter, regex=True)
        self._delimited(delimiter, regex=False)
        self._skip(_FLAGS)
        flag = self._peek()
        if flag in {"e", "w"}:
            does = "runs what it makes" if flag == "e" else "writes a file"
            raise _NotUnderstoodError(f"the flag `{flag}` of sed's `s` {does}")

    def _delimiter(self) -> str:
        delimiter = self._peek()
        if delimiter in {"", "\\", "\n", "["}:
            raise _NotUnderstoodError("the delimiter of a sed command cannot be read")
        self.at += 1
        return delimiter

    def _delimited(self, delimiter: str, *, regex: bool) -> None:
        """Move past the next bare `delimiter`, where all seds agree which one that is."""
        text = self.text
        while (at := self.at) < len(text):
            character = text[at]
            self.at += 1
            if character == "\\":
                self.at += 1
            elif character == "\n":
                break
            elif character == delimiter:
                return
            elif character == "[" and regex:
                self._bracket(delimiter)
        raise _NotUnderstoodError("a sed pattern is not closed")

    def _bracket(self, delimiter: str) -> None:
        """Move past a bracket expression, which must not hold the delimiter."""
        found = _BRACKET.match(self.text, self.at)
        if found is None:
            raise _NotUnderstoodError("a sed bracket expression is not closed")
        if delimiter in found.group().replace(f"\\{delimiter}", ""):
            message = "a delimiter inside a sed bracket expression can be read two ways"
            raise _NotUnderstoodError(message)
        self.at = found.end()

    def _text_to_add(self) -> None:
        r"""Move past the text of `a`, `i` or `c`: the rest of the line, or the line after `\`."""
        line = self._end_line().lstrip(" \t")
        if line == "\\" and self.at < len(self.text):
            line = self._end_line()
        if not line or line.endswith("\\"):
            raise _NotUnderstoodError("the text of a sed command cannot be told from its commands")

    def _end_line(self) -> str:
        end = self.text.find("\n", self.at)
        line = self.text[self.at :] if end < 0 else self.text[self.at : end]
        self.at += len(line) + 1
        return line
