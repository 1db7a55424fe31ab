"""Copies of what the same command makes, and where they come to lie."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from agentscope_like.paths.look_budget import ENTRY, MAX_EFFORT, Effort, TooManyFilesError
from agentscope_like.permission.command.copies_of_new_files import why_not_copy_made
from agentscope_like.shell import analyze
from agentscope_like.shell.surroundings import Surroundings
from tests.permission.shell.workspace import filled, in_workspace

_FILES = "work/a work/d/f work/y/f work/z/d/f work/q/l work/v/x work/[x]/f elsewhere/x"


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace in which a few symlinks lead elsewhere."""
    base = filled(tmp_path_factory.mktemp("made"), _FILES)
    work = base / "work"
    rooted = work / "rooted" / str(work).lstrip("/")
    rooted.mkdir(parents=True)
    for name in ("z/d/l", "y/l", "y/two", "v/v", str(rooted / "l")):
        (work / name).symlink_to(base / "elsewhere" / "x")
    return work


def around(work: Path) -> Surroundings:
    """Return what surrounds a command of the workspace."""
    return in_workspace(work, None)


OUTSIDE = """
echo x > d/l; cp -r d z | z/d/l
cp -r d z; echo x > d/l | z/d/l
echo x > d/l; gcp -r d z | z/d/l
echo x > d/l; cp -r d/. z/d | z/d/l
echo x > d/l; cp -rT d z/d | z/d/l
cp a d/l; cp -r d z | z/d/l
mv a d/l; cp -r d z | z/d/l
mv d/l a; cp -r d z | z/d/l
ln a d/l; cp -r d z | z/d/l
mkdir n; touch n/l; cp -rT n y | y/l
touch l; cp l* y | y/l
touch l; cp l? [l] y | y/l
touch two; cp tw* y | y/two
touch d/l; cp d/* y | y/l
touch d/l; cp -r d* z | z/d/l
touch d/l; cp -r ./d z | z/d/l
touch d/l; cp -r d/ z/ | z/d/l
touch d/m d/l; cp -r d z | z/d/l
touch d/l; cp -r a d z | z/d/l
touch d/l; cp -r d q z | z/d/l
(cd d && touch l); cp -r d z | z/d/l
touch d/.envrc; cp -r d q | .envrc` runs
touch d/l; cp -r . z | z/d/l
touch l; cp -r / rooted | rooted
touch l; cp -r /* rooted | rooted
touch '[x]/l'; cp -rT '[x]' y | y/l
"""

INSIDE = """
echo x > d/l
cp -r d z
echo x > d/m; cp -r d z
echo x > d/l; cp -r d q
echo x > d/l; mv d q
echo x > e/l; cp -r d z
echo x > dd/l; cp -r d z
echo x > d/l; cat d/l > z/m
echo x > l; cp d/f z
echo x > l; cp l y
touch q/l; cp q/l y
touch d/l; cp -r q y < d
touch d/l; cp -r d q > y
touch d/l; cp -r d y q
touch y/d/two; cp -r d y
cp -r . v
touch "$x"; cp -r d z
touch d/l; cp -r "$x" z
touch d/l; cp -r d "$x"
cat d/l; cp -r d z
touch m; cp m* y
cp -r d z < y/l
"""


@pytest.mark.parametrize("row", OUTSIDE.strip().splitlines())
def test_what_is_made_and_copied_may_end_elsewhere(work: Path, row: str) -> None:
    """Where a symlink is in the place of the copy, or something sensitive, a person looks."""
    command, _, said = row.partition(" | ")
    here = around(work)
    reason = why_not_copy_made(analyze(command, directory=str(work), home=None), here)
    assert reason is not None
    assert said in reason


@pytest.mark.parametrize("command", INSIDE.strip().splitlines())
def test_what_is_made_and_copied_stays_inside(work: Path, command: str) -> None:
    """A copy of a file that is named is looked at as a file; what is not copied does not count."""
    here = around(work)
    assert why_not_copy_made(analyze(command, directory=str(work), home=None), here) is None


def test_copies_of_much_that_is_made_take_effort(work: Path) -> None:
    """Each thing that is made is held against each that is copied."""
    here = around(work)
    assert (
        why_not_copy_made(analyze("touch m; cp a q", directory=str(work), home=None), here) is None
    )
    assert here.effort.left == MAX_EFFORT - ENTRY * 3 * 3
    analysis = analyze("touch d/m; cp -r d q", directory=str(work), home=None)
    here = replace(around(work), effort=Effort(1_000))
    assert why_not_copy_made(analysis, here) is None
    with pytest.raises(TooManyFilesError):
        why_not_copy_made(analysis, replace(around(work), effort=Effort(1)))
    idle = replace(around(work), effort=Effort(0))
    assert why_not_copy_made(analyze("touch d/m", directory=str(work), home=None), idle) is None
