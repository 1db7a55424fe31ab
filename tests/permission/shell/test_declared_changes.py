"""What a command says it changes, and whether that is all, for a checkpoint before it runs."""

from __future__ import annotations

import os

import pytest

from agentscope_like.shell import Surroundings, analyze
from agentscope_like.shell.touches import declared_changes
from tests.permission.kit import Place, make_place

CHANGES = """
all  | echo x > a | a
all  | echo x > n | n
all  | rm a b | a b
all  | rm -r d | d
all  | mv a n | a n
all  | cp a n | n
all  | mkdir n | n
all  | cat a > b | b
all  | cat a |
all  | cat a; touch n; ls | n
all  | touch way/f | d/f
some | echo x > "$y"; rm a | a
some | echo x > a; make | a
some | make; echo x > a | a
some | make |
some | chmod 600 a | a
some | ln a n | a n
some | ln -s a n | n
some | cp -s a n | n
some | cp -l a n; touch q | a n q
some | git mv a n | a n
some | rm way |
some | echo x > pipe |
some | echo x > a; no-such-tool | a
some | cat a > b; curl http://h | b
some | sed -i 'w n' a | a
some | sed -n 'w n;e ls' a |
all  | wc $x > n | n
some | touch --no-such n | n
some | cp $x n | n
some | # nothing |
some | cat a > b ( |
"""
"""Whether all is known that a command changes, the command, and the paths that it says."""


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a project with a link and a pipe among its files."""
    made = make_place(tmp_path_factory.mktemp("declared"), "a b d/f")
    (made.work / "way").symlink_to("d")
    os.mkfifo(made.work / "pipe")
    return made


@pytest.mark.parametrize("row", CHANGES.strip().splitlines())
def test_what_a_command_says_it_changes(where: Place, row: str) -> None:
    """Contents of files at known places are all that it changes, or else that is not all."""
    known, command, paths = (cell.strip() for cell in f"{row} ".split(" | "))
    work = str(where.work)
    around = Surroundings(directory=work, working=(work,), root=work, home=str(where.home))
    analysis = analyze(command, directory=work, home=str(where.home))
    found = declared_changes(analysis, around)
    assert [os.path.relpath(path, work) for path in found.paths] == paths.split()
    assert found.is_complete is (known == "all")
