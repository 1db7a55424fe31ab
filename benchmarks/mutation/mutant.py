"""One small change to one file, which some test ought to notice."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Mutant"]


@dataclass(frozen=True)
class Mutant:
    """A change of some bytes of a file.

    Attributes:
        file: The file, relative to the project.
        start: Where the changed bytes begin.
        end: Where they end.
        text: What takes their place.
        operator: What kind of change it is.
        lines: The first and the last line of the statement or table that changes, counted from 1.
    """

    file: str
    start: int
    end: int
    text: str
    operator: str
    lines: tuple[int, int]

    def applied(self, source: bytes) -> bytes:
        """Return the file's content with the change."""
        return source[: self.start] + self.text.encode() + source[self.end :]

    def diff(self, root: Path) -> str:
        """Return the change as a unified diff without context."""
        source = (root / self.file).read_bytes()
        before, after = source.decode(), self.applied(source).decode()
        lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
        return "\n".join(list(lines)[3:])
