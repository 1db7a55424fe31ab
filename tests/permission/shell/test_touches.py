"""What a command is known to do to files, as rules about files see it."""

from __future__ import annotations

import pytest

from agentscope_like.permission import PermissionBehavior
from tests.permission.kit import Place, decide, make_place

_FILES = "a b d/f d/sub/g e/f src/app.py"
_FAR = "/".join(["a" * 63] * 70)
_PATHS = ["a", "b", "d", "d/f", "d/sub/g", "e/f", "e/d/f", "n", "q", "q/f"]

TOUCHES = r"""
cat a | Read a
cat a b | Read a b
cat < a | Read a
cat - |
cat - a | Read a
cat "$x" | Read all?
cat d | Read d d/f? d/sub/g?
cat d/* | Read d/f d/sub/g?
echo x > a | Write a
echo x > /dev/null |
echo x > /dev/sda | Read all?, Write all?
cat /dev/stdin |
curl http://h |
grep x a | Read a
grep -r x d | Read d d/f? d/sub/g?
grep -R x d | Read d d/f? d/sub/g?
diff d e | Read d d/f? d/sub/g? e/f?
rm "$x" | Write all?
rm a | Write a
rm -r d | Write d d/f d/sub/g
rm -r way |
rmdir d | Write d
find d -delete | Write d d/f? d/sub/g?
find d -exec rm {} + | Read d, Glob d d/f? d/sub/g?, Write d? d/f? d/sub/g?
cd d |
cd d; cat f | Read d/f
pushd d |
popd |
cd d < a | Read a
pushd d < a | Read a
mv a b | Read a?, Write a b
gmv a b | Read a?, Write a b
mv d e | Read d? d/f? d/sub/g?, Write d d/f d/sub/g e/d/f?
git mv d g | Read d? d/f? d/sub/g?, Write d d/f d/sub/g
git mv d e | Read d? d/f? d/sub/g?, Write d d/f d/sub/g e/d/f?
git rm -r d | Write d d/f d/sub/g
mkdir n | Write n
chmod 600 a | Write a
chmod 600 d | Write d
chmod -R 600 d | Write d d/f? d/sub/g?
chown -R u d | Write d d/f? d/sub/g?
chgrp -R u d | Write d d/f? d/sub/g?
cp a n | Read a, Write n
cp -r d n | Read d d/f? d/sub/g?, Write n
cp -r d e | Read d d/f? d/sub/g?, Write e/d/f?
ls d | Read d
ls -R d | Read d, Glob d d/f? d/sub/g?
ls --recursive d | Read d, Glob d d/f? d/sub/g?
find d | Read d, Glob d d/f? d/sub/g?
fd x d | Read d, Glob d d/f? d/sub/g?
fdfind x d | Read d, Glob d d/f? d/sub/g?
tree d | Read d, Glob d d/f? d/sub/g?
du d | Read d, Glob d d/f? d/sub/g?
stat d | Read d
eza d | Read d
eza -T d | Read d, Glob d d/f? d/sub/g?
eza --tree d | Read d, Glob d d/f? d/sub/g?
exa -T d | Read d, Glob d d/f? d/sub/g?
lsd -T d | Read d, Glob d d/f? d/sub/g?
ls |
ls -T 4 |
ls -R | Glob a? b? d? d/f? d/sub/g? e/f?
tree | Glob a? b? d? d/f? d/sub/g? e/f?
lsd -R | Glob a? b? d? d/f? d/sub/g? e/f?
fd x | Glob a? b? d? d/f? d/sub/g? e/f?
git ls-files | Glob a? b? d? d/f? d/sub/g? e/f?
git ls-files d | Read d, Glob d d/f? d/sub/g?
git status |
grep -r x | Read a? b? d? d/f? d/sub/g? e/f?
grep -R x | Read a? b? d? d/f? d/sub/g? e/f?
rg x | Read a? b? d? d/f? d/sub/g? e/f?
rg -L x | Read a? b? d? d/f? d/sub/g? e/f?
cd d && rg x | Read d d/f? d/sub/g?
cd "$x"; grep -r y | Read all?, Write all?
cd "$x"; ls | Read all?
git grep x | Read a? b? d? d/f? d/sub/g? e/f?
git grep x -- d | Read d d/f? d/sub/g?
git grep x -- d a | Read a d d/f? d/sub/g?
git grep x -- d nothing | Read d d/f? d/sub/g?
git grep x -- "$y" | Read a? b? d? d/f? d/sub/g? e/f?
git grep x -- | Read a? b? d? d/f? d/sub/g? e/f?
rg x -- | Read a? b? d? d/f? d/sub/g? e/f?
ln -s d q; cat q/f | Read a? b? d d/f? d/sub/g? e/f? e/d/f? n? q? q/f, Write q
ln -s d q; ls q | Read a? b? d d/f? d/sub/g? e/f? e/d/f? n? q q/f?, Write q
ln -s d q; cat e/f | Read a? b? d d/f? d/sub/g? e/f e/d/f? n? q? q/f?, Write q
cat q/f; ln -s d q | Read d q/f, Write q
ln -s d q; rm q/../a | Read d, Write a b? d? d/f? d/sub/g? e/f? e/d/f? n? q q/f?
mv way q; cat q/f | Read a? b? d? d/f? d/sub/g? e/f? e/d/f? n? q? q/f, Write q q/f?
cp -P way q; cat q/f | Read a? b? d d/f? d/sub/g? e/f? e/d/f? n? q? q/f, Write q
cp a q; cat q | Read a q, Write q
find d | xargs cat | Read d d/f? d/sub/g?
find d | xargs rm | Read d, Glob d d/f? d/sub/g?, Write d? d/f? d/sub/g?
find d | xargs chmod 600 | Read d, Glob d d/f? d/sub/g?, Write d? d/f? d/sub/g?
find | xargs cat | Read a? b? d? d/f? d/sub/g? e/f?
ls | xargs cat | Read a? b? d? d/f? d/sub/g? e/f?
find d e | xargs cat | Read d d/f? d/sub/g? e/f?
cat $(find d) | Read d d/f? d/sub/g?
cat $(find d) $(find e) | Read d d/f? d/sub/g? e/f?
git ls-files | xargs cat | Read a? b? d? d/f? d/sub/g? e/f?
git -C d ls-files | xargs cat | Read a? b? d d/f? d/sub/g? e/f? e/d/f? n? q? q/f?
grep -rn x d/ | cut -d: -f1 | xargs cat | Read a? b? d d/f? d/sub/g? e/f? e/d/f? n? q? q/f?
find d | uniq -c | xargs cat | Read a? b? d d/f? d/sub/g? e/f? e/d/f? n? q? q/f?
find d | grep x | xargs cat | Read d d/f? d/sub/g?
find d | head -$(nproc) | xargs cat | Read a? b? d d/f? d/sub/g? e/f? e/d/f? n? q? q/f?
find d | head -3 | xargs cat | Read d d/f? d/sub/g?
echo $(find d) | xargs cat | Read a? b? d d/f? d/sub/g? e/f? e/d/f? n? q? q/f?
find d | xargs -d, cat | Read a? b? d d/f? d/sub/g? e/f? e/d/f? n? q? q/f?
find d | xargs -d '\n' cat | Read d d/f? d/sub/g?
grep -rn x d | xargs cat | Read a? b? d d/f? d/sub/g? e/f? e/d/f? n? q? q/f?
find d | base64 | xargs cat | Read a? b? d d/f? d/sub/g? e/f? e/d/f? n? q? q/f?
find d -printf x -exec cat {} + | Read a? b? d d/f? d/sub/g? e/f? e/d/f? n? q? q/f?
find d -exec cat {} + | Read d d/f? d/sub/g?
find "$x" -exec cat {} + | Read all?, Write all?
find d | { read x; cat "$x"; } | Read a? b? d d/f? d/sub/g? e/f? e/d/f? n? q? q/f?
find d | { read -n 3 x; cat "$x"; } | Read a? b? d d/f? d/sub/g? e/f? e/d/f? n? q? q/f?
find d | xargs -I{} cat d/{} | Read a? b? d d/f? d/sub/g? e/f? e/d/f? n? q? q/f?
find d | (cd e; xargs cat) | Read a? b? d d/f? d/sub/g? e/f? e/d/f? n? q? q/f?
for f in $(find d); do cat "$f"; done | Read a? b? d d/f? d/sub/g? e/f? e/d/f? n? q? q/f?
for f in $(find d) $(find e); do cat "$f"; done | Read a? b? d d/f? d/sub/g? e/f? e/d/f? n? q? q/f?
cp -r [ad] e | Read a d d/f? d/sub/g?, Write e/d/f?
cp -r [ab] q | Read a b, Write q q/f?
cp [ab] e | Read a b
cp -r a e | Read a
cp -rT d e | Read d d/f? d/sub/g?, Write e/f? e/d/f?
cp -T a n | Read a, Write n
cp a e/ | Read a
mkdir q; cp -r d q | Read d d/f? d/sub/g?, Write q q/f?
mkdir q; cp -r a q | Read a, Write q
echo x > q; cp q e | Read q, Write q
cp -r d "$x" | Read d d/f? d/sub/g?, Write all?
cp -r "$x" q | Read all?, Write a? b? d? d/f? d/sub/g? e/f? e/d/f? n? q q/f?
install a q | Read a, Write q
mv [ab] e | Read a? b?, Write a b
mv -T d q | Read d? d/f? d/sub/g?, Write d d/f d/sub/g q q/f?
ln a q | Read a, Write a q
tee -a a | Write a
chmod -R 600 d e | Write d d/f? d/sub/g? e/f?
git rm -r --cached d | Write d d/f d/sub/g
git log -p -- d | Read d?
git log -p -- 'd/*' | Read d? d/f? d/sub/g?
git log -p -- 'q*/f' | Read all?
git log -p -- '*' |
git log -p -- '*.py' |
git log -p -- 'q/*.py' | Read q? q/f?
git show HEAD:q | Read q?
cd d && git show HEAD:f | Read d/f?
git show $(git rev-parse HEAD:q/f) | Read q/f?
rm -r e q | Write e/f q
rm a* | Write a
rm -f - a | Write a
find d e -delete | Write d d/f? d/sub/g? e/f?
find "$x" -name k -delete | Write all?
find d | (cd e; xargs rm) | Read d, Glob d d/f? d/sub/g?, Write all?
find a | xargs rm | Read a, Write a?
ls "$x" | xargs cat | Read all?, Write all?
ls d e | xargs cat | Read a? b? d d/f? d/sub/g? e/f? e/d/f? n? q? q/f?
cd e; ls | xargs cat | Read a? b? d? d/f? d/sub/g? e/f?
cd "$x"; ls | xargs cat | Read all?, Write all?
cp -P a q; cat q | Read a q, Write q
cp -l a q; cat q | Read a b? d? d/f? d/sub/g? e/f? e/d/f? n? q q/f?, Write a q
mv a q; cat q | Read a? q, Write a q
mv d q; cat q/f | Read d? d/f? d/sub/g? q/f, Write d d/f d/sub/g q q/f?
cat /proc/*/*/*/*/* | Read all?, Write all?
rm -r /proc/*/*/*/*/* | Read all?, Write all?
shopt -s globstar; cat d/**/g | Read d/sub/g
cat d/**/g | Read d/sub/g
cat **/g |
shopt -s globstar; cat **/g | Read d/sub/g
"""
"""Commands, and the paths that a rule `deny TOOL(PATH)` denies each for; `?`: it asks.

`Glob` stands only where it speaks of other paths than `Read`; all of them are `all`.
"""


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a project with a few files, and a link to one of its directories."""
    made = make_place(tmp_path_factory.mktemp("touches"), _FILES)
    (made.work / "way").symlink_to("d")
    return made


def met(command: str, tool: str, path: str, where: Place) -> str:
    """Return what becomes of a command where a rule denies a path: "", "?" or the path."""
    behavior = decide(command, where, rules=["allow Bash", f"deny {tool}(./{path})"]).behavior
    if behavior is PermissionBehavior.ALLOW:
        return ""
    return path if behavior is PermissionBehavior.DENY else f"{path}?"


def told(command: str, where: Place) -> str:
    """Return what a command does to files, as a row of the table has it."""
    found: dict[str, list[str]] = {}
    for tool in ("Read", "Glob", "Write"):
        paths = [path for each in _PATHS if (path := met(command, tool, each, where))]
        is_any = paths == [f"{each}?" for each in _PATHS]
        found[tool] = ["all?"] if is_any else paths
    if found["Glob"] == found["Read"]:
        del found["Glob"]
    return ", ".join(f"{tool} {' '.join(paths)}" for tool, paths in found.items() if paths)


@pytest.mark.parametrize("row", TOUCHES.strip().splitlines())
def test_rules_meet_what_is_done_to_files(where: Place, row: str) -> None:
    """What is read, listed, written and removed, how far below, and how certain that is."""
    command, _, expected = row.rpartition(" |")
    assert told(command, where) == expected.strip()


def test_a_path_that_cannot_be_judged_is_not_known(where: Place) -> None:
    """Too long a path may be any that a rule speaks of; what stands beside it is known."""
    assert met(f"cat {_FAR} a", "Read", "a", where) == "a"
    assert met(f"cat {_FAR} a", "Read", "b", where) == "b?"
    assert met(f"cp -P way {_FAR}; cat a", "Read", "a", where) == "a"


@pytest.mark.parametrize(
    ("command", "is_shown"),
    [
        ("git show HEAD:d/f", True),
        ("git show $(git rev-parse HEAD:d/f)", True),
        ("git show $(git rev-parse HEAD); echo d/f", True),
        ("git show HEAD; echo d/f", False),
        ("git show HEAD:d/g", False),
    ],
)
def test_what_git_may_show_of_the_past_is_told(where: Place, command: str, is_shown: bool) -> None:
    """A path of a revision, and what it is told of as it runs."""
    assert bool(met(command, "Read", "d/f", where)) is is_shown
