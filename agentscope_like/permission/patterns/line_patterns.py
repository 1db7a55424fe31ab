"""Patterns for whole command lines: the text as it stands, or its digest where it is long.

`= cd src && make > log` names all that it does, its directory and its redirections included. A line
that is long, or has several lines, stands as its digest, with a beginning for a person to read:
`= sha256:9f86... # python3 - <<'E' ...`.
"""

from __future__ import annotations

import hashlib
import re

__all__ = ["digest_of", "is_digest", "line_in", "line_pattern"]

_MARK = "= "
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}(?= # |$)")
_LONGEST = 200
_SHOWN_CHARACTERS = 60


def line_in(pattern: str) -> str:
    """Return the line that a pattern stands for, or its digest; empty for a pattern of words."""
    if not pattern.startswith(_MARK):
        return ""
    line = pattern.removeprefix(_MARK).strip()
    digest = _DIGEST.match(line)
    return digest[0] if digest else line


def line_pattern(line: str) -> str:
    """Return the pattern for a whole command line."""
    if len(line) <= _LONGEST and line.isprintable() and not is_digest(line):
        return _MARK + line
    start = "".join(char if char.isprintable() else " " for char in line[:_SHOWN_CHARACTERS])
    return f"{_MARK}{digest_of(line)} # {start} ..."


def is_digest(line: str) -> bool:
    """Return whether a line looks like a digest, so that only its own digest can stand for it."""
    return _DIGEST.match(line) is not None


def digest_of(line: str) -> str:
    """Return what stands for a long line in a pattern."""
    return f"sha256:{hashlib.sha256(line.encode('utf-8', 'surrogatepass')).hexdigest()}"
