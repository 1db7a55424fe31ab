"""The mutants that `make mutants` judges: what is changed, and what is left alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from benchmarks.mutation.__main__ import ROOT, TESTS
from benchmarks.mutation.expressions import changed_expressions
from benchmarks.mutation.judge import apart
from benchmarks.mutation.known_tests import KnownTests
from benchmarks.mutation.mutant import Mutant
from benchmarks.mutation.python_source import python_mutants
from benchmarks.mutation.rule_data import changes_data, rule_mutants
from benchmarks.mutation.worker import PACKAGES, Lines, Traced


def changed(source: str) -> set[str]:
    """Return the mutants of a module, each unparsed."""
    text = source.encode()
    return {ast.unparse(ast.parse(each.applied(text))) for each in python_mutants("m.py", text)}


def changed_rules(file: str, text: str) -> set[str]:
    """Return the mutants of a table."""
    source = text.encode()
    mutants = [each for each in rule_mutants(file, source) if changes_data(each, source)]
    return {each.applied(source).decode() for each in mutants}


@pytest.mark.parametrize(
    ("source", "mutant"),
    [
        ("x = a == b", "x = a != b"),
        ("x = a in b", "x = a not in b"),
        ("x = a == 'b'", "x = a == 'XXb'"),
        ("x = a and b", "x = a or b"),
        ("x = a and b", "x = a"),
        ("x = not a", "x = a"),
        ("x = 1", "x = 2"),
        ("x = True", "x = False"),
        ("x = all(a)", "x = any(a)"),
        ("x = p.fullmatch(a)", "x = p.match(a)"),
        ("x = a.lower()", "x = a"),
        ("x = a.strip('/')", "x = a"),
        ("x = a.endswith('/')", "x = a.endswith('XX/')"),
        ("x = {'a', 'b'}", "x = {'b'}"),
        ("x = {'a': 1, 'b': c}", "x = {'a': 1}"),
        ("x = [a for a in b if c]", "x = [a for a in b]"),
        ("x = re.compile('a|b')", "x = re.compile('a')"),
        ("if a:\n    b()", "if False:\n    b()"),
        ("if a:\n    b()", "if True:\n    b()"),
        ("for a in b:\n    c()\n    continue", "for a in b:\n    c()\n    pass"),
        ("a()\nb()", "pass\nb()"),
        ("def f() -> bool:\n    return a", "def f() -> bool:\n    return not a"),
        ("def f() -> str | None:\n    return a", "def f() -> str | None:\n    return None"),
    ],
)
def test_what_decides_is_changed(source: str, mutant: str) -> None:
    """Conditions, comparisons, returns, statements and tables have mutants."""
    assert mutant in changed(source)


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring."""',
        "__all__ = ['a', 'b']",
        "x = f'{a == 1} is told'",
        "x = 'a text'",
        "import a",
        "def f(a: int) -> str: ...",
    ],
)
def test_what_only_speaks_is_left_alone(source: str) -> None:
    """Texts, names and annotations have none."""
    assert changed(source) == set()


def test_bytes_and_characters_are_told_apart() -> None:
    """What stands behind characters of several bytes is changed in its place."""
    assert "x = ('é', b != c)" in changed("x = ('é', b == c)")


def test_an_expression_loses_an_alternative_or_a_look_around() -> None:
    """A `|` in a class or behind a backslash separates nothing."""
    assert set(changed_expressions(r"a|b(?:c|d)(?!e)[|]\|")) == {
        "a",
        r"a|b(?:c)(?!e)[|]\|",
        r"a|b(?:c|d)[|]\|",
    }


def test_a_restricting_table_loses_words_lines_and_rows() -> None:
    """Each word of a table of dangers is a rule."""
    table = '[[danger]]\ndoes = "x"\nprograms = "a b"\nwords = ["c d", "e"]\n'
    mutants = changed_rules("dangers.toml", table)
    assert "" in mutants
    assert table.replace("a b", " b") in mutants
    assert table.replace("c d", "no such word") in mutants
    assert table.replace('words = ["c d", "e"]', "") in mutants
    assert not any('"x"' not in mutant for mutant in mutants - {""})


def test_tables_beside_the_catalog_lose_words_and_alternatives() -> None:
    """A trait loses a program, an option an alternative; a sentence is not taken apart."""
    traits = '[traits]\ncopier = "cp xcp"\n'
    assert traits.replace("cp xcp", " xcp") in changed_rules("catalog/traits.toml", traits)
    options = "[name_lists]\nfile = 'a|b'\n"
    assert options.replace("a|b", "a") in changed_rules("showing.toml", options)
    names = 'credential_names = ["a"]\n'
    assert changed_rules("sensitive.toml", names) == {names.replace('a"', '"'), "\n"}
    purposes = '[git]\nadd = "stages changes"\n'
    assert changed_rules("purposes.toml", purposes) == {"", "[git]\n\n"}


