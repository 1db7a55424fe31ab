"""The tables of Sage's documents, and the tests of their rows, belong together."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "seeds" / "sage.md"
ROW = re.compile(r"^\| (SAGE-[A-Z]-\d\d) \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)
PROOF = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")

LENGTHS = {"T": 51, "S": 17, "P": 35, "X": 23, "L": 16, "O": 20}
"""How many rows there are of each kind: tools, skills, progress, sandbox, models, traces."""

ROWS: list[tuple[str, str, str, str]] = ROW.findall(PAGE.read_text())


def rows_named_in(test: str) -> set[str]:
    """Return the rows that a test is named after: `t_01`, `t_10_and_11`, `s_11_and_x_19`."""
    rows: set[str] = set()
    letter, last, is_range = "", 0, False
    for word in test.removeprefix("test_sage_").split("_") if test.startswith("test_sage_") else ():
        if word.isdigit():
            first, last = (last + 1 if is_range else int(word)), int(word)
            rows |= {f"SAGE-{letter}-{n:02}" for n in range(first, last + 1)}
        elif len(word) == 1:
            letter = word.upper()
        elif word not in ("and", "to"):
            break
        is_range = word == "to"
    return rows


def names_in(file: Path) -> set[str]:
    """Return the names of the tests in a file, without those that are never run."""
    functions = (
        node
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return {
        one.name
        for one in functions
        if not any(
            "mark.skip" in (mark := ast.unparse(m)) or "xfail" in mark for m in one.decorator_list
        )
    }


def test_all_rows_are_there() -> None:
    """The documents promise 162 things, and the page says of each what became of it."""
    rows = [f"SAGE-{kind}-{n:02}" for kind, length in LENGTHS.items() for n in range(1, length + 1)]
    assert len(rows) == 162
    assert {row[0] for row in ROWS} == set(rows)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_says_what_became_of_it(row: tuple[str, str, str, str]) -> None:
    """Kept or different, with a test that is named after it; or left out, with a reason."""
    name, promise, verdict, proof = row
    assert promise.endswith(".")
    if verdict.startswith("left out: "):
        assert proof == "-"
        return
    assert verdict == "kept" or verdict.startswith(("kept: ", "differs: "))
    found = PROOF.findall(proof)
    assert found
    for file, test in found:
        assert test in names_in(TESTS.parent / file)
    assert any(name in rows_named_in(test) for _, test in found)


def test_no_row_is_there_twice_or_in_another_shape() -> None:
    """Every line that looks like a row is one, of its own."""
    names = [row[0] for row in ROWS]
    assert len(set(names)) == len(names)
    assert len(re.findall(r"^\| SAGE-", PAGE.read_text(), re.MULTILINE)) == len(names)


def test_every_row_that_a_test_is_named_after_is_listed() -> None:
    """Of each row that a test is named after, the page says what became."""
    listed = {row[0] for row in ROWS}
    named = {
        row
        for file in TESTS.rglob("test_*.py")
        for name in names_in(file)
        for row in rows_named_in(name)
    }
    assert named
    assert named <= listed


@pytest.mark.parametrize(
    ("test", "rows"),
    [
        ("test_sage_t_01_a_module", {"SAGE-T-01"}),
        ("test_sage_t_09_cut_at_12_000_tokens", {"SAGE-T-09"}),
        ("test_sage_p_02_to_04_progress", {"SAGE-P-02", "SAGE-P-03", "SAGE-P-04"}),
        ("test_sage_p_27_28_and_31_it", {"SAGE-P-27", "SAGE-P-28", "SAGE-P-31"}),
        ("test_sage_s_11_and_x_19_skills", {"SAGE-S-11", "SAGE-X-19"}),
        ("test_trap_t_01", set()),
    ],
)
def test_what_a_test_is_named_after(test: str, rows: set[str]) -> None:
    """One row, several, or a range of them; numbers in the words behind do not count."""
    assert rows_named_in(test) == rows
