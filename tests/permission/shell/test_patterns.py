"""Which unquoted characters of a word stand for directories and files, and where they stand."""

from __future__ import annotations

import re
import subprocess
from fnmatch import fnmatchcase
from itertools import pairwise, product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.permission.kit import EffectKind, analysis_of, paths_of
from tests.permission.shell.syntax import (
    Assignment,
    Glob,
    Literal,
    Segment,
    SimpleCommand,
    Span,
    Tilde,
    Variable,
    Word,
    read,
)


def told(segments: tuple[Segment, ...] | list[Segment]) -> list[str]:
    """Return the segments of a word, each with a letter for its kind."""
    found: list[str] = []
    for each in segments:
        match each:
            case Literal(text=text, quoted=quoted):
                found.append(f"{'q' if quoted else 'l'} {text}")
            case Glob(text=text):
                found.append(f"g {text}")
            case Tilde(user=user):
                found.append(f"t {user}")
            case Variable(name=name):
                found.append(f"v {name}")
            case _:
                found.append("?")
    return found


def word_of(command: str) -> Word:
    """Return the last word of a command."""
    simple = read(command).statements[0].command
    assert isinstance(simple, SimpleCommand)
    return simple.words[-1]


def value_of(command: str) -> Word:
    """Return what a command assigns."""
    (value,) = (node.value for node in read(command).nodes if isinstance(node, Assignment))
    assert isinstance(value, Word)
    return value


def is_read(command: str) -> bool:
    """Return whether the strict reader takes a command."""
    return analysis_of(command).script is not None


@pytest.mark.parametrize(
    ("word", "segments"),
    [
        ("~", ["t "]),
        ("~/a", ["t ", "l /a"]),
        ("~root/a", ["t root", "l /a"]),
        ("~a.b_c+d-1", ["t a.b_c+d-1"]),
        ("~/$x", ["t ", "l /", "v x"]),
        ("~/~", ["t ", "l /~"]),
        ("a~", ["l a~"]),
        ("a~/b", ["l a~/b"]),
        ("/~/b", ["l /~/b"]),
        ("a:~/b", ["l a:~/b"]),
        ('"~"/b', ["q ~", "l /b"]),
        ('"a"~/b', ["q a", "l ~/b"]),
        ("$x~/b", ["v x", "l ~/b"]),
        ("$x/~", ["v x", "l /~"]),
        ("~/a:~/b", ["t ", "l /a:~/b"]),
        ("~:a", None),
        ("~%a", None),
        ('~"a"', None),
        ("~$x", None),
        ('~"/a"', None),
        ("~a$x", None),
    ],
)
def test_a_tilde_counts_where_a_word_begins(word: str, segments: list[str] | None) -> None:
    """What follows is a name and a slash, or nothing; a word of another kind is not read."""
    assert is_read(f"ls {word}") is (segments is not None)
    if segments is not None:
        assert told(word_of(f"ls {word}").segments) == segments


@pytest.mark.parametrize(
    ("word", "segments"),
    [
        ("x=~", ["l x=", "t "]),
        ("x=~/a", ["l x=", "t ", "l /a"]),
        ("_1+=~/a", ["l _1+=", "t ", "l /a"]),
        ("x=a:~/b", ["l x=a:", "t ", "l /b"]),
        ("x=~:~/b", ["l x=", "t ", "l :", "t ", "l /b"]),
        ("x=$y:~/b", ["l x=", "v y", "l :", "t ", "l /b"]),
        ("x=a~/b", ["l x=a~/b"]),
        ("x=y=~/b", ["l x=y=~/b"]),
        ("x=$y~/b", ["l x=", "v y", "l ~/b"]),
        ("x=$y=~/b", ["l x=", "v y", "l =~/b"]),
        ("x=$yy=a~/b", ["l x=", "v yy", "l =a~/b"]),
        ("x=$y.a~/b", ["l x=", "v y", "l .a~/b"]),
        ("a/b=~/c", ["l a/b=~/c"]),
        ("1x=~/c", ["l 1x=~/c"]),
        ('"x"=~/c', ["q x", "l =~/c"]),
        ('"x=a:"~/c', ["q x=a:", "l ~/c"]),
        ('"x="a:~/c', ["q x=", "l a:~/c"]),
        ("$x=a:~/c", ["v x", "l =a:~/c"]),
        ("x=~%a", None),
        ("x=a:~%a", None),
    ],
)
def test_a_word_like_an_assignment_has_tildes_in_its_value(
    word: str, segments: list[str] | None
) -> None:
    """There a tilde counts where the value begins, and behind each colon of it."""
    assert is_read(f"ls {word}") is (segments is not None)
    if segments is not None:
        assert told(word_of(f"ls {word}").segments) == segments


