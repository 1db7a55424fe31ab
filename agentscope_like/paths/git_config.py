"""Reads the settings of a git configuration file, without running git.

The grammar is that of git-config(1), "CONFIGURATION FILE". Anything else is refused: a setting that
git sees and this reader does not would be one that nobody switches off.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["MOST_CONFIG_BYTES", "GitConfigError", "GitSetting", "git_settings"]

MOST_CONFIG_BYTES = 1 << 18
"""A larger configuration is not read."""

_BOM = "\ufeff"
_BLANKS = " \t\n\r"
_COMMENTS = "#;"
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "\\": "\\", '"': '"'}


class GitConfigError(ValueError):
    """The data is no git configuration, or one that this reader does not understand."""


class GitSetting(NamedTuple):
    """One setting.

    Attributes:
        key: Its name, in lowercase but for a subsection: `remote.Origin.url`.
        value: Its value; None where it has none, which means true.
    """

    key: str
    value: str | None


def git_settings(data: bytes) -> list[GitSetting]:
    """Return the settings of a configuration file, in their order.

    Args:
        data: The whole file.

    Raises:
        GitConfigError: Not all of it is understood.
    """
    if len(data) > MOST_CONFIG_BYTES:
        raise GitConfigError("it is too large")
    if b"\0" in data:
        raise GitConfigError("it holds a NUL character")
    text = data.decode("utf-8", "surrogateescape").removeprefix(_BOM)
    return _Reader(text.replace("\r\n", "\n")).settings()


class _Reader:
    """Reads one text from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def settings(self) -> list[GitSetting]:
        found: list[GitSetting] = []
        section = ""
        while char := self._next():
            if char in _BLANKS:
                continue
            if char in _COMMENTS:
                self._skip_line()
            elif char == "[":
                section = self._section()
            elif char.isascii() and char.isalpha() and section:
                self._at -= 1
                found.append(GitSetting(f"{section}.{self._name()}", self._value_behind()))
            else:
                raise self._error()
        return found

    def _next(self) -> str:
        char = self._text[self._at : self._at + 1]
        self._at += 1
        return char

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _error(self) -> GitConfigError:
        line = self._text.count("\n", 0, self._at) + 1
        return GitConfigError(f"line {line} is not understood")

    def _skip_line(self) -> None:
        end = self._text.find("\n", self._at)
        self._at = len(self._text) if end < 0 else end + 1

    def _section(self) -> str:
        start = self._at
        while _is_in_name(self._peek()) or self._peek() == ".":
            self._at += 1
        name = self._text[start : self._at].lower()
        char = self._next()
        if char in (" ", "\t") and name:
            while self._peek() in (" ", "\t"):
                self._at += 1
            if self._next() != '"':
                raise self._error()
            name = f"{name}.{self._subsection()}"
            char = self._next()
        if char != "]" or not name:
            raise self._error()
        return name

    def _subsection(self) -> str:
        pieces: list[str] = []
        while (char := self._next()) != '"':
            if char == "\\":
                char = self._next()
            if char in ("", "\n"):
                raise self._error()
            pieces.append(char)
        return "".join(pieces)

    def _name(self) -> str:
        start = self._at
        while _is_in_name(self._peek()):
            self._at += 1
        return self._text[start : self._at].lower()

    def _value_behind(self) -> str | None:
        while self._peek() in (" ", "\t"):
            self._at += 1
        char = self._next()
        if char in ("", "\n"):
            return None
        if char != "=":
            raise self._error()
        return self._value()

    def _value(self) -> str:
        pieces: list[str] = []
        is_quoted = False
        blanks = ""
        while (char := self._next()) not in ("", "\n"):
            if char in _BLANKS and not is_quoted:
                blanks += char if pieces else ""
                continue
            if char in _COMMENTS and not is_quoted:
                self._skip_line()
                return "".join(pieces)
            pieces.append(blanks)
            blanks = ""
            if char == '"':
                is_quoted = not is_quoted
            elif char == "\\":
                pieces.append(self._escaped())
            else:
                pieces.append(char)
        if is_quoted:
            raise self._error()
        return "".join(pieces)

    def _escaped(self) -> str:
        char = self._next()
        if char == "\n":
            return ""
        if char not in _ESCAPED or not char:
            raise self._error()
        return _ESCAPED[char]


def _is_in_name(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "-") and bool(char)
