"""What a part does to all below the directory that it runs in, where it is given no other place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agentscope_like.permission import PermissionBehavior
from tests.permission.kit import Place, danger_of, decide, make_place

Last = Callable[[str], str]
NOTHING, LISTS, SEARCHES = "nothing", "lists", "searches"


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a project with a directory that rules speak of, and others."""
    return make_place(tmp_path_factory.mktemp("implied"), "hidden/y src/f src/lib/f a.py f x")


@pytest.fixture
def last(where: Place) -> Last:
    """Return what tells what a command does to all below the project, by the rules it meets."""

    def meets(command: str, rule: str) -> bool:
        decision = decide(command, where, rules=["allow Bash", rule])
        return decision.behavior is not PermissionBehavior.ALLOW

    def tell(command: str) -> str:
        if meets(command, "deny Read(hidden/**)"):
            return SEARCHES
        return LISTS if meets(command, "deny Glob(.)") else NOTHING

    return tell


LISTERS = "ls dir vdir tree du eza exa lsd"


@pytest.mark.parametrize("program", LISTERS.split())
def test_what_lists_lists_where_it_runs(program: str, last: Last) -> None:
    """Without a place it lists the directory that it runs in; a redirection is no place."""
    assert last(program) == LISTS
    assert last(f"{program} < f") == LISTS
    assert last(f"{program} > f") == LISTS
    assert last(f"{program} src") == NOTHING
    assert last(f"{program} src < f") == NOTHING


@pytest.mark.parametrize("program", ["gls", "gdu"])
def test_what_lists_by_another_name_may_list_where_it_runs(program: str, last: Last) -> None:
    """Of a program that is not known to be the same, nobody can say what it is given."""
    assert last(program) == LISTS
    assert last(f"{program} src") == LISTS
    assert last(f"{program}x") == NOTHING


@pytest.mark.parametrize("program", ["fd", "fdfind"])
def test_what_finds_finds_where_it_runs(program: str, last: Last) -> None:
    """Its first word is what to look for, and the next one where."""
    assert last(program) == LISTS
    assert last(f"{program} src") == LISTS
    assert last(f"{program} x src") == NOTHING


@pytest.mark.parametrize(
    ("told", "instead"),
    [
        ("du -X f", "du -h"),
        ("du -Xf", "du -hc"),
        ("du --exclude-from f", "du --exclude f"),
        ("du --exclude-from=f", "du --exclude=f"),
    ],
)
def test_a_file_of_patterns_is_no_place(told: str, instead: str, last: Last) -> None:
    """A file that tells it what to leave out is an option's value, and no place to list."""
    assert last(told) == LISTS
    assert last(f"{told} src") == NOTHING
    assert last(f"{instead} src") == NOTHING
    assert last("ls --files src") == NOTHING


@pytest.mark.parametrize("told", ["fd --ignore-file f x", "fd --ignore-file=f x"])
def test_what_may_print_a_file_of_patterns_may_show_what_it_is_given(told: str, last: Last) -> None:
    """The errors of fd quote what is in that file, so that it does not only list."""
    assert last(told) == SEARCHES
    assert last(f"{told} src") == NOTHING
    assert last("fd --exclude f x") == LISTS


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
def test_git_lists_below_a_folder(words: str, last: Last) -> None:
    """A path of a file or a folder is all that is listed of where it runs."""
    assert last(f"git ls-files {words}") == NOTHING
    assert last(f"git -C a ls-files {words}") == NOTHING


def test_a_path_in_any_case_limits_git_to_nothing(last: Last) -> None:
    """`SRC` may stand for `src` then, and for whatever else is written so."""
    assert last("git --icase-pathspecs ls-files src") == LISTS
    assert last("git --icase-pathspecs grep x -- SRC") == SEARCHES
    assert last("git --glob-pathspecs ls-files src") == NOTHING
    assert last("git --glob-pathspecs grep x -- src") == NOTHING


@pytest.mark.parametrize("words", ["", *ANYWHERE.strip().splitlines()])
def test_git_lists_where_it_runs(words: str, last: Last) -> None:
    """What may be all of the directory, and the value of an option, is no folder in it."""
    assert last(f"git ls-files {words}") == LISTS