@pytest.mark.parametrize(
    ("assignment", "segments"),
    [
        ("x=~", ["t "]),
        ("x=~/a:~b/c", ["t ", "l /a:", "t b", "l /c"]),
        ("x=a:~", ["l a:", "t "]),
        ("x=$y:~/b", ["v y", "l :", "t ", "l /b"]),
        ('x="a:"~/b', ["q a:", "l ~/b"]),
        ("x=a~", ["l a~"]),
        ("x='~'", ["q ~"]),
        ("x='~'a", ["q ~", "l a"]),
        ("x=*", ["l *"]),
    ],
)
def test_a_value_has_tildes_and_no_patterns(assignment: str, segments: list[str]) -> None:
    """What is assigned is matched with no files, and begins anew behind each colon."""
    assert told(value_of(assignment).segments) == segments


@pytest.mark.parametrize(
    ("word", "segments"),
    [
        ("a*b?c", ["l a", "g *", "l b", "g ?", "l c"]),
        ("*", ["g *"]),
        ("a**?", ["l a", "g **?"]),
        ("[ab]c", ["g [ab]", "l c"]),
        ("a[!]x]", ["l a", "g [!]x]"]),
        ("a[^]x]", ["l a", "g [^]x]"]),
        ("a[]x]b", ["l a", "g []x]", "l b"]),
        ("[a]]b", ["g [a]]", "l b"]),
        ("[a]*[b]", ["g [a]", "g *", "g [b]"]),
        ("a]", ["l a]"]),
        ("a]*", ["l a]", "g *"]),
        ("[a", ["l [a"]),
        ("a]*[b", ["l a]", "g *", "l [b"]),
        ("[a*", ["l [a", "g *"]),
        ("[$x]b", ["g [", "v x", "l ]b"]),
        ("a[$x]", ["l a", "g [", "v x", "l ]"]),
        ("[a$x.b$y]c", ["g [", "l a", "v x", "l .b", "v y", "l ]c"]),
        ("[a]b[$x]c", ["g [a]", "l b", "g [", "v x", "l ]c"]),
        ("[$x[a", ["l [", "v x", "l [a"]),
        ('["]"a', ["l [", "q ]", "l a"]),
        ('"["a]', ["q [", "l a]"]),
        ('["a"]', ["g [", "q a", "l ]"]),
        ('a[]"]"b]', ["l a", "g [", "l ]", "q ]", "l b]"]),
        ('a[!]"b"]', ["l a", "g [", "l !]", "q b", "l ]"]),
        ('a[^]"b"]', ["l a", "g [", "l ^]", "q b", "l ]"]),
        ('a[]"b"', ["l a", "g []", "q b"]),
        ('"*"a', ["q *", "l a"]),
        ('"*"a?', ["q *", "l a", "g ?"]),
        ("$x*", ["v x", "g *"]),
        ("~/*", ["t ", "l /", "g *"]),
        (r"\*a", ["q *", "l a"]),
    ],
)
def test_pattern_characters_are_split_off(word: str, segments: list[str]) -> None:
    """A bracket counts where one closes it that is not quoted, in the same text or behind it."""
    assert told(word_of(f"ls {word}").segments) == segments


