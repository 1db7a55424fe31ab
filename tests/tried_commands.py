"""Commands that the tests of the permission layer try, each for one promise.

They stand at the borders of what the code tells apart, so that all else that is told of them is
worth a record, too. `tests/data/commands/tried.txt` holds them, and
`python -m tests.tried_commands` writes it anew from the texts in the tests.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Final

from tests.effects_record import read_effects
from tests.record import command_of, corpora, line_of, read_record

__all__ = ["read_tried"]

_HERE: Final = Path(__file__).parent
_TRIED: Final = _HERE / "data" / "commands" / "tried.txt"
_TESTS: Final = ("permission/**/*.py", "tool/builtin/test_bash*.py", "sandbox/**/*.py")
_FEWEST_CHARACTERS, _MOST_CHARACTERS = 4, 110
_TABLE_LINES: Final = 4
"""From how many lines on a text is a table, with bars between its columns."""

_PROSE: Final = re.compile(
    r"[A-Z][a-z]+ .*|.*[.:!]|.*[a-z][.:;,] [A-Za-z].*|.*\{\w*\}.*", re.DOTALL
)
"""What is a sentence, or a text with a place for another, and no command."""


def _texts(file: Path) -> Iterator[str]:
    """Yield the texts in a file of tests; of tables, what stands in each column."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            lines = node.value.splitlines()
            if len(lines) < _TABLE_LINES or "<<" in node.value:
                yield node.value
            else:
                yield from (column.strip() for line in lines for column in line.split(" | "))


def _is_command(text: str) -> bool:
    fits = _FEWEST_CHARACTERS <= len(text) <= _MOST_CHARACTERS
    return fits and text.isascii() and " " in text.strip() and not _PROSE.fullmatch(text)


def read_tried() -> list[str]:
    """Return the commands that are on record."""
    return [command_of(line) for line in _TRIED.read_text("utf-8").splitlines()]


def _write() -> None:
    known = {*read_record(), *read_effects(), *corpora()}
    files = sorted(chain.from_iterable(map(_HERE.glob, _TESTS)))
    texts = dict.fromkeys(chain.from_iterable(map(_texts, files)))
    lines = [line_of(text) for text in texts if text not in known and _is_command(text)]
    _TRIED.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    _write()