@pytest.mark.parametrize("program", ["grep", "egrep", "fgrep"])
def test_what_searches_below_is_told_to(program: str, last: Last) -> None:
    """One of the options for it is enough, and one place is enough to search nothing else.

    Of `-d`, it does not matter what to do with directories.
    """
    told = ("-r", "-R", "-nr", "--recursive", "--dereference-recursive", "-d recurse", "-drecurse")
    for option in (*told, "--directories=recurse", "-d skip"):
        assert last(f"{program} {option} x") == SEARCHES
        assert last(f"{program} {option} x < f") == SEARCHES
        assert last(f"{program} {option} x src") == NOTHING
    for other in ("", "-n"):
        assert last(f"{program} {other} x") == NOTHING
    assert last("cat -r recurse") == NOTHING


@pytest.mark.parametrize("program", ["rg", "ag", "ack", "ack-grep"])
def test_what_searches_unless_it_is_fed(program: str, last: Last) -> None:
    """It searches its input in a pipe only, and otherwise all below the place that it is given."""
    assert last(f"{program} x") == SEARCHES
    assert last(f"{program} x src") == NOTHING
    assert last(f"cat f | {program} x") == NOTHING
    assert last(f"cat f |{program} x") == NOTHING
    assert last(f"cat f |\t{program} x") == NOTHING
    assert last(f"cat f | env A=1 {program} x") == NOTHING
    assert last(f"cat f | timeout 5 env A=1 {program} x") == NOTHING
    assert last(f"cat f || {program} x") == SEARCHES
    assert last(f"cat f; {program} x") == SEARCHES
    assert last(f"cat f | sort; {program} x") == SEARCHES
    assert last(f"cat f | grep -r {program}") == SEARCHES


@pytest.mark.parametrize("told", ["rg --files", "ag -g x", "ack -f", "ack -g x"])
def test_what_lists_files_does_so_whatever_it_is_fed(told: str, last: Last) -> None:
    """It prints the names of files below where it runs, and leaves its input alone."""
    assert last(told) == SEARCHES
    assert last(f"cat f | {told}") == SEARCHES
    assert last(f"cat f | {told} src") == NOTHING


def test_git_searches_all_that_it_knows(last: Last) -> None:
    """`git grep` names no place that is known here; other sub-commands search nothing."""
    assert last("git grep x") == SEARCHES
    assert last("git -C a grep x") == NOTHING
    assert last("cat f | git grep x") == SEARCHES
    assert last("git status") == NOTHING
    assert last("git log --grep x") == NOTHING


@pytest.mark.parametrize(
    "told",
    [
        *("grep -rf f", "grep -r -f f", "grep -r --file=f", "grep -r --file f", "rg -f f"),
        *("rg --file f", "rg --file=f", "rg --ignore-file f x", "rg --ignore-file=f x"),
        *("ag -p f x", "ag --path-to-ignore f x", "grep -r --exclude-from=f x"),
    ],
)
def test_a_file_that_says_what_to_search_for_is_no_place(told: str, last: Last) -> None:
    """That file is an option's value, and no place to search."""
    assert last(told) == SEARCHES
    assert last(f"{told} src") == NOTHING
    assert last("rg --files-with-matches x src") == NOTHING
    assert last("rg --files src") == NOTHING
    assert last("rg -e x src") == NOTHING


@pytest.mark.parametrize(
    "option", ["--include=*", "--include=*.py", "'--include='*", "\\--include=?", "--exclude=[ab]"]
)
def test_an_option_with_a_pattern_is_no_place(option: str, last: Last) -> None:
    """A program gets a file's name there only where one begins with a dash."""
    assert last(f"grep -r x {option}") == SEARCHES
    assert last(f"grep -r x {option} src") == NOTHING
    assert last(f"ls {option}") == LISTS
    assert last("grep -r x s*") == NOTHING
    assert last("grep -r x a--*") == NOTHING


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
    assert bool(danger_of(command, Place(home, home))) is asks
