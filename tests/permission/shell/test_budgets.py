"""The budgets of a text: how deep it nests, how many commands and pieces of words it has."""

from __future__ import annotations

import pytest

from tests.permission.shell.syntax import ReadError, read

DEEPEST = 40
MOST_COMMANDS = 300
MOST_PIECES = 1_000

NESTINGS = {
    "substitution": ("echo $(", "a", ")"),
    "quoted substitution": ('echo "$(', "a", ')"'),
    "process": ("cat <(", "a", ")"),
    "group": ("{ ", "a", "; }"),
    "subshell": ("( ", "a", " )"),
    "condition": ("if ", "a", "; then b; fi"),
    "then": ("if a; then ", "a", "; fi"),
    "elif": ("if a; then b; elif ", "a", "; then b; fi"),
    "else": ("if a; then b; else ", "a", "; fi"),
    "while": ("while ", "a", "; do b; done"),
    "do": ("until b; do ", "a", "; done"),
    "for": ("for i in b; do ", "a", "; done"),
    "counting": ("for ((i=0;i<3;i++)); do ", "a", "; done"),
    "case": ("case b in c) ", "a", ";; esac"),
    "function": ("f() { ", "a", "; }"),
    "operand": ("${x:-", "a", "}"),
    "arithmetic": ("echo $(( $(", "a", ") ))"),
    "array": ("x=( $(", "a", ") )"),
    "test": ("[[ $(", "a", ") ]]"),
}
SINGLE = {
    **{name: before + inner + after for name, (before, inner, after) in NESTINGS.items()},
    "backticks": "echo `a`",
    "brackets of a test": "[[ ( a ) && ( b || ( c ) ) ]]",
    "quotes": "echo \"a $x ${y}\" 'b' \\c",
    "heredoc": "cat <<E\n$(a) ${x:-b}\nE",
    "pipeline": "a | b | c",
    "list": "a && b || c",
}


def deep(levels: int) -> str:
    """Return a command at the bottom of so many groups."""
    return "{ " * levels + "a" + "; }" * levels


def fits(text: str) -> bool:
    """Return whether a text is read."""
    try:
        read(text)
    except ReadError as error:
        if not any(word in error.message for word in ("deeper", "More than", "many")):
            raise
        return False
    return True


@pytest.mark.parametrize(("before", "inner", "after"), NESTINGS.values(), ids=NESTINGS)
def test_each_construct_takes_a_level(before: str, inner: str, after: str) -> None:
    """Whatever can hold itself can do so forty times; a test with a substitution takes two."""
    most = DEEPEST // 2 if before.startswith("[[") else DEEPEST
    assert fits(before * most + inner + after * most)
    assert not fits(before * (most + 1) + inner + after * (most + 1))


@pytest.mark.parametrize("text", SINGLE.values(), ids=SINGLE)
def test_a_level_is_given_back(text: str) -> None:
    """Behind a construct, just as many levels are left as before it, however often it stands."""
    assert fits(f"{text}\n" + deep(DEEPEST))
    assert not fits(f"{text}\n" + deep(DEEPEST + 1))
    assert fits(f"{text}\n" * 45 + deep(DEEPEST))
    assert not fits(f"{text}\n" * 45 + deep(DEEPEST + 1))


@pytest.mark.parametrize(
    ("piece", "cost"),
    [
        ("a;", 1),
        ("! a;", 1),
        ("x=1;", 1),
        ("[[ a ]];", 1),
        ("((1));", 1),
        ("$(a);", 3),
        ("`a`;", 3),
        ("a <(a);", 3),
        ("{ a; };", 2),
        ("for i in a; do b; done;", 2),
        ("x=$(a);", 3),
        ("f(){ a;};", 3),
        ("x=(1);", 2),
    ],
)
def test_commands_are_counted(piece: str, cost: int) -> None:
    """Each command and each substitution counts, wherever it stands."""
    most = MOST_COMMANDS // cost
    assert fits(piece * most)
    assert not fits(piece * (most + 1))


@pytest.mark.parametrize(
    ("word", "cost"),
    [
        *(('"$x" ', 1), ("$x ", 1), ("\\b ", 1), ("* ", 2), ("~ ", 2), ("$'a' ", 1)),
        *(("'a'b ", 2), ('"a$x" ', 2), ("{a,b} ", 3), ("{a,b,c}{d,e} ", 7)),
    ],
)
def test_pieces_of_words_are_counted(word: str, cost: int) -> None:
    """Each quoted, computed and bare piece counts, a pattern twice, and each word of braces."""
    most = MOST_PIECES // cost
    assert fits("a " + word * most)
    assert not fits("a " + word * (most + 1))
