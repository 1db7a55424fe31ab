"""What a person has to look at, from what a command does."""

from __future__ import annotations

from msgspec.structs import replace

from agentscope_like.permission.shell import analyze
from agentscope_like.permission.shell.safety import find_danger
from agentscope_like.permission.shell.surroundings import Surroundings
from tests.oracle.corpus import everyday, harmful

_AROUND = Surroundings(directory="/work/project", working=(), root="/work/project", home="/home/u")


def test_what_names_no_file_is_passed_as_if_it_had_been_looked_at() -> None:
    """A read of no file is let through at once; looking at it all the same finds nothing either."""
    spared = 0
    for sample in (*everyday(), *harmful()):
        analysis = analyze(sample.command, directory=_AROUND.directory, home=_AROUND.home)
        if analysis.names_no_file:
            spared += 1
            looked_at = replace(analysis, names_no_file=False)
            assert find_danger(looked_at, _AROUND) is None, sample.command
    assert spared > 100


def test_what_names_a_file_is_looked_at() -> None:
    """A read of a secret is found, by name and by a search; its neighbours are not."""
    for command in ("cat ~/.ssh/id_rsa", "git show HEAD:.env", "cd ~ && rg token"):
        analysis = analyze(command, directory=_AROUND.directory, home=_AROUND.home)
        assert analysis.read_only, command
        assert not analysis.names_no_file, command
        assert find_danger(analysis, _AROUND) is not None, command
    for command in ("cat notes.txt", "git show HEAD:notes.txt", "git status", "pwd"):
        analysis = analyze(command, directory=_AROUND.directory, home=_AROUND.home)
        assert find_danger(analysis, _AROUND) is None, command
