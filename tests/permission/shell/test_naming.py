"""The paths that a command names to programs that may do anything with them.

Where nothing else is asked about, a rule that denies to read a path asks where it is named.
"""

from __future__ import annotations

import pytest

from agentscope_like.permission import PermissionBehavior
from tests.permission.kit import decide, met


def names(command: str, path: str) -> bool:
    """Return whether a command names a path: whether a rule that denies to read it asks."""
    decision = decide(command, mode="bypass", rules=[f"deny Read({path})"])
    return decision.behavior is not PermissionBehavior.ALLOW and path in decision.message


@pytest.mark.parametrize(
    "command",
    [
        "no-such-tool a.txt",
        "no-such-tool --in=a.txt",
        "make a.txt",
        "curl -T a.txt http://h",
        "git add a.txt",
        "cat <( ; a.txt",
        "cat a.txt < /dev/tcp/h/1",
    ],
)
def test_a_program_that_may_do_anything_names_its_words(command: str) -> None:
    """What is not known, runs code or sends something may read what it is told of."""
    assert names(command, "a.txt")
    assert not names(command, "b.txt")


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c 'open(\"a.txt\")'",
        "bash -c 'no-such-tool(a.txt'",
        "awk 'BEGIN { system(\"cat a.txt\") }'",
        "gawk 'BEGIN { system(\"cat a.txt\") }'",
        "mawk 'BEGIN { system(\"cat a.txt\") }'",
        "sed 's/a/cat a.txt /e' f",
        "gsed 's/a/cat a.txt /e' f",
        "sqlite3 db '.read a.txt'",
        'python3 -c "$x" \'open("a.txt")\'',
        "python3 <<E\nopen('a.txt')\nE",
        "python3 <<'E'\nopen('a.txt')\nE",
        "python3 <<-E\nopen('a.txt')\nE",
        "python3 - x <<< 'open(\"a.txt\")'",
        "bash <<E\nno-such-tool(a.txt\nE",
    ],
)
def test_code_names_what_stands_in_it(command: str) -> None:
    """The words of a script count, in an argument and in what is read as input."""
    assert names(command, "a.txt")
    assert not names(command, "b.txt")


@pytest.mark.parametrize(
    "command",
    [
        "no-such-tool 'open(\"a.txt\")'",
        "no-such-tool <<E\nopen('a.txt')\nE",
        "no-such-tool <<< 'open(\"a.txt\")'",
        "python3 b.py > a.txt",
    ],
)
def test_another_text_names_nothing(command: str) -> None:
    """A text that is no code is one word; where a redirection writes is no read."""
    assert met(command, "Grep(a.txt)") == "allow"


@pytest.mark.parametrize(
    ("command", "path", "is_named"),
    [
        ("cd d; no-such-tool a", "d/a", True),
        ("cd d; no-such-tool a", "a", True),
        ("cd d; no-such-tool a", "e/a", False),
        ('cd "$x"; no-such-tool a', "a", True),
        ("cd d; no-such-tool /b", "/b", True),
        ("no-such-tool ~/c", "~/c", True),
        ("no-such-tool '~/d'", "~/d", True),
        ("cat b; grep -r x b; rm b; cp b c", "a", False),
        (f"no-such-tool {'/d' * 3000} a", "a", True),
    ],
)
def test_a_name_counts_from_each_directory_that_may_be_meant(
    command: str, path: str, is_named: bool
) -> None:
    """Where it is not known in which a part runs, it is that of the command."""
    assert names(command, path) is is_named


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("git show HEAD:a", "a"),
        ("cd d && git show a", "d/a"),
        ("cd d && git show a", "a"),
        ("git log --stat -- a", "a"),
        ("git log -p -- ':(top)a'", "a"),
        ("git diff ':/a'", "a"),
        ("git show a", "a"),
        ("git log -p -- 'd/*'", "d/e"),
        ("git log -p -- '/d/*'", "/d/e"),
        ("cd d && git log -p -- 'e/*'", "d/e/f"),
        ("git show $(git rev-parse HEAD:a)", "a"),
    ],
)
def test_git_may_show_what_it_is_told(command: str, path: str) -> None:
    """Each word of it may be a file of the past, and a pattern whatever lies in its folder."""
    assert met(command, f"Read({path})") != "allow"
    assert met(command, "Read(./other)") == "allow"


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("cat x HEAD:a", "a"),
        ("git push x HEAD:a", "a"),
        ("git log --stat -- 'd/*'", "d/e"),
        ("git log -p -- '*.py'", "a.py"),
        ("git log -p -- d/e", "d/f"),
    ],
)
def test_no_other_command_shows_the_past(command: str, path: str) -> None:
    """Only a proven read by git is one of its past; an ending alone is no place."""
    assert met(command, f"Read({path})") == "allow"
