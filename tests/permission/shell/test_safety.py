"""What a person has to look at, from what a command does."""

from __future__ import annotations

from msgspec.structs import replace

from agentscope_like.permission.shell import analyze
from agentscope_like.permission.shell.edits import why_not_an_edit
from agentscope_like.permission.shell.safety import find_danger
from agentscope_like.permission.shell.surroundings import Surroundings
from tests.oracle.corpus import everyday, harmful

_PROJECT, _HOME = "/work/project", "/home/u"


def around() -> Surroundings:
    """Return what surrounds a command of the project."""
    return Surroundings(directory=_PROJECT, working=(), root=_PROJECT, home=_HOME)


def test_what_names_no_file_is_passed_as_if_it_had_been_looked_at() -> None:
    """A read of no file is let through at once; looking at it all the same finds nothing either."""
    spared = 0
    for sample in (*everyday(), *harmful()):
        analysis = analyze(sample.command, directory=_PROJECT, home=_HOME)
        if analysis.names_no_file:
            spared += 1
            looked_at = replace(analysis, names_no_file=False)
            assert find_danger(looked_at, around()) is None, sample.command
    assert spared > 100


def test_what_names_a_file_is_looked_at() -> None:
    """A read of a secret is found, by name and by a search; its neighbours are not."""
    for command in ("cat ~/.ssh/id_rsa", "git show HEAD:.env", "cd ~ && rg token"):
        analysis = analyze(command, directory=_PROJECT, home=_HOME)
        assert analysis.read_only, command
        assert not analysis.names_no_file, command
        assert find_danger(analysis, around()) is not None, command
    for command in ("cat notes.txt", "git show HEAD:notes.txt", "git status", "pwd"):
        analysis = analyze(command, directory=_PROJECT, home=_HOME)
        assert find_danger(analysis, around()) is None, command


def test_an_edit_of_what_is_sensitive_is_none_whoever_asks() -> None:
    """What confines an edit goes by the same answer as the decision, without the safety checks."""
    for command, is_edit in (
        ("touch .envrc", False),
        ("cp -b -S rc a .bash", False),
        ("rm -r .github", False),
        ("echo x > .git/config", False),
        ("touch notes", True),
        ("cp -b a notes", True),
    ):
        analysis = analyze(command, directory=_PROJECT, home=_HOME)
        assert (why_not_an_edit(analysis, around()) is None) is is_edit, command


def test_what_would_be_removed_is_found_where_nothing_can_be_read() -> None:
    """Each word behind `rm` may be a path there, but for its options."""
    service = Surroundings(directory="/srv", working=(), root="/srv", home="/home/u")
    for words, found in (
        ("-rf data", True),
        ("-rf data-", True),
        ("-rf x/y /etc", True),
        ("-rf x/y", False),
        ("--recursive x/y-", False),
    ):
        analysis = analyze(f"rm {words} (", directory="/srv", home="/home/u")
        assert analysis.script is None
        assert (find_danger(analysis, service) is not None) is found, words


def test_all_that_a_directory_holds_is_as_much_as_the_directory() -> None:
    """Where nothing can be read, `*` may be anything, and `~/*` is the home."""
    for words, found in (("*", True), ("~/*", True), ("/usr/*", True), ("x*", False), ("y", False)):
        analysis = analyze(f"rm -rf {words} (", directory="/work/project", home="/home/u")
        assert analysis.script is None
        assert (find_danger(analysis, around()) is not None) is found, words


def test_a_pattern_is_what_it_says() -> None:
    """What would be dangerous in quotes is so as a pattern; one for a few files is not."""
    for command, found in (
        ("git restore *", True),
        ("git checkout -- ./*", True),
        ("env git restore *", True),
        ("git restore src/*", False),
        ("git checkout -- *.py", False),
    ):
        analysis = analyze(command, directory=_PROJECT, home=_HOME)
        assert (find_danger(analysis, around()) is not None) is found, command


def test_all_may_be_meant_where_a_text_may_have_moved() -> None:
    """A star in a script that cannot be read may stand for the root; one that is read may not."""
    for command, found in (("bash -c 'trash * ('", True), ("trash *", False)):
        analysis = analyze(command, directory="/srv/a/b", home=_HOME)
        elsewhere = Surroundings(directory="/srv/a/b", working=(), root="/srv/x", home=_HOME)
        assert (find_danger(analysis, elsewhere) is not None) is found, command
