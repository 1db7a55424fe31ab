"""What a command is known to do to files, as rules about files see it."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from agentscope_like.paths.look_budget import Effort
from agentscope_like.shell import analyze
from agentscope_like.shell.facts.file_touch import Below, Touch, TouchKind
from agentscope_like.shell.facts.touched_files import touches
from agentscope_like.shell.surroundings import Surroundings
from tests.permission.shell.workspace import filled, in_workspace

_FILES = "a b d/f d/sub/g e/f src/app.py"
_FAR = "/".join(["a" * 63] * 70)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with a few files, and a link to one of its directories."""
    work = filled(tmp_path_factory.mktemp("touches"), _FILES)
    (work / "way").symlink_to("d")
    return work


def around(work: Path) -> Surroundings:
    """Return what surrounds a command of the workspace."""
    return in_workspace(work, "/home/u")


def noted(touch: Touch, work: Path) -> str:
    """Return a touch as the tables have it.

    `/` and `/*`: what is below now, or may come to be; `@`: links there are followed; `~`: perhaps;
    `!`: and all below for certain; `?`: nobody knows where.
    """
    where = "?" if touch.location is None else touch.location.absolute
    marks = {Below.NOTHING: "", Below.PRESENT: "/", Below.ANYTHING: "/*"}[touch.below]
    marks += "@" * touch.follows + "~" * (not touch.certain) + "!" * touch.certain_below
    place = where.replace(f"{work}/", "").replace(str(work), ".")
    return f"{touch.kind.value} {place}{marks}"


def told(command: str, here: Surroundings) -> list[str]:
    """Return what a command does to files, but for what git may show of the past."""
    analysis = analyze(command, directory=here.directory, home=here.home)
    found = list(touches(analysis, here))
    work = Path(here.directory)
    return [noted(touch, work) for touch in found if touch.kind is not TouchKind.SHOW]


TOUCHES = r"""
cat a | reads a
cat a b | reads a, reads b
cat < a | reads a
cat - |
cat - a | reads a
cat "$x" | reads ?
cat d | reads d/@
cat d/* | reads d/f, reads d/sub/@
echo x > a | writes a
echo x > /dev/null |
echo x > /dev/sda | writes /dev/sda
cat /dev/stdin |
curl http://h |
grep x a | reads a
grep -r x d | reads d/
grep -R x d | reads d/@
diff d e | reads d/@, reads e/@
rm "$x" | removes ?
rm a | removes a!
rm -r d | removes d/!
rm -r way | removes way/!
rmdir d | removes d!
find d -delete | removes d/
find d -exec rm {} + | looks at d/, removes d/~
cd d |
cd d; cat f | reads d/f, reads f
pushd d |
popd |
cd d < a | reads a
pushd d < a | reads a
mv a b | removes a/!, moves a/~, writes b
gmv a b | removes a/!, moves a/~, writes b
mv d e | removes d/!, moves d/~, writes e, writes e/d/*
git mv d g | removes d/!, moves d/~, writes g
git mv d e | removes d/!, moves d/~, writes e, writes e/d/*
git rm -r d | removes d/!
mkdir n | writes n
chmod 600 a | writes a
chmod 600 d | writes d
chmod -R 600 d | writes d/
chown -R u d | writes d/
chgrp -R u d | writes d/@
cp a n | reads a, writes n
cp -r d n | reads d/, writes n/*
cp -r d e | reads d/, writes e, writes e/d/*
ls d | looks at d
ls -R d | looks at d/
ls --recursive d | looks at d/
find d | looks at d/
fd x d | looks at d/
fdfind x d | looks at d/
tree d | looks at d/
du d | looks at d/
stat d | looks at d
eza d | looks at d
eza -T d | looks at d/@
eza --tree d | looks at d/@
exa -T d | looks at d/@
lsd -T d | looks at d/@
ls | looks at .
ls -T 4 | looks at .
ls -R | looks at ./
tree | looks at ./
lsd -R | looks at ./@
fd x | looks at ./
git ls-files | looks at ./
git ls-files d |
git status |
grep -r x | reads ./
grep -R x | reads ./@
rg x | reads ./
rg -L x | reads ./@
cd d && rg x | reads d/
cd "$x"; grep -r y | reads ?
cd "$x"; ls | looks at ?
git grep x | reads ./
git grep x -- d | reads d/
git grep x -- d a | reads d/, reads a/
git grep x -- d nothing | reads ./
git grep x -- "$y" | reads ./
git grep x -- | reads ./
rg x -- | reads ./
ln -s d q; cat q/f | looks at d, writes q, reads ?, reads q/f
ln -s d q; ls q | looks at d, writes q, looks at ?, looks at q
ln -s d q; cat e/f | looks at d, writes q, reads e/f
cat q/f; ln -s d q | reads q/f, looks at d, writes q
ln -s d q; rm q/../a | looks at d, writes q, removes ?, removes a!
mv way q; cat q/f | removes way/!, moves way/~, writes q/*, reads ?, reads q/f
cp -P way q; cat q/f | reads way/, writes q, reads ?, reads q/f
cp a q; cat q | reads a, writes q, reads q
find d | xargs cat | looks at d/, reads d/@~
find d | xargs rm | looks at d/, removes d/~
find d | xargs chmod 600 | looks at d/, writes d/@~
find | xargs cat | looks at ./, reads ./@~
ls | xargs cat | looks at ., reads ./@~
find d e | xargs cat | looks at d/, looks at e/, reads d/@~, reads e/@~
cat $(find d) | reads d/@~, looks at d/
cat $(find d) $(find e) | reads d/@~, reads e/@~, looks at d/, looks at e/
git ls-files | xargs cat | looks at ./, reads ./@~
cat /proc/*/*/*/*/* | reads ?
rm -r /proc/*/*/*/*/* | removes ?
"""


