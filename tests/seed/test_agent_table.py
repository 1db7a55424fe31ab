"""The table of seed 001 in the documentation, and the tests of its rows, belong together."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "seeds" / "seed-001.md"
ROW = re.compile(r"^\| TT-(\d+) \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)
PROOF = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")

OPEN_ROWS_ARE_ACCEPTED = False
"""Whether a row may still be `open`; it may not once all is built."""

NOT_TESTABLE = {17, 148}
"""What that product lacks, and an advice."""

ROWS: list[tuple[str, str, str, str]] = ROW.findall(PAGE.read_text(encoding="utf-8"))


def rows_named_in(test: str) -> set[int]:
    """Return the rows that a test is named after: `tt_01`, `tt_20_and_21`, `tt_20_to_22`."""
    rows: set[int] = set()
    last, is_range = 0, False
    for word in test.removeprefix("test_tt_").split("_") if test.startswith("test_tt_") else ():
        if word.isdigit():
            first, last = (last + 1 if is_range else int(word)), int(word)
            rows |= set(range(first, last + 1))
        elif word not in ("and", "to"):
            break
        is_range = word == "to"
    return rows


def names_in(file: Path) -> set[str]:
    """Return the names of the tests in a file, without those that are never run."""
    functions = (
        node
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return {
        one.name
        for one in functions
        if not any(
            "mark.skip" in (mark := ast.unparse(m)) or "xfail" in mark for m in one.decorator_list
        )
    }


def test_all_148_rows_are_there_in_their_order() -> None:
    """None is missing, none is there twice, and none is written in another way."""
    assert [int(row[0]) for row in ROWS] == list(range(1, 149))
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("| TT-") for line in lines) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"TT-{row[0]}")
def test_a_row_says_what_became_of_it(row: tuple[str, str, str, str]) -> None:
    """Kept or different, with a test that is named after it; or not testable, with the reason."""
    number, promise, verdict, proof = row
    assert promise.endswith(".")
    is_testable = int(number) not in NOT_TESTABLE
    assert is_testable != verdict.startswith("not testable: ")
    if not is_testable or (OPEN_ROWS_ARE_ACCEPTED and verdict == "open"):
        assert proof == "-"
        return
    assert verdict == "kept" or verdict.startswith(("kept: ", "differs: "))
    found = PROOF.findall(proof)
    assert found
    for file, test in found:
        assert test in names_in(TESTS.parent / file)
    assert any(int(number) in rows_named_in(test) for _, test in found)


def test_tests_are_named_after_rows_that_there_are() -> None:
    """No test is named after a row that the document does not have."""
    listed = {int(row[0]) for row in ROWS}
    for file in TESTS.rglob("test_*.py"):
        for name in names_in(file):
            assert rows_named_in(name) <= listed


@pytest.mark.parametrize(
    ("test", "rows"),
    [
        ("test_tt_01_a_call_is_an_event", {1}),
        ("test_tt_59_and_62_limits", {59, 62}),
        ("test_tt_136_to_138_dice", {136, 137, 138}),
        ("test_tt_91_at_most_80_000_characters", {91}),
        ("test_tt_of_nothing_12", set()),
        ("test_sage_t_01", set()),
    ],
)
def test_what_a_test_is_named_after(test: str, rows: set[int]) -> None:
    """One row, several, or a range of them; numbers in the words behind do not count."""
    assert rows_named_in(test) == rows
