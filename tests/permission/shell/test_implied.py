"""What a part does to all below the directory that it runs in, where it is given no other place."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.permission.command.safety_checks import find_danger
from agentscope_like.shell import analyze
from agentscope_like.shell.facts.implied_directory import Implied, implied, searches_below
from agentscope_like.shell.surroundings import Surroundings

NOTHING, LISTS, SEARCHES = Implied


def last(command: str) -> Implied:
    """Return what the last part of a command does where it runs."""
    analysis = analyze(command, directory="/ws", home="/home/u")
    return implied(analysis.parts[-1], analysis)


LISTERS = "ls dir vdir tree du eza exa lsd"


@pytest.mark.parametrize("program", LISTERS.split())
def test_what_lists_lists_where_it_runs(program: str) -> None:
    """Without a place it lists the directory that it runs in; a redirection is no place."""
    assert last(program) is LISTS
    assert last(f"{program} < f") is LISTS
    assert last(f"{program} > f") is LISTS
    assert last(f"{program} src") is NOTHING
    assert last(f"{program} src < f") is NOTHING
    assert last(f'{program} "$x"') is NOTHING


@pytest.mark.parametrize("program", ["gls", "gdu"])
def test_what_lists_by_another_name_may_list_where_it_runs(program: str) -> None:
    """Of a program that is not known to be the same, nobody can say what it is given."""
    assert last(program) is LISTS
    assert last(f"{program} src") is LISTS
    assert last(f"{program}x") is NOTHING


@pytest.mark.parametrize("program", ["fd", "fdfind"])
def test_what_finds_finds_where_it_runs(program: str) -> None:
    """Its first word is what to look for, and the next one where."""
    assert last(program) is LISTS
    assert last(f"{program} src") is LISTS
    assert last(f"{program} x src") is NOTHING


@pytest.mark.parametrize(
    ("told", "instead"),
    [
        ("du -X f", "du -h"),
        ("du -Xf", "du -hc"),
        ("du --exclude-from f", "du --exclude f"),
        ("du --exclude-from=f", "du --exclude=f"),
        ("fd --ignore-file f x", "fd --exclude f x"),
        ("fd --ignore-file=f x", "fd --exclude=f x"),
    ],
)
def test_a_file_of_patterns_is_no_place(told: str, instead: str) -> None:
    """Where it is told by a file what to leave out, that file may be all it is given."""
    assert last(told) is LISTS
    assert last(f"{told} src") is LISTS
    assert last(f"{instead} src") is NOTHING
    assert last("ls --files src") is NOTHING


FOLDERS = """
src
-- src
-o src
--others --exclude-standard src lib
--exclude-standard src
-x f src
-x -- src
a.py
src/a_b.py
"""

ANYWHERE = """
-o
--
.
..
../src
src/../..
/ws
:/
:!src
*
'*'
'src*'
'src?'
'src[a]'
src .
. src
'src\\*'
.aws
-x f
-ox f
-X f
-iX f
--exclude f
--exclude-from f
--exclude-per-directory f
--with-tree f
--format f
--exclude=f
$x
"$x"
src "$x"
"""


@pytest.mark.parametrize("words", FOLDERS.strip().splitlines())
def test_git_lists_below_a_folder(words: str) -> None:
    """A path of a file or a folder is all that is listed of where it runs."""
    assert last(f"git ls-files {words}") is NOTHING
    assert last(f"git -C a ls-files {words}") is NOTHING


@pytest.mark.parametrize("words", ["", *ANYWHERE.strip().splitlines()])
def test_git_lists_where_it_runs(words: str) -> None:
    """What may be all of the directory, and the value of an option, is no folder in it."""
    assert last(f"git ls-files {words}") is LISTS
    assert last(f"git ls-tree {words}") is NOTHING


@pytest.mark.parametrize("program", ["grep", "egrep", "fgrep"])
def test_what_searches_below_is_told_to(program: str) -> None:
    """One of the options for it is enough, and one place is enough to search nothing else."""
    told = ("-r", "-R", "-nr", "--recursive", "--dereference-recursive", "-d recurse", "-drecurse")
    for option in (*told, "--directories=recurse"):
        assert last(f"{program} {option} x") is SEARCHES
        assert last(f"{program} {option} x < f") is SEARCHES
        assert last(f"{program} {option} x src") is NOTHING
        assert searches_below(analyze(f"{program} {option} x", directory="/ws").parts[0])
    for other in ("", "-d skip", "-n", "--directories=read"):
        assert last(f"{program} {other} x") is NOTHING
        assert not searches_below(analyze(f"{program} {other} x", directory="/ws").parts[0])
    assert last("cat -r recurse") is NOTHING
    assert not searches_below(analyze("cat -r recurse", directory="/ws").parts[0])


@pytest.mark.parametrize("program", ["rg", "ag", "ack", "ack-grep"])
def test_what_searches_unless_it_is_fed(program: str) -> None:
    """It searches its input in a pipe only, and otherwise all below the place that it is given."""
    assert searches_below(analyze(f"{program} x", directory="/ws").parts[0])
    assert last(f"{program} x") is SEARCHES
    assert last(f"{program} x src") is NOTHING
    assert last(f"cat f | {program} x") is NOTHING
    assert last(f"cat f |{program} x") is NOTHING
    assert last(f"cat f |\t{program} x") is NOTHING
    assert last(f"cat f | env A=1 {program} x") is NOTHING
    assert last(f"cat f | timeout 5 env A=1 {program} x") is NOTHING
    assert last(f"cat f || {program} x") is SEARCHES
    assert last(f"cat f; {program} x") is SEARCHES
    assert last(f"cat f | sort; {program} x") is SEARCHES
    assert last(f"env A=1 {program} x | sort") is NOTHING
    assert last(f"cat f | grep -r {program}") is SEARCHES


def test_git_searches_all_that_it_knows() -> None:
    """`git grep` names no place that is known here; other sub-commands search nothing."""
    assert last("git grep x") is SEARCHES
    assert last("git -C a grep x") is NOTHING
    assert last("git grep x -- src") is SEARCHES
    assert last("cat f | git grep x") is SEARCHES
    assert last("git status") is NOTHING
    assert last("git log --grep x") is NOTHING


@pytest.mark.parametrize(
    "told",
    [
        *("grep -rf f", "grep -r -f f", "grep -r --file=f", "grep -r --file f", "rg -f f"),
        *("rg --file f", "rg --file=f", "rg --ignore-file f x", "rg --ignore-file=f x"),
        *("ag -p f x", "ag --path-to-ignore f x", "grep -r --exclude-from=f x"),
    ],
)
def test_a_file_that_says_what_to_search_for_is_no_place(told: str) -> None:
    """What it reads may be that file, so that what it is given is not all that it searches."""
    assert last(told) is SEARCHES
    assert last(f"{told} src") is SEARCHES
    assert last("rg --files-with-matches x src") is NOTHING
    assert last("rg --files src") is NOTHING
    assert last("rg -e x src") is NOTHING


@pytest.mark.parametrize(
    "option", ["--include=*", "--include=*.py", "'--include='*", "\\--include=?", "--exclude=[ab]"]
)
def test_an_option_with_a_pattern_is_no_place(option: str) -> None:
    """A program gets a file's name there only where one begins with a dash."""
    assert last(f"grep -r x {option}") is SEARCHES
    assert last(f"grep -r x {option} src") is NOTHING
    assert last(f"ls {option}") is LISTS
    assert last("grep -r x *") is NOTHING
    assert last("grep -r x a--*") is NOTHING


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a home directory with a key in it."""
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id_rsa").touch()
    (tmp_path / "src").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("command", "asks"),
    [
        ("grep -r x --include=*", True),
        ("grep -r x --include=* src", False),
        ("git ls-files -o . | xargs cat", True),
        ("git ls-files -ox f | xargs cat", True),
        ("git ls-files -o | xargs ls", False),
        ("git ls-files -o src | xargs cat", False),
        ("rg x", True),
        ("rg x src", False),
        ("du -a | xargs cat", True),
        ("du -a src | xargs cat", False),
    ],
)
def test_a_person_is_asked_where_a_key_is_below(command: str, asks: bool, home: Path) -> None:
    """What searches a home, or hands on what it lists there, would show the key."""
    analysis = analyze(command, directory=str(home), home=str(home))
    around = Surroundings(directory=str(home), working=(), root=str(home), home=str(home))
    assert (find_danger(analysis, around) is not None) is asks
