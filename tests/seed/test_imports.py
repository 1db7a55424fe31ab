"""The table of a seed's imports and ours is true: each row is imported."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "seeds" / "imports.md"
ROW = re.compile(
    r"^\| (\d{3}) \| `(from .+? import .+?)` \| `(from .+? import .+?)`( \(another module\))? \|$",
    re.MULTILINE,
)
ROWS: list[tuple[str, str, str, str]] = ROW.findall(PAGE.read_text(encoding="utf-8"))
PACKAGES = re.compile(r"from (?:sagents|agentscope|openhands(?:\.sdk)?)\b")


def test_every_row_of_the_table_is_read() -> None:
    """No row is left out because it is written otherwise."""
    table = [line for line in PAGE.read_text(encoding="utf-8").split("\n") if line[:3] == "| 0"]
    assert len(ROWS) == len(table) >= 22


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1])
def test_a_seed_s_import_has_one_here(row: tuple[str, str, str, str]) -> None:
    """What the document imports can be imported here; where the path differs, the row says so."""
    _, theirs, ours, differs = row
    exec(ours, {})
    assert theirs.partition(" import ")[2] == ours.partition(" import ")[2]
    assert (PACKAGES.sub("from agentscope_like", theirs) != ours) == bool(differs)
