"""Command patterns in rules: which commands a rule allows, denies or asks about."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from fnmatch import fnmatchcase

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentscope_like.exception import ConfigurationError
from agentscope_like.permission import PermissionEngine
from agentscope_like.tool import Bash
from tests.permission.kit import context_of, decide, met, rule_of, suggested_for

MATCHES = [
    ("npm test:*", ["npm", "test"]),
    ("npm run:*", ["npm", "run", "build", "x"]),
    ("tool", ["tool"]),
    ("git commit -m *", ["git", "commit", "-m", "any words; at all"]),
    ("git commit -m '*'", ["git", "commit", "-m", "*"]),
    ("tool 'a b' \"c d\" e\\ f", ["tool", "a b", "c d", "e f"]),
    ("tool *.py", ["tool", "x.py"]),
    ("tool *.py", ["tool", ".py"]),
    ("pytest tests/*/unit:*", ["pytest", "tests/a/b/unit", "-q"]),
    ("npm run test*", ["npm", "run", "test:unit"]),
    ("npm run :*", ["npm", "run", "x"]),
    ("*:*", ["tool", "x"]),
    ("* x", ["tool", "x"]),
    ('tool "a\\"b"', ["tool", 'a"b']),
    ("tool ''", ["tool", ""]),
]

NO_MATCHES = [
    ("npm run:*", ["npm"]),
    ("npm run:*", ["npm", "runner"]),
    ("npm run:*", ["npm", "install", "run"]),
    ("npm run:*", ["npm", None]),
    ("npm run:*", ["npm", "run", None]),
    ("npm run:*", ["npm", "run", "build", "-x"]),
    ("npm run:*", [None, "run"]),
    ("tool", ["tool", "x"]),
    ("tool x", ["tool"]),
    ("git commit -m *", ["git", "commit", "-m", "x", "--no-verify"]),
    ("git commit -m *", ["git", "commit", "-m"]),
    ("git commit -m *", ["git", "commit", "-m", None]),
    ("git commit -m '*'", ["git", "commit", "-m", "x"]),
    ("tool *.py", ["tool", "x.pyc"]),
    ("ab*ba", ["aba"]),
    ("* x", ["tool", "y"]),
    ("NPM run:*", ["npm", "run", "x"]),
]


def line_of(words: Sequence[str | None]) -> str:
    """Return a command line of these words; None is a word that is only known at run time."""
    return " ".join("$X" if word is None else shlex.quote(word) for word in words)


def allowing(words: Sequence[str | None], *patterns: str) -> str | None:
    """Return the pattern of the rule that allows a command, or None if it is asked about."""
    rules = [f"allow Bash({pattern})" for pattern in patterns]
    decision = decide(line_of(words), rules=rules)
    assert (decision.behavior == "allow") == (decision.rule is not None)
    return None if decision.rule is None else decision.rule.rule_content


@pytest.mark.parametrize(("pattern", "words"), MATCHES)
def test_a_pattern_matches(pattern: str, words: list[str | None]) -> None:
    """A rule allows the commands that its pattern describes."""
    assert allowing(words, pattern) == pattern


@pytest.mark.parametrize(("pattern", "words"), NO_MATCHES)
def test_a_pattern_does_not_match(pattern: str, words: list[str | None]) -> None:
    """A rule does not allow their neighbours."""
    assert allowing(words, pattern) is None


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
    """A pattern that no command can match is an error when the rule is validated."""
    with pytest.raises(ConfigurationError):
        Bash().validate_rule(pattern)


def test_a_program_of_the_system_is_offered_by_its_name() -> None:
    """A rule for its bare name covers its path; a program of the project keeps its own path."""
    assert suggested_for("/usr/bin/npm run x") == ["npm run x"]
    assert suggested_for("./npm run x") == ["./npm run x"]


@pytest.mark.parametrize(
    ("line", "starts"),
    [
        ("cd src && make > log", "= cd src && make > log"),
        ("make > " + "x" * 200, "= sha256:"),
        ("python3 - <<'E'\n1\nE", "= sha256:"),
    ],
)
def test_a_pattern_for_a_whole_line_is_that_line(line: str, starts: str) -> None:
    """As it stands if it is short, else by its digest; any other line is another."""
    (pattern,) = suggested_for(line)
    assert pattern.startswith(starts)
    rules = ["allow Bash(ls)", f"allow Bash({pattern})"]
    decision = decide(line, rules=rules)
    assert decision.rule is not None
    assert decision.rule.rule_content == pattern
    assert decide(f"{line}; make", rules=rules).behavior == "ask"
    assert decide(f"X=1 {line}", rules=rules).behavior == "ask"


def test_an_operator_that_is_quoted_is_a_word() -> None:
    """Where a command has it as a word, a pattern can have it, quoted in whatever way."""
    for pattern in ("tool '(' x", 'tool "(" x', "tool \\( x"):
        assert allowing(["tool", "(", "x"], pattern) == pattern


def test_an_unknown_word_may_be_the_denied_one() -> None:
    """A deny rule asks if a word that is only known at run time may match its pattern."""
    assert met("git $X", "git push:*") == "ask"
    assert met("npm $X", "git push:*") == "allow"
    assert met("$X", "ls") == "ask"


def test_words_that_are_added_at_run_time_may_complete_a_denied_command() -> None:
    """A deny rule asks if words that are only known at run time may follow or complete it."""
    assert met("tool x $Y", "tool x y") == "ask"
    assert met("tool y $Y", "tool x y") == "allow"
    assert met("tool x", "tool x y") == "allow"


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("tool x $Y", "ask"),
        ("tool $Y x", "ask"),
        ("tool $Y", "ask"),
        ("tool x $(true)", "ask"),
        ("tool x ${Y:-}", "ask"),
        ('tool x "$@"', "ask"),
        ('tool x "$Y" $Z', "ask"),
        ('tool x "$Y"', "allow"),
        ('tool "$Y" z', "allow"),
        ("tool z $Y", "allow"),
        ("env tool x $Y", "ask"),
        ('env tool x "$Y"', "allow"),
        ("sh -c 'tool x $Y'", "ask"),
    ],
)
def test_a_word_that_may_vanish_or_split_may_leave_a_denied_command(
    command: str, found: str
) -> None:
    """Without quotes an unknown word may be no word, or several; with them it is one."""
    assert met(command, "tool x") == found


def test_a_word_may_split_into_all_that_is_denied() -> None:
    """One unknown word may stand for all the words of a rule that are missing."""
    for command in ("tool $A", "tool x $A", "tool x y $A", "tool $A z"):
        assert met(command, "tool x y z") == "ask", command
    for command in ('tool "$A"', "tool $A w", "other $A"):
        assert met(command, "tool x y z") == "allow", command


def test_the_first_rule_is_found() -> None:
    """If several rules match, the decision names the one that was listed first."""
    patterns = ("npm test", "npm:*", "npm run:*", "npm:*")
    assert allowing(["npm", "run", "x"], *patterns) == "npm:*"
    assert allowing(["npm", "run", "x"], *patterns[2:]) == "npm run:*"
    assert allowing(["npm", "test"], *patterns) == "npm test"


def test_a_rule_that_is_added_joins_the_others() -> None:
    """A rule that is added later is found, and the earlier ones are still found."""
    patterns = ["npm run:*", "tool"]
    assert allowing(["git", "add", "x"], *patterns) is None
    patterns += ["git add:*", "git *"]
    assert allowing(["git", "add", "x"], *patterns) == "git add:*"
    assert allowing(["git", "push"], *patterns) == "git *"
    assert allowing(["tool"], *patterns) == "tool"


words = st.text("ab*'\" -:", max_size=4)
patterns = st.lists(
    st.sampled_from(["a", "b", "ab", "a*", "*b", "a*b", "*", "ba"]), min_size=1, max_size=3
).filter(lambda chosen: chosen != ["*"])
commands = st.lists(st.one_of(st.none(), st.text("ab", max_size=3)), min_size=1, max_size=4).filter(
    lambda listed: bool(listed[0])
)


def matches_alone(pattern: str, command: Sequence[str | None]) -> bool:
    """Say whether one pattern matches, word by word, and no word may be an option."""
    wanted = pattern.removesuffix(":*").split(" ")
    if len(command) < len(wanted) or (len(command) > len(wanted) and not pattern.endswith(":*")):
        return False
    return None not in command and all(
        fnmatchcase(word or "", glob) for glob, word in zip(wanted, command, strict=False)
    )


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(patterns, st.booleans()), max_size=8), commands)
@example([(["a*"], False), (["ab"], False)], ["ab"])
@example([(["a"], True)], ["a", None])
def test_many_rules_agree_with_each_alone(
    rules: list[tuple[list[str], bool]], command: list[str | None]
) -> None:
    """Compiled together, patterns match exactly what they match one by one."""
    contents = [" ".join(listed) + (":*" if prefix else "") for listed, prefix in rules]
    alone = [content for content in contents if matches_alone(content, command)]
    assert allowing(command, *contents) == (alone[0] if alone else None)


@settings(deadline=None)
@given(st.lists(words.filter(str.strip), min_size=1, max_size=4))
def test_a_quoted_word_is_itself(listed: list[str]) -> None:
    """A pattern made of quoted words matches exactly these words."""
    pattern = shlex.join(listed)
    assert allowing(["tool", *listed], f"tool {pattern}")
    assert allowing(["tool", *listed, "x"], f"tool {pattern}") is None


@settings(deadline=None)
@given(st.lists(words.filter(str.strip), min_size=1, max_size=3))
def test_a_suggested_rule_allows_the_command(listed: list[str]) -> None:
    """The rules suggested for a command allow it, however its words are quoted."""
    command = ["tool", *listed]
    suggested = suggested_for(line_of(command))
    assert suggested
    assert allowing(command, *suggested) is not None


def test_a_hostile_pattern_is_no_slower() -> None:
    """Matching a glob takes a time that grows with the word alone."""
    pattern = "tool " + "*a" * 1000 + "*b"
    word = "a" * 8_000
    started = time.perf_counter()
    assert allowing(["tool", word], pattern) is None
    assert time.perf_counter() - started < 1
    assert allowing(["tool", f"{word}b"], pattern) == pattern


async def test_many_rules_are_as_fast_as_few() -> None:
    """40,000 rules cost hardly more than 20, globs among them."""

    async def seconds(count: int) -> float:
        engine = PermissionEngine(context_of())
        for number in range(count):
            engine.add_rule(rule_of(f"allow Bash(tool{number} run:*)"))
            engine.add_rule(rule_of(f"allow Bash(tool x{number}*y z:*)"))
        bash = Bash(confine="off")
        best = 1.0
        for _ in range(20):
            started = time.perf_counter()
            for command in ("tool7 run x", "tool x7abcy z"):
                decision = await engine.check_permission(bash, {"command": command})
                assert decision.behavior == "allow"
            best = min(best, time.perf_counter() - started)
        return best

    assert await seconds(20_000) < 3 * await seconds(10)


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("npm $x evil", "ask"),
        ("npm run evil", "deny"),
        ('npm "$x" good', "allow"),
        ("npm $x good", "ask"),
        ("npm test evil", "allow"),
    ],
)
def test_an_unknown_word_may_be_what_a_pattern_of_a_deny_rule_matches(
    command: str, found: str
) -> None:
    """A word that is only known at run time stands for each pattern of a rule, too."""
    assert met(command, "npm r* evil:*") == found


FORBIDDEN = """
/usr/bin/git push:* | git push x | deny
/usr/bin/git push:* | /usr/bin/git push | deny
git push:* | /usr/bin/git push | deny
git push:* | sudo git push | deny
git push:* | git pull | allow
tool /usr/bin/git | tool /usr/bin/git | deny
tool /usr/bin/git | tool git | allow
g* push:* | git push | deny
g* push:* | git pull | allow
* push:* | git push | deny
git push | git push | deny
git push | git push x | allow
git push | git push ( | deny
git push | git pull ( | allow
git push | git push x ( | deny
git push:* | git push ( | deny
git push:* | tool git push x ( | deny
git push -f | eval git push -f | deny
git push | eval git pull | allow
git push | npm run $x | allow
git push x | echo a | xargs git push | deny
git push x | xargs git pull | allow
"""
"""A pattern of a rule that denies, a command, and what becomes of it where else all runs."""


@pytest.mark.parametrize("row", FORBIDDEN.strip().splitlines())
def test_what_a_rule_forbids_is_met_however_it_is_started(row: str) -> None:
    """By whatever path and wrapper, and in a text that cannot be read; its neighbour is not."""
    pattern, _, rest = row.partition(" | ")
    command, _, behavior = rest.rpartition(" | ")
    assert decide(command, mode="bypass", rules=[f"deny {pattern}"]).behavior.value == behavior


def test_the_first_rule_that_denies_is_told() -> None:
    """If several rules match, the decision names the one that was listed first."""
    for rules in (["deny npm:*", "deny npm run:*"], ["deny npm run:*", "deny npm:*"]):
        decision = decide("npm run x", rules=rules)
        assert decision.rule is not None
        assert f"deny {decision.rule.rule_content}" == rules[0]


@pytest.mark.parametrize(
    ("first", "second", "command"),
    [
        ("npm run", "npm 'run'", ["npm", "run"]),
        ("npm:*", "'npm':*", ["npm", "ci"]),
        ("make a", "make 'a'", ["make", "a"]),
    ],
)
def test_of_two_spellings_the_first_is_found(first: str, second: str, command: list[str]) -> None:
    """Patterns of the same words are one pattern, which the first rule has."""
    for patterns in ([first, second], [second, first]):
        rules = [f"ask {pattern}" for pattern in patterns]
        decision = decide(line_of(command), rules=rules)
        assert decision.rule is not None
        assert decision.rule.rule_content == patterns[0]


async def test_a_rule_that_denies_is_met_as_soon_as_it_is_added() -> None:
    """A rule that comes after a decision counts in the next one, and the earlier ones still do."""
    engine, bash = PermissionEngine(context_of(["allow Bash", "deny git push:*"])), Bash()

    async def found(command: str) -> str:
        return (await engine.check_permission(bash, {"command": command})).behavior.value

    assert await found("npm ci") == "allow"
    engine.add_rule(rule_of("deny npm:*"))
    assert [await found(each) for each in ("npm ci", "git push", "make")] == [
        "deny",
        "deny",
        "allow",
    ]
    engine.add_rule(rule_of("deny m*:*"))
    assert [await found(each) for each in ("make", "npm ci", "tool")] == ["deny", "deny", "allow"]


def test_one_of_many_rules_that_deny_is_met() -> None:
    """However many first words there are, the command's own is found."""
    rules = ["allow Bash", *(f"deny tool{number} x:*" for number in range(70))]
    for command, behavior in (("tool69 x", "deny"), ("tool69 y", "allow"), ("tool x", "allow")):
        assert decide(command, rules=rules).behavior.value == behavior


@pytest.mark.parametrize(
    ("pattern", "nearest"),
    [
        ("install", ["install:*", "npm install:*"]),
        ("push", ["git push:*"]),
        ("rm", ["rm:*"]),
        ("/usr/bin/rm", ["/usr/bin/rm:*"]),
        ("= git push", ["names a whole line"]),
        ("make", []),
        ("ls", []),
        ("basename", []),
        ("uniq", []),
        ("git push", []),
        ("rm x", []),
        ("rm:*", []),
        ("p*", []),
    ],
)
def test_a_word_that_forbids_nothing_is_refused(pattern: str, nearest: list[str]) -> None:
    """Whoever forbids what does nothing is told what may be meant; to allow it is no mistake."""
    message = decide("true", rules=[f"deny Bash({pattern})"]).message
    assert ("could not be checked" in message) is bool(nearest)
    for each in nearest:
        assert each in message
    assert "could not be checked" not in decide("true", rules=[f"allow Bash({pattern})"]).message


@pytest.mark.parametrize(
    ("command", "offered"),
    [
        (f"tool {'x' * 195}", f"tool {'x' * 195}"),
        (f"tool {'x' * 196}", "= sha256:"),
        ("tool 'a\nb'", "= sha256:"),
        (f"make > {'x' * 193}", f"= make > {'x' * 193}"),
        (f"make > {'x' * 194}", "= sha256:"),
        ("tool 'a:*'", "tool 'a:*'"),
        ("tool a\\'b", "tool 'a'\\''b'"),
        ("tool ''", "tool ''"),
        ("ls; make x", "make x"),
        ("make; make", "make"),
    ],
)
def test_what_is_offered_is_one_readable_line(command: str, offered: str) -> None:
    """A command of at most 200 visible characters is offered as it is, a longer one as a digest."""
    (pattern,) = suggested_for(command)
    assert pattern == offered or (offered == "= sha256:" and pattern.startswith(offered))
    assert pattern.isprintable()
    assert decide(command, rules=[f"allow Bash({pattern})"]).behavior == "allow"


def test_a_line_like_a_digest_has_one_of_its_own() -> None:
    """A pattern that shows a digest stands for what has it, and for nothing else."""
    line = f"sha256:{'0' * 64} > f"
    rule = f"allow Bash(= {line})"
    assert decide(line, rules=[rule]).behavior == "allow"
    digest = f"sha256:{'0' * 64} # make"
    assert decide(digest, rules=[f"allow Bash(= {digest})"]).behavior == "ask"


MORE_MATCHES = [
    (" npm  test ", ["npm", "test"]),
    (" 'npm'  test ", ["npm", "test"]),
    ("tool 'a\\$b'", ["tool", "a\\$b"]),
    ('tool "a\\$b"', ["tool", "a$b"]),
    ('tool "a\\xb"', ["tool", "a\\xb"]),
    ("tool a'b'\"c\"", ["tool", "abc"]),
    ("tool a**b", ["tool", "ab"]),
    ("tool a*b*c", ["tool", "abbc"]),
    ("tool a*b*c", ["tool", "axbxc"]),
]


@pytest.mark.parametrize(("pattern", "words"), MORE_MATCHES)
def test_quotes_and_blanks_of_a_pattern_are_the_shells(pattern: str, words: list[str]) -> None:
    """A word is put together of its pieces, as bash does it."""
    assert allowing(words, pattern) == pattern
    assert allowing([*words, "x"], pattern) is None
