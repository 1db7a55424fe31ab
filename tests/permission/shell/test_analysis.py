"""The analysis as a whole: parts, scopes, and what no wrapping may change."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.permission.kit import CommandAnalysis, analyze

from .test_catalog import PROGRAMS

READS = [command for group in PROGRAMS.values() for command in group["reads"]]
OTHER = [command for group in PROGRAMS.values() for command in group["other"]]


def read(command: str) -> CommandAnalysis:
    """Return the analysis of a command that runs in /ws."""
    return analyze(command, directory="/ws", home="/home/u")


WRAPPINGS = [
    "{}",
    "( {} )",
    "{{ {}; }}",
    "ls && {}",
    "{} || ls",
    "ls; {}; ls",
    "{} & ls",
    "! {}",
    "echo $( {} )",
    'echo "$( {} )"',
    "cat <( {} )",
    "if true; then {}; fi",
    "if {}; then ls; fi",
    "for every in 1 2; do {}; done",
    "while {}; do ls; done",
    "case x in x) {};; esac",
    "f() {{ {}; }}; f",
    "x=$( {} )",
    "echo ${{x:-$( {} )}}",
    "[[ $( {} ) ]]",
    "time {}",
]
SIMPLE = [command for command in OTHER if "\n" not in command and "&" not in command[-3:]]


@given(st.sampled_from(SIMPLE), st.lists(st.sampled_from(WRAPPINGS), max_size=3))
@settings(max_examples=300, deadline=None)
def test_wrapping_never_proves(command: str, wrappings: list[str]) -> None:
    """What is not proven alone is not proven inside, before or after anything."""
    for wrapping in wrappings:
        command = wrapping.format(command)
    assert not read(command).read_only


@given(
    st.sampled_from(READS), st.sampled_from(OTHER), st.sampled_from([" && ", " || ", "; ", "\n"])
)
@settings(max_examples=200, deadline=None)
def test_one_bad_part_is_enough(good: str, bad: str, connector: str) -> None:
    """A harmless command beside a harmful one does not make it harmless."""
    if "$" in bad:
        good = f"({good}\n)"  # what it sets may make the other one harmless: `let y=1; rg x "$y"`
    assert not read(f"{good}{connector}{bad}").read_only


@given(st.text(alphabet="ls rm$`'\"\\(){}<>|&;*?[]~=-x/\n#!", max_size=40))
@settings(max_examples=300, deadline=None)
def test_never_raises(command: str) -> None:
    """Whatever the text, there is an answer, and an unread text is never proven."""
    analysis = read(command)
    assert analysis.script is not None or not analysis.read_only


def test_parts_stand_in_order_with_their_parents() -> None:
    """A wrapper and what it runs, a command and its substitution, know each other."""
    parts = read("timeout 5 ls $(pwd) | xargs -0 wc -l").parts
    assert [part.program for part in parts] == ["timeout", "pwd", "ls", "xargs", "wc"]
    assert [part.parent for part in parts] == [None, 0, 0, None, 3]
    assert parts[0].argv == ("timeout", "5", "ls", "/ws")
    assert parts[2].argv == ("ls", "/ws")


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("ls", "ls"),
        ("/usr/bin/ls", "ls"),
        ("/bin/ls", "ls"),
        ("'l's", "ls"),
        ("./ls", None),
        ("~/bin/ls", None),
        ("/tmp/ls", None),
        ("/usr/bin/../../tmp/ls", None),
        ("$x", None),
    ],
)
def test_programs_are_bare_names_or_in_system_directories(
    command: str, program: str | None
) -> None:
    """A path names a known program only in the system's own directories."""
    assert read(command).parts[0].program == program


@pytest.mark.parametrize(
    ("command", "directories"),
    [
        ("ls", ["/ws"]),
        ("cd a && ls", ["/ws", "/ws/a"]),
        ("cd a && cd .. && ls", ["/ws", "/ws/a", "/ws"]),
        ("(cd a && ls); ls", ["/ws", "/ws/a", "/ws"]),
        ("cd /tmp | ls", ["/ws", "/ws"]),
        ("cd && ls", ["/ws", "/home/u"]),
        ("cd $x && ls", ["/ws", None]),
        ("cd - && ls", ["/ws", None]),
        ("for i in a; do cd x; ls; done", [None, None]),
    ],
)
def test_directories_are_followed(command: str, directories: list[str | None]) -> None:
    """A literal `cd` is followed, a computed one makes the directory unknown."""
    assert [part.directory for part in read(command).parts] == directories


