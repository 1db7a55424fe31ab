"""Forms that only bash reads as they were read."""

from __future__ import annotations

import shlex

import pytest

from tests.permission.kit import doubts_of

DOUBT = "`sh` parses this script differently from bash"

ONLY_BASH = """
builtin cd x
compgen -c
declare x=a
dirs
let x=1
mapfile x
popd
pushd x
readarray x
shopt -s nullglob
source x
typeset x=a
[[ a > b ]]
(( 3 > 4 ))
for ((i=0; i<3; i++)); do ls; done
x=a; x+=b
ls $(declare x)
read -s x
read "$x" y
echo {a,b}
echo $'a'
echo $"a"
uniq f 10< /dev/null
{ ls; } 12>&1
""".strip().splitlines()

ANY_SHELL = """
command cd x
export x=a
readonly x=a
set -- a
. x
[ a \\> b ]
echo $(( 3 > 4 ))
for i in 1 2 3; do ls; done
x=a; x=${x}b
ls $(export x)
read -r x
read x y
echo a b
echo 'a' "a"
echo declare source
uniq f 9< /dev/null
{ ls; } 2>&1
""".strip().splitlines()


@pytest.mark.parametrize("text", ONLY_BASH)
def test_what_only_bash_knows_is_found(text: str) -> None:
    """Its builtins, conditions, arithmetic, arrays, braces and quotes are nothing for `sh`."""
    assert DOUBT in doubts_of(f"sh -c {shlex.quote(text)}")
    assert DOUBT not in doubts_of(f"bash -c {shlex.quote(text)}")


@pytest.mark.parametrize("text", ANY_SHELL)
def test_what_every_shell_knows_is_none_of_it(text: str) -> None:
    """The same done as the standard has it is read by `sh` as by bash."""
    assert DOUBT not in doubts_of(f"sh -c {shlex.quote(text)}")