def test_a_comment_in_a_text_is_left_alone() -> None:
    """The line that names the source of some paths decides nothing."""
    table = 'files = """\n# vendor.example/manual\nkeys.json\n"""\n'
    mutants = changed_rules("sensitive.toml", table)
    assert table.replace("keys.json", "") in mutants
    assert not any("keys.json" in mutant for mutant in mutants)


def test_an_allowing_table_allows_more() -> None:
    """In the catalog a role becomes any text, and what exists but is not listed is listed."""
    table = (
        '[program.x]\nothers = "--evil"\nflags = "-a -b"\nvalues.write = "-o"\noperands = "read"\n'
    )
    mutants = changed_rules("catalog/x.toml", table)
    assert table.replace("values.write", "values.text") in mutants
    assert table.replace('"-a', '"--evil -a') in mutants
    assert table.replace('"read"', '"text"') in mutants
    assert table.replace('"read"', "'read...'") in mutants
    assert table.replace('"-a -b"', '" -b"') not in mutants


def test_a_mutant_shows_what_it_changes(tmp_path: Path) -> None:
    """The diff holds the line before and after."""
    (tmp_path / "m.py").write_text("a = 1\nb = c == d\n")
    mutant = next(
        each
        for each in python_mutants("m.py", (tmp_path / "m.py").read_bytes())
        if each.operator == "comparison"
    )
    assert mutant.diff(tmp_path).splitlines()[-2:] == ["-b = c == d", "+b = (c != d)"]


def mutant_of(file: str, line: int, start: int = 0) -> Mutant:
    """Return a mutant of one line."""
    return Mutant(file, start, start + 1, "x", "comparison", (line, line))


CHANGED = f"{PACKAGES[0]}/m.py"


def known_of(copy: Path, **lines: Lines | None) -> KnownTests:
    """Return what is known of test files that take a second each and run these lines."""
    for name in lines:
        (copy / f"{name}.py").write_text("")
    known = KnownTests(copy, [f"{name}.py" for name in lines])
    known.learn(Traced("", {CHANGED: frozenset({1})}, 0.0, ()))
    for name, ran in lines.items():
        known.learn(Traced(f"{name}.py", ran, 1.0, ()))
    return known


def test_a_mutant_is_shown_to_the_files_that_run_its_line(tmp_path: Path) -> None:
    """A file that was not watched to its end may run any; what an import runs, any file may see."""
    known = known_of(
        tmp_path, one={CHANGED: frozenset({2})}, two={CHANGED: frozenset({3})}, long=None, none={}
    )
    assert set(known.in_order(mutant_of(CHANGED, 2))) == {"one.py", "long.py"}
    assert set(known.in_order(mutant_of(CHANGED, 1))) == {"one.py", "two.py", "long.py"}


def test_the_file_that_noticed_most_comes_first(tmp_path: Path) -> None:
    """What is known of tests holds in a later run, where they have not changed."""
    lines: Lines = {CHANGED: frozenset({2})}
    known = known_of(tmp_path, one=lines, two=lines)
    mutant = mutant_of(CHANGED, 2)
    known.remember(mutant, ["one.py", "two.py"], "two.py::test_it")
    assert known.in_order(mutant) == ["two.py", "one.py"]
    known.save(tmp_path / "kept.json")
    (tmp_path / "one.py").write_text("changed = True")
    later = KnownTests(tmp_path, known.tests)
    later.load(tmp_path / "kept.json")
    assert later.unknown == ["one.py"]
    later.learn(Traced("one.py", lines, 1.0, ()))
    assert later.in_order(mutant) == ["two.py", "one.py"]


def test_mutants_of_one_place_are_judged_apart() -> None:
    """Those of other files and other lines go into one copy."""
    here, there = mutant_of("a.py", 1), mutant_of("a.py", 5, start=50)
    same, elsewhere = mutant_of("a.py", 1, start=20), mutant_of("b.py", 1)
    assert apart([here, there, same, elsewhere]) == [[here, there, elsewhere], [same]]


@pytest.mark.parametrize("name", TESTS)
def test_the_tests_that_judge_are_there(name: str) -> None:
    """A test file that moved or went is noticed before a long run begins."""
    assert (ROOT / name).exists()
