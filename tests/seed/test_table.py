"""The table of seed 002 in the documentation, and the tests of its rows, are the same."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.seed.kit import BLOCKS

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "seeds" / "seed-002.md"
TEST = re.compile(r"test_002_([a-z]+)_(\d+)_[a-z0-9_]+")
ROW = re.compile(r"^\| (002-[a-z]+-\d+) \| (.+) \| (.+) \| `(test_[a-z_]+\.py)` \|$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)]+\.md)\)")
BLOCK = re.compile(r"^\| (\d\d-[a-z-]+) \|", re.MULTILINE)


def rows() -> list[tuple[str, str, str, str]]:
    """Return the rows: id, promise, verdict and file."""
    return ROW.findall(PAGE.read_text())


def proofs() -> list[tuple[str, str]]:
    """Return the tests of rows: the row's id and the test's file."""
    return [
        (f"002-{match[1]}-{match[2]}", file.name)
        for file in sorted(HERE.glob("test_*.py"))
        for node in ast.parse(file.read_text()).body
        if (match := TEST.fullmatch(getattr(node, "name", "")))
    ]


def test_every_row_has_its_test_and_every_test_its_row() -> None:
    """In the file that the row names; no row and no test is there twice."""
    listed = Counter((row, file) for row, _, _, file in rows())
    assert listed == Counter(proofs())
    assert set(listed.values()) == {1}


def test_rows_are_numbered_without_a_gap() -> None:
    """Each section counts from 1, in the order of the page."""
    numbers: dict[str, list[int]] = {}
    for row, *_ in rows():
        section, number = row.rsplit("-", 1)
        numbers.setdefault(section, []).append(int(number))
    assert all(found == list(range(1, len(found) + 1)) for found in numbers.values()), numbers


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_a_row_says_what_became_of_its_promise(row: tuple[str, str, str, str]) -> None:
    """Kept; or what differs, and why that is so."""
    _, promise, verdict, _ = row
    assert promise.endswith(".")
    assert verdict == "kept" or (verdict.startswith("differs: ") and len(verdict) > 20)


def test_every_line_of_the_tables_is_a_row() -> None:
    """No row is left out of the tests because it is written in another way."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| 002-")]
    assert len(lines) == len(rows())


def test_the_blocks_are_listed() -> None:
    """Each of them, in order."""
    assert BLOCK.findall(PAGE.read_text()) == sorted(file.stem for file in BLOCKS.iterdir())


def test_every_section_leads_to_pages_whose_examples_run() -> None:
    """Each section but the list of blocks names pages that exist; tests run what they show."""
    sections = PAGE.read_text().split("\n## ")[2:]
    for section in sections:
        pages = LINK.findall(section)
        assert pages, section.splitlines()[0]
        assert any("```python" in (PAGE.parent / page).read_text() for page in pages)