@pytest.mark.parametrize("word", ["a~b*c[d]e", "~/a*", "x=~/a?b", "x=a:~b/c", "[a$x]b", "ab[c]*d"])
def test_each_piece_knows_its_place(word: str) -> None:
    """The places of the pieces follow one another, and each is where its text stands."""
    command = f"ls {word}"
    segments = word_of(command).segments
    assert segments[0].span.start == len("ls ")
    assert segments[-1].span.end == len(command)
    for one, other in pairwise(segments):
        assert one.span.end == other.span.start
    for each in segments:
        if isinstance(each, Literal | Glob):
            assert command[each.span.start : each.span.end] == each.text


def test_a_continued_line_leaves_no_place_for_a_piece() -> None:
    """Where the text is shorter than what stands there, each piece is all of it."""
    command = "ls a\\\nb*c"
    first, pattern, last = word_of(command).segments
    assert told([first, pattern, last]) == ["l ab", "g *", "l c"]
    assert {first.span, pattern.span, last.span} == {Span(3, len(command))}


def test_what_is_not_understood_is_shown() -> None:
    """The place of a tilde that cannot be read is that of the tilde and its name."""
    (doubt,) = analysis_of("ls x=~ab%c").doubts
    assert (doubt.span.start, doubt.span.end) == (5, 8)


@pytest.mark.parametrize(
    ("word", "path"),
    [
        ("[ab]c", "/ws/[ab]c"),
        ('["a"]', "/ws/*"),
        (r"a[b\]]c", "/ws/a*"),
        ('a["b"]*c[d"e"]', "/ws/a*"),
        ('a["b"/c]d/e', "/ws/a*/*/*"),
        ("[a]b[c$x]d$y", None),
        ("a]", "/ws/a]"),
        ("'*'", "/ws/*"),
    ],
)
def test_what_stands_in_quoted_brackets_may_be_anything(word: str, path: str | None) -> None:
    """Where brackets hold quotes or variables, all but the slashes is left open."""
    assert paths_of(f"cat {word}", EffectKind.READ) == [path]


CHARACTERS = "ab]!-^["
NAMES = ["".join(each) for length in (1, 2) for each in product(CHARACTERS, repeat=length)]
PIECES = [
    *(f"{quote}{each}{quote}" for each in (*CHARACTERS, "a-b", "]b") for quote in ("", "'", '"')),
    *(f"\\{each}" for each in CHARACTERS),
]
WORDS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join).map("[{}]".format)


EXPRESSION = re.compile(r"\[([!^]?+)(\]?+[^]]*\])")
"""A bracket expression: a `]` that comes first, or behind the negation, does not close it."""


def is_matched(name: str, pattern: str) -> bool:
    """Return whether a pattern matches a name, with `^` for a negation as bash has it."""
    as_python = EXPRESSION.sub(lambda found: f"[{found[1] and '!'}{found[2]}", pattern)
    return name == pattern or fnmatchcase(name, as_python)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(WORDS, min_size=20, max_size=20))
def test_what_bash_matches_is_among_what_is_read(words: list[str], tmp_path: Path) -> None:
    """However a bracket expression is quoted, no file that bash matches with it is overlooked."""
    for name in NAMES:
        (tmp_path / name).touch()
    script = "; echo; ".join(f"printf '%s ' {word}" for word in words)
    bash = ["/bin/bash", "--norc", "-c", script]
    shown = subprocess.run(bash, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    for word, line in zip(words, shown.split("\n"), strict=True):
        patterns = [path.removeprefix("/ws/") for path in paths_of(f"cat ./{word}") if path]
        for name in set(line.split()) & set(NAMES):
            assert any(is_matched(name, each) for each in patterns), (word, name)
