"""The tables of Sage's documents, and the tests of their rows, belong together."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "design" / "sage.md"
ROW = re.compile(r"^\| (SAGE-[A-Z]-\d\d) \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)
PROOF = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
NAMED = re.compile(r"test_sage_[a-z]_\d\d_\w+")

ROWS: list[tuple[str, str, str, str]] = ROW.findall(PAGE.read_text())


def names_in(file: Path) -> set[str]:
    """Return the names of the tests in a file."""
    return {getattr(node, "name", "") for node in ast.parse(file.read_text()).body}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_says_what_became_of_it(row: tuple[str, str, str, str]) -> None:
    """Kept or different, with a test that exists; or left out, with a reason."""
    _, promise, verdict, proof = row
    assert promise.endswith(".")
    if verdict.startswith("left out: "):
        assert proof == "-"
        return
    assert verdict == "kept" or verdict.startswith(("kept: ", "differs: "))
    found = PROOF.findall(proof)
    assert found
    for file, name in found:
        assert name in names_in(TESTS.parent / file)


def test_no_row_is_there_twice_or_in_another_shape() -> None:
    """Every line that looks like a row is one, of its own."""
    names = [row[0] for row in ROWS]
    assert len(set(names)) == len(names)
    assert len(re.findall(r"^\| SAGE-", PAGE.read_text(), re.MULTILINE)) == len(names)


def test_every_row_that_a_test_is_named_after_is_listed() -> None:
    """Of each row that a test is named after, the page says what became."""
    listed = {row[0] for row in ROWS}
    named = {
        f"SAGE-{letter.upper()}-{number}"
        for file in TESTS.rglob("test_*.py")
        for name in names_in(file)
        if NAMED.fullmatch(name)
        for _, _, letter, number in [name.split("_")[:4]]
    }
    assert named <= listed
