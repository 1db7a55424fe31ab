"""Which commands read what symlinks below a directory lead to, and which code is read as input."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.permission.kit import Place, danger_of, make_place

FOLLOWING = r"""
grep -R x d
grep --dereference-recursive x d
rg -L x d
rg --follow x d
diff -r d e
cp -rL d g
find d | xargs cat
find d "$x" | xargs cat
find d -name x | xargs cat
find d -type d | xargs cat
find d -type l,f | xargs cat
find d ! -type f | xargs cat
find d -not -type f | xargs cat
find d -type f , -name x | xargs cat
find d -type f -o -name x | xargs cat
find d -type f -or -name x | xargs cat
find d '(' -type f ')' | xargs cat
find -L d -type f | xargs cat
find d -follow -type f | xargs cat
find d -print -type f | xargs cat
find d -ls -type f | xargs cat
find d -exec cat {} +
find d -exec cat {} + -type f
ls -R d | xargs cat
git ls-files | xargs cat
cat d/out/id_rsa
cat d/*/id_rsa
"""

STAYING = r"""
grep -r x d
grep -R x e
grep -R x g
rg x d
rg -L x e
diff -r e e
diff -r --no-dereference d e
cp -r d g
tar cf - d
find e | xargs cat
find d -type f | xargs cat
find d -name x -type f | xargs cat
find d -type f -name x | xargs cat
find d -type f -print | xargs cat
find d -type f -exec cat {} +
find d | xargs ls
find d | xargs wc -l
ls -R e | xargs cat
cat e/in
"""


@pytest.fixture
def where(tmp_path: Path) -> Place:
    """Return a project with links to keys, to a file elsewhere, and to one that lies beside."""
    place = make_place(tmp_path, "d/f e/f g/.env")
    key = place.home / ".ssh" / "id_rsa"
    key.parent.mkdir()
    key.write_text("x")
    (place.work / "d" / "out").symlink_to(key.parent)
    (place.work / "e" / "in").symlink_to(place.work / "d" / "f")
    (place.work / "g" / "own").symlink_to(".env")
    return place


def test_a_search_that_follows_a_link_to_secrets_asks(where: Place) -> None:
    """By its options, or where another part opens what it lists; a search for files lists none."""
    commands = [*FOLLOWING.strip().splitlines(), *STAYING.strip().splitlines()]
    found = [command for command in commands if danger_of(command, where)]
    assert found == FOLLOWING.strip().splitlines()


INPUT = r"""
sh
sh -s
sh -es a
sh -
sh --
sh -- /dev/stdin
sh - /dev/fd/0
sh /proc/self/fd/0
sh /proc/thread-self/fd/0
bash5 /dev/stdin
bash -o pipefail
bash +O x
bash --posix -xeuo pipefail
bash --norc
bash --rcfile a
bash --init-file a -
source /dev/stdin
. /dev/fd/0
. /dev/stdin a
"""

SCRIPT = r"""
sh a
sh -- a
sh /dev/fd/a
sh /dev/stdin/a
sh -c x
sh -ec x
sh -c x -s
sh a -s
bash -o pipefail a
bash +O x a
bash --rcfile a b
bash --norc a
bash -e a
source a
. /dev/stdin/a
ls /dev/stdin
"""


def test_a_shell_that_is_given_no_script_runs_its_input() -> None:
    """The value of an option is no script; what stands behind the script is its own."""
    commands = [*INPUT.strip().splitlines(), *SCRIPT.strip().splitlines()]
    said = "runs its standard input as code"
    found = [command for command in commands if said in danger_of(f"cat a | {command}")]
    assert found == INPUT.strip().splitlines()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ('eval "$x"', "only known at run time"),
        ('eval "$x" y', "only known at run time"),
        ('sh -c "$x"', "only known at run time"),
        ('bash5 -ec "$x" a', "only known at run time"),
        ("eval x", ""),
        ("sh -c x", ""),
        ('sh a "$x"', ""),
        ('ls -c "$x"', ""),
        ('cd a || cd b; cat "$PWD"', "everything of a person's home"),
        ('cd a || cd b; cat "$PWD/c"', ""),
        ('cat "$PWD"', ""),
        ('cat "$OLDPWD"', ""),
        ('cat "$USER"', ""),
    ],
)
def test_what_is_computed_may_be_code_or_a_place(command: str, said: str) -> None:
    """One of several directories begins with a slash; one that was never set may be none."""
    found = danger_of(command)
    assert said in found
    assert bool(said) is bool(found)