@pytest.mark.parametrize("row", TOUCHES.strip().splitlines())
def test_each_effect_is_a_touch(work: Path, row: str) -> None:
    """What is read, listed, written, removed and moved, how far below, and how certain that is."""
    command, _, expected = row.rpartition(" |")
    assert ", ".join(told(command, around(work))) == expected.strip()


def test_a_path_that_cannot_be_judged_is_not_known(work: Path) -> None:
    """Too long a path, and one that there is no effort left for, may be any."""
    assert told(f"cat {_FAR} a", around(work)) == ["reads ?", "reads a"]
    assert told(f"cp -P way {_FAR}; cat a", around(work))[-1] == "reads a"
    spent = replace(around(work), effort=Effort(0))
    assert told("rm a b", spent) == ["removes ?", "removes ?"]


def test_what_is_fed_by_the_same_is_told_once(work: Path) -> None:
    """Two words of one feeder are no more than one."""
    assert told("find d | while read f; do cat $f $f; done", around(work)).count("reads d/@~") < 2


def test_patterns_go_as_deep_as_bash_takes_them(work: Path) -> None:
    """`**` is read as the command has bash read it."""
    found = told("shopt -s globstar; cat d/**/g", around(work))
    assert found == ["reads d/sub/g"]
    assert told("cat d/**/g", around(work)) == ["reads d/sub/g"]
    assert told("cat **/g", around(work)) == ["reads **/g"]
    assert told("shopt -s globstar; cat **/g", around(work)) == ["reads d/sub/g"]


def test_what_git_may_show_of_the_past_is_told(work: Path) -> None:
    """A path of a revision, and what it is told of as it runs."""
    here = around(work)
    for command, is_shown in (
        ("git show HEAD:d/f", True),
        ("git show $(git rev-parse HEAD:d/f)", True),
        ("git show $(git rev-parse HEAD); echo d/f", True),
        ("git show HEAD; echo d/f", False),
        ("git show HEAD:d/g", False),
    ):
        analysis = analyze(command, directory=here.directory, home=here.home)
        shown = [touch for touch in touches(analysis, here) if touch.kind is TouchKind.SHOW]
        assert ("may show d/f~" in [noted(touch, work) for touch in shown]) is is_shown
