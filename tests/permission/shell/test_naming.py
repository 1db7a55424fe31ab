"""The paths that a command names, of which no more is known than that."""

from __future__ import annotations

import pytest

from agentscope_like.shell import analyze
from agentscope_like.shell.analysis import CommandAnalysis
from agentscope_like.shell.facts.file_touch import Below, TouchKind
from agentscope_like.shell.facts.named_paths import (
    named_by_command,
    named_in_history,
    words_in_history,
)
from agentscope_like.shell.surroundings import Surroundings


def read(command: str) -> CommandAnalysis:
    """Return the analysis of a command."""
    return analyze(command, directory="/ws", home="/home/u")


def surroundings() -> Surroundings:
    """Return where a command runs: in `/ws`, where `/more` is worked in too."""
    return Surroundings(directory="/ws", working=("/ws", "/more"), root="/ws", home="/home/u")


def named(command: str) -> list[str]:
    """Return the places that a command names."""
    touches = list(named_by_command(read(command), surroundings()))
    assert all(touch.kind is TouchKind.NAME and not touch.certain for touch in touches)
    return [touch.location.absolute for touch in touches if touch.location is not None]


def shown(command: str) -> list[str]:
    """Return the places of what git may show of the past."""
    touches = [
        touch for part in read(command).parts for touch in named_in_history(part, surroundings())
    ]
    assert all(touch.kind is TouchKind.SHOW and not touch.certain for touch in touches)
    return [touch.location.absolute for touch in touches if touch.location is not None]


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
    assert "/ws/a.txt" in named(command)
    assert named("cat a.txt; grep -r x a.txt; rm a.txt; cp a.txt b") == []


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
    assert "/ws/a.txt" in named(command)


@pytest.mark.parametrize(
    "command",
    [
        "no-such-tool 'open(\"a.txt\")'",
        "no-such-tool <<E\nopen('a.txt')\nE",
        "no-such-tool <<< 'open(\"a.txt\")'",
        "python3 b.py > a.txt",
        "python3 b.py < a.txt",
    ],
)
def test_another_text_names_nothing(command: str) -> None:
    """A text that is no code is one word; where a redirection leads is known."""
    assert "/ws/a.txt" not in named(command)


def test_a_name_counts_from_each_directory_that_may_be_meant() -> None:
    """Where it is not known in which a part runs, it is that of the command."""
    assert named("cd d; no-such-tool a") == ["/ws/d/a", "/ws/a"]
    assert named('cd "$x"; no-such-tool a') == ["/ws/a"]
    assert named("cd d; no-such-tool /b ~/c '~/d'") == ["/b", "/home/u/c", "/home/u/d"]
    assert named("no-such-tool a a") == ["/ws/a"]


def test_a_path_that_nobody_can_judge_is_left_out() -> None:
    """A path that is too long for any file system names nothing; what stands beside it counts."""
    deep = "/d" * 3000
    analysis = analyze("no-such-tool a /b", directory=deep)
    around = Surroundings(directory=deep, working=(deep,), root=deep)
    found = [touch.location for touch in named_by_command(analysis, around)]
    assert [each.absolute for each in found if each] == ["/b"]


def test_what_git_is_told_counts_from_each_root() -> None:
    """`REV:path` is a path of the repository, whichever directory git runs in."""
    assert shown("git show HEAD:a") == ["/ws/HEAD", "/more/HEAD", "/ws/a", "/more/a"]
    assert shown("cd d && git show a") == ["/ws/d/a", "/ws/a", "/more/a"]


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("git show HEAD:a", "/ws/a"),
        ("git log --stat -- a", "/ws/a"),
        ("git log -p -- ':(top)a'", "/more/a"),
        ("git diff ':/a'", "/ws/a"),
        ("git show a", "/more/a"),
    ],
)
def test_git_may_show_what_it_is_told(command: str, place: str) -> None:
    """Each word of it may be a file of the past, without what git makes of its beginning."""
    assert place in shown(command)


@pytest.mark.parametrize("command", ["cat x HEAD:a", "git commit x HEAD:a", "git push x HEAD:a"])
def test_no_other_command_shows_the_past(command: str) -> None:
    """Only a proven read by git is one of its past; of others is known what they do."""
    assert shown(command) == []


@pytest.mark.parametrize(
    ("command", "places"),
    [
        ("git log -p -- 's*/x'", ["/ws", "/more"]),
        ("git log -p -- 'd/*'", ["/ws/d", "/more/d"]),
        ("git log -p -- '/d/*'", ["/d"]),
        ("cd d && git log -p -- 'e/*' 'e/*'", ["/ws/d/e", "/ws/e", "/more/e"]),
        ("git log -p -- '*.py'", []),
        ("git log -p -- '*'", []),
        ("git log -p -- d/e", []),
        ("git log --stat -- 'd/*'", []),
        (f"git log -p -- '{'d/' * 3000}*'", []),
    ],
)
def test_a_pattern_may_show_whatever_lies_in_its_folder(command: str, places: list[str]) -> None:
    """What it matches need not be there now; an ending alone is no place."""
    touches = [
        touch for part in read(command).parts for touch in named_in_history(part, surroundings())
    ]
    assert not any(touch.certain for touch in touches)
    found = [touch.location for touch in touches if touch.below is Below.ANYTHING]
    assert list(dict.fromkeys(each.absolute for each in found if each)) == places


def test_a_pattern_is_no_name() -> None:
    """What git takes for a pattern is not looked up as a name behind what git reads before it."""
    assert "/ws/a" in shown("git log -p -- ':(top)a'")
    assert "/ws/a*/b" not in shown("git log -p -- ':(top)a*/b'")


def test_all_words_count_where_git_is_told_as_it_runs() -> None:
    """Whatever stands in the command may be what it is told; where nothing is computed, not."""
    computed = "git show $(git rev-parse HEAD:a)"
    found = [touch.location for touch in words_in_history(read(computed), surroundings())]
    assert {"/ws/a", "/more/a"} <= {each.absolute for each in found if each}
    for command in ("git show HEAD:a", "git log --oneline $(git rev-parse HEAD:a)", "cat $(ls a)"):
        assert list(words_in_history(read(command), surroundings())) == []
