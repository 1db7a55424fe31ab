"""Command patterns, and the index that finds the one which speaks of a command."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_like.permission import PatternError
from agentscope_like.permission.command.command_patterns import (
    CommandIndex,
    WordGlob,
    compile_command,
    quoted,
)

MATCHES = [
    ("npm run:*", ["npm", "run"]),
    ("npm run:*", ["npm", "run", "build", "-x"]),
    ("npm run:*", ["npm", "run", None]),
    ("rm", ["rm"]),
    ("git commit -m *", ["git", "commit", "-m", "any words; at all"]),
    ("git commit -m '*'", ["git", "commit", "-m", "*"]),
    ("echo 'a b' \"c d\" e\\ f", ["echo", "a b", "c d", "e f"]),
    ("ls *.py", ["ls", "x.py"]),
    ("ls *.py", ["ls", ".py"]),
    ("pytest tests/*/unit:*", ["pytest", "tests/a/b/unit", "-q"]),
    ("npm run test*", ["npm", "run", "test:unit"]),
    ("npm run :*", ["npm", "run", "x"]),
    ("*:*", ["ls", "x"]),
    ("* x", ["ls", "x"]),
    ('echo "a\\"b"', ["echo", 'a"b']),
    ("echo ''", ["echo", ""]),
]

NO_MATCHES = [
    ("npm run:*", ["npm"]),
    ("npm run:*", ["npm", "runner"]),
    ("npm run:*", ["npm", "install", "run"]),
    ("npm run:*", ["npm", None]),
    ("npm run:*", [None, "run"]),
    ("rm", ["rm", "x"]),
    ("rm x", ["rm"]),
    ("git commit -m *", ["git", "commit", "-m", "x", "--no-verify"]),
    ("git commit -m *", ["git", "commit", "-m"]),
    ("git commit -m *", ["git", "commit", "-m", None]),
    ("git commit -m '*'", ["git", "commit", "-m", "x"]),
    ("ls *.py", ["ls", "x.pyc"]),
    ("ab*ba", ["aba"]),
    ("* x", ["ls", "y"]),
    ("NPM run:*", ["npm", "run"]),
]


@pytest.mark.parametrize(("pattern", "words"), MATCHES)
def test_a_pattern_matches(pattern: str, words: list[str | None]) -> None:
    """A pattern speaks of the commands that its words describe."""
    assert CommandIndex([pattern]).find(words) == 0


@pytest.mark.parametrize(("pattern", "words"), NO_MATCHES)
def test_a_pattern_does_not_match(pattern: str, words: list[str | None]) -> None:
    """A pattern does not speak of their neighbours."""
    assert CommandIndex([pattern]).find(words) is None


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "*",
        "  ",
        ":*",
        " :*",
        "'a",
        'b "c',
        "a\\",
        "a\nb",
        "a\x00",
        "''",
        "'' x",
        "a\u2028b",
        "x" * 5000,
        "rm -rf x && ls",
        "npm test | tail:*",
        "echo x>y",
        "a; b",
        "(ls)",
    ],
)
def test_what_could_never_match_is_refused(pattern: str) -> None:
    """A pattern that no command can match is an error when it is loaded."""
    with pytest.raises(PatternError):
        compile_command(pattern)


def test_an_operator_that_is_quoted_is_a_word() -> None:
    """Where a command has it as a word, a pattern can have it, quoted in whatever way."""
    for pattern in ("find '(' -name x", 'find "(" -name x', "find \\( -name x"):
        assert CommandIndex([pattern]).find(["find", "(", "-name", "x"]) == 0


def test_an_unknown_word_may_be_anything_when_guessing() -> None:
    """What forbids can ask whether a pattern may come to match."""
    index = CommandIndex(["git push:*", "ls"])
    assert index.find(["git", None], guess=True) == 0
    assert index.find(["git", None]) is None
    assert index.find(["npm", None], guess=True) is None
    assert index.find([None], guess=True) is not None


def test_an_open_end_lets_exact_patterns_match_more_words() -> None:
    """Where it is not known where a command ends, an exact pattern matches its beginning."""
    index = CommandIndex(["rm -rf x"])
    assert index.find(["rm", "-rf", "x", "y"], open_end=True) == 0
    assert index.find(["rm", "-rf", "x", "y"]) is None


def test_the_first_rule_is_found() -> None:
    """Of several that match, the one listed first is named."""
    index = CommandIndex(["npm test", "npm:*", "npm run:*", "npm:*"])
    assert index.find(["npm", "run"]) == 1
    assert index.find(["npm", "test"]) == 0


def test_an_extended_index_knows_all() -> None:
    """One pattern more is found under the next position, the others as before."""
    index = CommandIndex(["npm run:*", "ls"])
    extended = index.extended("git add:*").extended("git *")
    assert len(extended) == 4
    assert extended.find(["git", "add", "x"]) == 2
    assert extended.find(["git", "log"]) == 3
    assert extended.find(["ls"]) == 1
    assert index.find(["git", "add", "x"]) is None


words = st.text("ab*'\" -:", max_size=4)
patterns = st.lists(
    st.sampled_from(["a", "b", "ab", "a*", "*b", "a*b", "*", "ba"]), min_size=1, max_size=3
).filter(lambda chosen: chosen != ["*"])
commands = st.lists(st.one_of(st.none(), st.text("ab", max_size=3)), min_size=1, max_size=4)


def matches_alone(pattern: str, command: list[str | None], *, guess: bool) -> bool:
    """Say whether one pattern matches, word by word: the plain meaning of a pattern."""
    compiled = compile_command(pattern)
    if len(command) < len(compiled.words):
        return False
    if len(command) > len(compiled.words) and not compiled.is_prefix:
        return False
    for wanted, word in zip(compiled.words, command, strict=False):
        if word is None:
            if not guess:
                return False
        elif not (wanted.matches(word) if isinstance(wanted, WordGlob) else wanted == word):
            return False
    return True


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(patterns, st.booleans()), max_size=8), commands, st.booleans())
def test_the_index_agrees_with_asking_one_by_one(
    rules: list[tuple[list[str], bool]], command: list[str | None], guess: bool
) -> None:
    """Compiled together, patterns match exactly what they match one by one."""
    contents = [" ".join(listed) + (":*" if prefix else "") for listed, prefix in rules]
    alone = [
        position
        for position, content in enumerate(contents)
        if matches_alone(content, command, guess=guess)
    ]
    assert CommandIndex(contents).find(command, guess=guess) == (alone[0] if alone else None)


@given(st.lists(words.filter(str.strip), min_size=1, max_size=4))
def test_a_quoted_word_is_itself(listed: list[str]) -> None:
    """A pattern made of quoted words matches exactly these words."""
    pattern = " ".join(map(quoted, listed))
    assert CommandIndex([pattern]).find(listed) == 0
    assert CommandIndex([pattern]).find([*listed, "x"]) is None


def test_a_hostile_pattern_is_no_slower() -> None:
    """Matching a glob takes a time that grows with the word alone."""
    index = CommandIndex(["x " + "*a" * 1000 + "*b"])
    started = time.perf_counter()
    assert index.find(["x", "a" * 100_000]) is None
    assert time.perf_counter() - started < 1


def test_many_rules_are_as_fast_as_few() -> None:
    """100,000 rules cost hardly more than 10, globs among them."""

    def seconds(count: int) -> float:
        index = CommandIndex(
            [f"tool{number} run:*" for number in range(count)]
            + [f"git x{number}*y z:*" for number in range(count)]
        )
        best = 1.0
        for _ in range(5):
            started = time.perf_counter()
            for _ in range(2_000):
                index.find(["tool7", "run", "x"])
                index.find(["git", "x7abcy", "z"])
            best = min(best, time.perf_counter() - started)
        return best

    assert seconds(20_000) < 6 * seconds(10)
