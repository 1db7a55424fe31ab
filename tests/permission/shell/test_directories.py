"""The directories that a command may run in, behind what changes them."""

from __future__ import annotations

import pytest

from tests.permission.kit import analysis_of

BEHIND = r"""
ls | /ws
cd a; ls | /ws/a /ws
cd a && ls | /ws/a
cd a || ls | /ws
cd a && b || ls | /ws /ws/a
cd a || b && ls | /ws/a /ws
! cd a; ls | /ws/a /ws
! cd a && ls | /ws/a /ws
(cd a); ls | /ws
{ cd a; } && ls | /ws/a /ws
cd a & ls | /ws
cd a | ls | /ws
cd a | b; ls | /ws
cd && ls | /home/u
cd -- a && ls | /ws/a
cd '' && ls | /ws
cd - && ls |
cd / && ls | /
cd //a && ls | /a
cd /a/./b//c/../d/ && ls | /a/b/d
cd a/../b && ls | /ws/b
cd .. && ls | /
cd ~/a && ls | /home/u/a
cd -P a && ls |
cd "$x" && ls |
cd "$x" && cd /a && ls | /a
cd "$x" && cd a && ls |
cd "$x"; ls |
[ y ] && x=a; x=b; cd $x && ls | /ws/b
x=a; [ y ] && x=b; cd $x && ls | /ws/b /ws/a
x=a; [ y ] && x=b; cd a && cd $x && ls | /ws/a/b /ws/a/a
x=; [ y ] && x=a; cd $x && ls | /ws/a /home/u
x=; [ y ] && x=a; cd "$x" && ls | /ws/a /ws
x=a; [ y ] && x='b c'; cd $x && ls |
cd a; cd b; ls | /ws/a/b /ws/b /ws/a /ws
cd a; cd b; cd c; ls | /ws/a/b/c /ws/b/c /ws/a/c /ws/c /ws/a/b /ws/b /ws/a /ws
cd a; cd b; cd c; cd d; ls |
pushd a && ls | /ws/a
pushd a && popd && ls | /ws
pushd a && popd; ls | /ws /ws/a
pushd a && pushd b && popd && ls | /ws /ws/a
pushd "$x" && popd && ls | /ws
cd "$x"; pushd a && popd && ls |
cd "$x"; pushd a; cd /b && pushd c && popd && ls |
cd "$x"; pushd /a && pushd /b && popd && popd && ls |
popd && ls |
if cd a; then ls; fi | /ws/a /ws
if b; then cd a; fi; ls | /ws /ws/a
if b; then cd /a; else cd /b; fi; ls | /b /ws /a
while b; do cd a; done; ls |
for x in a b; do cd a; done; ls |
for x in a b; do (cd a); done; ls | /ws
case $x in a) cd a;; esac; ls | /ws /ws/a
case $x in a) cd a;& b) ls;; esac | /ws /ws/a
f() { cd a; }; ls | /ws
f() { cd a; }; f; ls |
f() { ls; }; cd a |
f() { b; }; f; ls | /ws
eval 'cd a' && ls | /ws/a /ws
sh -c 'cd a'; ls | /ws
sh -c 'cd a && ls' | /ws/a
env -C a ls |
find a -execdir ls ';' |
cd a > f && ls | /ws /ws/a
cd a > /dev/null && ls | /ws/a
"""


@pytest.mark.parametrize(
    ("command", "directories"),
    [row.rpartition(" |")[::2] for row in BEHIND.strip().splitlines()],
)
def test_a_command_runs_where_those_before_it_may_have_gone(command: str, directories: str) -> None:
    """Each of them may have failed unless what follows waits for it; of too many, none is known."""
    found = [each for each in analysis_of(command).parts if each.argv[:1] == ("ls",)]
    assert list(found[-1].directories) == directories.split()
