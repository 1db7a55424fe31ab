"""The table of seed 004 in the documentation, and the tests of its rows, are the same."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "seeds" / "seed-004.md"
TEST = re.compile(r"test_004_(\d+)_[a-z0-9_]+")
ROW = re.compile(r"^\| 004-(\d+) \| (.+) \| (.+) \| `(test_[a-z_]+\.py)` \|$", re.MULTILINE)

ROWS: list[tuple[str, str, str, str]] = ROW.findall(PAGE.read_text(encoding="utf-8"))


def proofs() -> list[tuple[str, str]]:
    """Return the tests of rows: the row's number and the test's file."""
    return [
        (match[1], file.name)
        for file in HERE.glob("test_*.py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if (match := TEST.fullmatch(getattr(node, "name", "")))
    ]


def test_every_row_has_its_test_and_every_test_its_row() -> None:
    """In the file that the row names; no row and no test is there twice."""
    assert sorted((row[0], row[3]) for row in ROWS) == sorted(proofs())


def test_rows_are_numbered_without_a_gap() -> None:
    """From 1 on, in the order of the page, and none is written in another way."""
    assert [int(row[0]) for row in ROWS] == list(range(1, len(ROWS) + 1))
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("| 004-") for line in lines) == len(ROWS) >= 26


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"004-{row[0]}")
def test_a_row_says_what_became_of_its_promise(row: tuple[str, str, str, str]) -> None:
    """Kept; or what differs, and why that is so."""
    _, promise, verdict, _ = row
    assert promise.endswith(".")
    assert verdict == "kept" or (verdict.startswith("differs: ") and len(verdict) > 20)