@pytest.mark.parametrize(
    ("command", "proven"),
    [
        ('for f in src/*; do sort "$f"; done', True),
        ('for f in *; do sort "$f"; done', False),
        ("for f in src/*; do sort $f; done", False),
        ("x=src; sort $x", True),
        ("x=-o; sort $x f", False),
        ("x='-o f'; sort $x", False),
        ('x=a; if true; then x=-o; fi; sort "$x"', False),
        ('x=a; for i in 1 2; do sort "$x"; x=-o; done', False),
        ('x=a; (x=-o); sort "$x"', True),
        ("sort -- $x/a", True),
        ('sort "./$x/a"', True),
        ('sort "$x"', False),
        ("sort ./*", True),
        ("sort *", False),
        ("du *", True),
        ("i=0; while true; do i=$((i+1)); done", True),
        ("read i; echo $((i+1))", False),
        ("git log $(git rev-parse HEAD)", True),
        ("git log $(git rev-parse --sq-quote x)", False),
        ("git log $(cat f)", False),
        ("f() { ls; }; f", True),
        ("f() { f; }; f", False),
        ("if false; then f() { ls; }; fi; f", False),
        ("ls() { pwd; }; ls", True),
        ("echo $(id() { ls; }; echo $(($(id -u))))", False),
        ("echo $(echo $(($(id -u))))", True),
        ("cd $x && ls", True),
        ("cd $x && git status", False),
        ("find $(pwd) -name x", True),
        ("cd $x; find $(pwd) -name x", False),
        ('find "./$x" -name y', True),
    ],
)
def test_what_is_known_of_computed_words(command: str, proven: bool) -> None:
    """A computed argument is taken only where it can become neither an option nor several."""
    assert read(command).read_only is proven


def test_each_program_of_a_loop_is_a_part() -> None:
    """Where a word may name one of several programs, rules see a part for each, by its name."""
    parts = read('for c in ls git; do timeout 5 pwd; "$c" push; done').parts
    assert [each.argv for each in parts if each.argv[1:] == ("push",)] == [
        ("ls", "push"),
        ("git", "push"),
    ]
    assert [each.argv for each in read('"$c" push').parts] == [(None, "push")]


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("x=cd; for i in 1 2; do cat a; $x /etc; done", None),
        ("f() { cd /etc; }; for i in 1 2; do cat a; f; done", None),
        ("for i in 1 2; do cat a; (cd /etc); done", "/ws/a"),
        ("for i in 1 2; do cat a; cd /etc; done", None),
    ],
)
def test_a_directory_is_known_only_where_no_turn_of_a_loop_changes_it(
    command: str, path: str | None
) -> None:
    """A `cd` in a loop counts for what stands before it, however it is called."""
    part = next(each for each in read(command).parts if each.argv == ("cat", "a"))
    assert [each.path for each in part.effects] == [path]


def test_answers_are_kept() -> None:
    """The same question is answered by the same object."""
    assert read("ls -la") is read("ls -la")
    assert analyze("ls -la", directory="/other") is not read("ls -la")


def test_many_parts_are_refused() -> None:
    """A command line of more parts than are judged is not understood, and not proven."""
    assert not read("; ".join(["ls"] * 2000)).read_only


SAMPLES = Path(os.environ.get("SHELL_SAMPLES", "/nonexistent"))


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="SHELL_SAMPLES names no directory of samples")
def test_samples() -> None:
    """No harmful sample is proven, and under 3 % of the harmless ones are refused."""
    harmful, harmless = (
        [json.loads(line) for line in (SAMPLES / name).read_text("utf-8").splitlines()]
        for name in ("bypass.jsonl", "benign.jsonl")
    )
    assert [row["command"] for row in harmful if read(row["command"]).read_only] == []
    refused = [row["command"] for row in harmless if not read(row["command"]).read_only]
    assert len(refused) < 0.03 * len(harmless), refused
