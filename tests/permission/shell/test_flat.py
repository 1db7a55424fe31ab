"""Flat command lines: a scanner of its own confirms them, and no other parser is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentscope_like.shell import analyze_unconfirmed
from agentscope_like.shell.syntax.reader import ReadError, read
from agentscope_like.shell.syntax.tree import Script
from agentscope_like.shell.voters import is_flat
from agentscope_like.shell.voters.comparison import Difference, difference_of_bashlex
from agentscope_like.shell.voters.findings import find
from agentscope_like.shell.voters.worker import Worker

FLAT = [
    "cat a | grep -v foo | sort -u | uniq -c | head -5",
    "git status && ls -la",
    "cd src; ls || true",
    "grep -rn 'a|b; $(c)' . | wc -l",
    'grep "a|b" f && echo "exit: $?"',
    "find . -name '*.py' -exec grep -l x {} \\; | head".replace("{}", "'{}'"),
    "ls missing 2>/dev/null | head; echo done",
    "make -n 2>&1 | tail -3",
    "LC_ALL=C sort < a.txt | uniq",
    "ls\nwc -l a",
    "[ -f a ] && cat a",
    "echo \\; \\| | cat",
    'echo "${HOME}" $1 $# $@ | cat',
]

NOT_FLAT = [
    "ls & pwd",
    "ls |& cat",
    "(ls; pwd)",
    "{ ls; pwd; }",
    "if ls; then pwd; fi",
    "ls; time pwd",
    "! ls | cat",
    "echo $(ls) | cat",
    "echo `ls` | cat",
    'echo "$(ls)" | cat',
    "cat <(ls) | cat",
    "cat <<E | cat\nE",
    "cat <<< x | cat",
    "echo ${x:-y} | cat",
    "echo $'a' | cat",
    'echo $"a" | cat',
    "echo $((1)) | cat",
    "echo {a,b} | cat",
    "ls | cat # all",
    "f() { ls; }; f",
    "[[ -f a ]] && cat a",
    "ls a\\\nb | cat",
    "case a in a) ls;; esac | cat",
    "a[0]=1; ls",
]


@pytest.mark.parametrize("text", FLAT)
def test_flat_text_is_confirmed_without_a_vote(text: str) -> None:
    """Words, quotes, redirections, pipes and lists need nobody else."""
    assert is_flat(text, read(text))
    doubts = analyze_unconfirmed(text, directory="/work").doubts
    assert not any("No other parser" in doubt.message for doubt in doubts)


@pytest.mark.parametrize("text", NOT_FLAT)
def test_whatever_else_occurs_needs_votes(text: str) -> None:
    """Everything that can hold a command, or hide where one ends, is for other parsers to see."""
    try:
        script = read(text)
    except ReadError:
        return
    assert not is_flat(text, script)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("ls; pwd", "ls pwd"),
        ("ls > a; pwd", "ls >b; pwd"),
        ("ls | cat", "time ls | cat"),
        ("ls | cat", "ls | (cat)"),
        ("ls | cat", "ls cat"),
        ("ls | cat", "x=1 ls | cat"),
        ("ls cat", "ls | cat"),
        ("ls cat", "ls 'cat '"),
    ],
)
def test_a_reading_of_other_commands_is_not_confirmed(text: str, other: str) -> None:
    """What the scanner finds has to be what was read, place by place."""
    assert is_flat(text, read(text))
    assert not is_flat(text, read(other))


KEYWORDS = (
    *("if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac"),
    *("in", "select", "function", "time", "coproc"),
)


@pytest.mark.parametrize("word", KEYWORDS)
def test_a_keyword_is_no_command_to_the_scanner(word: str) -> None:
    """Whatever the reader made of it, a bare keyword where a command begins is not flat."""
    for text in ("{} ls", "ls | {} cat"):
        assert not is_flat(text.format(word), read(text.format(f"'{word}'")))
    for text in ("ls; {} cat", "ls 'a' && {} cat"):
        same_places = read(text.format("x" * len(word)))
        assert not is_flat(text.format(word), same_places)
        assert is_flat(text.format("y" * len(word)), same_places)


@pytest.fixture(scope="module")
def parsers() -> Iterator[Worker]:
    """The real parsers, with time enough on a busy machine."""
    worker = Worker(answer_seconds=10)
    yield worker
    worker.close()


PIECES = st.sampled_from(
    [
        *("a", "-x", "b.txt", "b1", "*.py", "n=o", "~/p", "+s", "''", "'c d'", "'e|f;g'"),
        *("'q\nr'", '""', '"h $i"', '"j\\"k"', "\\;", "\\ ", "$l", "${m}", "$?"),
    ]
)
WORDS = st.lists(PIECES, min_size=1, max_size=3).map("".join)
REDIRECTS = st.sampled_from(["2>/dev/null", "> out", "<in", ">>log", "2>&1", "&>all", "1>&2"])
COMMANDS = st.lists(WORDS | REDIRECTS, max_size=3).map(lambda rest: " ".join(["cmd", *rest]))
JOINTS = st.sampled_from([" | ", "|", " && ", "&&", " || ", "; ", ";", "\n"])
TEXTS = st.lists(st.tuples(COMMANDS, JOINTS), min_size=1, max_size=4).map(
    lambda pairs: "".join(command + joint for command, joint in pairs[:-1]) + pairs[-1][0]
)
SPARKS = st.sampled_from([*"(){}<>&|;#!\\'\"\n []=$", "<<E", "$'", '$"', " if ", " [ "])


def bashlex_differs(parsers: Worker, text: str, script: Script) -> Difference | None:
    """Return how bash's own grammar, as bashlex has it, sees other commands.

    tree-sitter-bash is no judge here: it loses words behind a redirection.
    """
    return difference_of_bashlex(text, find(text, script), parsers.ask(text).bashlex)


@given(TEXTS)
def test_what_is_composed_flat_is_flat(parsers: Worker, text: str) -> None:
    """The scanner, the reader and bash's grammar find the same commands."""
    script = read(text)
    assert is_flat(text, script)
    assert bashlex_differs(parsers, text, script) is None


@given(TEXTS, st.data())
def test_a_spark_never_makes_the_scanner_agree_alone(
    parsers: Worker, text: str, data: st.DataObject
) -> None:
    """Wherever a character of the shell's own is put in, what is still flat others confirm."""
    place = data.draw(st.integers(0, len(text)))
    text = text[:place] + data.draw(SPARKS) + text[place:]
    # The comparison takes a target of digits, or of nothing, for a descriptor.
    assume(not re.search(r"[<>]\s*(?:[0-9]|\"\"|'')", text))
    try:
        script = read(text)
    except ReadError:
        return
    if is_flat(text, script):
        assert bashlex_differs(parsers, text, script) is None
