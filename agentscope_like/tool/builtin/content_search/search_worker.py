"""Searches files on machines without ripgrep; a separate program without dependencies.

It runs in a separate process, since a regular expression may never end and Python cannot stop it.
It reads its job from stdin as JSON and writes one line of JSON for each matching file. The job
names files below the working directory, open descriptors of them, or contains their contents.
"""

from __future__ import annotations

import base64
import codecs
import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

__all__ = ["BAD_PATTERN", "TRANSCODED", "main"]

BAD_PATTERN = 3
"""The exit code for an invalid regular expression; stderr says why."""

_CODECS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}

TRANSCODED = tuple(_CODECS)
"""Byte order marks of the encodings that ripgrep and this program search as text."""

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC

_NO_CHARACTER = re.compile("[\udc80-\udcff]")
_Find: TypeAlias = Callable[[str], Iterator[re.Match[str]]]

_POSIX_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "ascii": "\\x00-\\x7f",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\v\\f\\r ",
    "upper": "A-Z",
    "word": "\\w",
    "xdigit": "0-9a-fA-F",
}
_DIALECT = re.compile(r"\\z|\\x\{([0-9a-fA-F]{1,6})\}|\(\?<(?![=!])|\[:(\w+):\]|\\.", re.DOTALL)


def main() -> int:
    """Do the job on standard input and return the exit code."""
    job = json.load(sys.stdin)
    flags = re.IGNORECASE if job["ignore_case"] else 0
    if job["multiline"]:
        flags |= re.MULTILINE | re.DOTALL
    try:
        pattern = re.compile(_DIALECT.sub(_in_python, job["pattern"]), flags)
    except (re.error, RecursionError, OverflowError) as error:
        sys.stderr.write(str(error))
        return BAD_PATTERN
    for path in job["files"]:
        data = _held(path, job)
        text = None if data is None else _text(data)
        record = None if text is None else _search(pattern, text, job)
        if record is not None:
            sys.stdout.write(json.dumps({"path": path, **record}) + "\n")
    return 0


def _in_python(match: re.Match[str]) -> str:
    """Translate ripgrep's syntax to Python's."""
    token, code, posix = match[0], match[1], match[2]
    if token == "\\z":  # noqa: S105 - a token of a pattern
        return "\\Z"
    if token == "(?<":  # noqa: S105
        return "(?P<"
    if code:
        return re.escape(chr(min(int(code, 16), 0x10FFFF)))
    return _POSIX_CLASSES.get(posix, token) if posix else token


def _held(path: str, job: Mapping[str, Any]) -> bytes | None:
    """Return the content of a file; None if it is not searched."""
    given = job.get("contents")
    if given is not None:
        return base64.b64decode(given[path])
    handed: Mapping[str, int] = job.get("descriptors", {})
    try:
        with os.fdopen(handed.get(path) or os.open(path, _FLAGS), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > job["max_bytes"]:
                return None
            return file.read(job["max_bytes"]) or b""
    except OSError:
        return None


def _text(data: bytes) -> str | None:
    """Return the text of a file; None if it is binary."""
    if codec := _CODECS.get(data[:2]):
        return data[2:].decode(codec, "replace")
    if b"\0" in data:
        return None
    return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")


def _finder(pattern: re.Pattern[str], text: str) -> _Find:
    """Return a function that finds matches; invalid UTF-8 matches nothing, as with ripgrep."""
    if not _NO_CHARACTER.search(text):
        return pattern.finditer
    return lambda part: (m for m in pattern.finditer(part) if not _NO_CHARACTER.search(m[0]))


def _search(pattern: re.Pattern[str], text: str, job: Mapping[str, Any]) -> dict[str, Any] | None:
    find = _finder(pattern, text)
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    found = _spanned(find, text, lines) if job["multiline"] else _matching(find, lines)
    if job["mode"] == "files_with_matches":
        return {"count": 1, "lines": []} if next(found, None) is not None else None
    numbers = sorted(set(found))
    if not numbers:
        return None
    shown: list[tuple[int, bool, str]] = []
    if job["mode"] == "content":
        matching = set(numbers)
        around = {
            near
            for number in numbers
            for near in range(number - job["before"], number + job["after"] + 1)
            if 0 <= near < len(lines)
        }
        shown = [(near + 1, near in matching, _shown(lines[near])) for near in sorted(around)]
    return {"count": len(numbers), "lines": shown}


def _shown(line: str) -> str:
    data = line.removesuffix("\r").encode("utf-8", "surrogateescape")
    return data.decode("utf-8", "replace")


def _matching(find: _Find, lines: list[str]) -> Iterator[int]:
    return (
        index
        for index, line in enumerate(lines)
        if next(find(line.removesuffix("\r")), None) is not None
    )


def _spanned(find: _Find, text: str, lines: list[str]) -> Iterator[int]:
    """Yield the indexes of matching lines, ascending."""
    line, done = 0, 0
    for match in find(text):
        line += text.count("\n", done, match.start())
        done = match.start()
        last = line + text.count("\n", match.start(), max(match.start(), match.end() - 1))
        yield from range(line, min(last + 1, len(lines)))


if __name__ == "__main__":
    sys.exit(main())
