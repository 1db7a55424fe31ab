"""What a turn of a loop may change before the next one begins."""

from __future__ import annotations

import pytest

from tests.permission.kit import analyze

CHANGES = r"""
x=a
x+=1
x=6a
x=6$i
x=(6)
x=(1 a)
"x=a" ls; x=$y
{ x=a; }
ls && x=a
ls || x=a
ls & x=a
! x=a
time x=a
if x=a; then :; fi
if ls; then x=a; fi
if ls; then :; elif x=a; then :; fi
if ls; then :; elif pwd; then x=a; fi
if ls; then :; else x=a; fi
while x=a; do :; done
while ls; do x=a; done
until ls; do x=a; done
for y in 1; do x=a; done
for x in a; do :; done
for y in "${x:=a}"; do :; done
for ((y=0;y<3;y++)); do x=a; done
case $i in 1) x=a;; esac
case $i in 1) ;; 2) x=a;; esac
case ${x:=a} in 1) ;; esac
case $i in ${x:=a}) ;; esac
[[ ${x:=a} ]]
[[ -n a && -n ${x:=a} ]]
f() { x=a; }
x=a; f() { :; }
echo "${x:=a}"
echo "${x=a}"
echo "${y:-${x:=a}}"
echo "${y:=${x:=a}}"
echo "a${x:=a}"
y="${x:=a}"
y=(b "${x:=a}")
y="${x:=a}" ls
cat < "${x:=a}"
ls > "${x:=a}"
{ ls; } > "${x:=a}"
cat <<< "${x:=a}"
read x
read -r x
read y x
read -a x
read -ax
read "$y"
read -p "$y" x
mapfile x
readarray x
declare x=a
declare x
typeset x=a
local x=a
readonly x=a
export x=a
export "$y"
export "y$z"
unset x
unset "$y"
printf -v x a
printf -vx a
getopts a x
let 'x=y z'
let "$y"
$y
"$y" x
command read x
command -p read x
command -p -- read x
builtin read x
command builtin read x
command $y
""".strip().splitlines()

KEEPS = r"""
x=6
x=$((x + 1))
(x=a)
(x=a; y=b)
y=a
y=$x
y+=a
x=a ls
x=a | cat
echo "$x"
echo "${x:-a}"
echo "${x:+a}"
echo "${y:=a}"
echo "x=a"
echo $(x=a)
echo x
read y
read -r y
read -ay
read yx
read xy
export y=a
export "y=$z"
unset y
let x=7
let x++
((x=7))
((x++))
((y=7))
for ((x=0;x<3;x++)); do :; done
for y in x; do :; done
for y in a; do y=b; done
case x in x) ;; esac
[[ x = a ]]
if ls; then x=6; fi
while ls; do x=6; done
ls x
command ls x
command -p ls x
command -v x
command
command -p
builtin echo x
shift
cd x
cat <<< "x=a"
""".strip().splitlines()

PARAMETERS = ("set -- a", "shift", "eval ls", "source a", ". a", "$y", "if ls; then shift; fi")
NO_PARAMETERS = ("pwd", "x=a", "read x", "(shift)", "echo set", "echo $(shift)", "cd a", "unset x")

MOVES = (
    *("cd a", "pushd a", "popd", "$y", "ls && cd a", "{ cd a; }", "command cd a", "cd a || ls"),
    *("command cd", "command -p cd", "command -p -- cd", "builtin -- popd", "command -p $y"),
)
NO_MOVES = (
    *("command -p pwd", "command -p -- ls", "builtin -- pwd"),
    *("pwd", "(cd a)", "echo cd", "echo $(cd a)", "x=cd", "cd a | ls", "read cd", "shift"),
)


def is_number(name: str, before: str, body: str) -> bool:
    """Return whether a variable is known to be a number at the beginning of each turn."""
    command = f'{before}; for i in 1 2; do head -n "${name}" f; {body}; done'
    analysis = analyze(command, directory="/ws", home="/home/u")
    assert analysis.script is not None, command
    return not any("value of `head -n`" in doubt.message for doubt in analysis.all_doubts)


@pytest.mark.parametrize("body", CHANGES)
def test_a_variable_that_a_turn_may_change_is_not_known_at_the_next(body: str) -> None:
    """However it is set, and wherever in the body, what it held before says nothing."""
    assert not is_number("x", "x=5", body)


@pytest.mark.parametrize("body", KEEPS)
def test_a_variable_that_no_turn_changes_stays_known(body: str) -> None:
    """Other variables, numbers, subshells and mere words that look like a change leave it."""
    assert is_number("x", "x=5", body)


def test_the_parameters_are_known_until_a_turn_may_change_them() -> None:
    """`set`, `shift`, and what runs another text in this shell change them, and nothing else."""
    assert [each for each in PARAMETERS if is_number("1", "set -- 5", each)] == []
    assert [each for each in NO_PARAMETERS if not is_number("1", "set -- 5", each)] == []


def test_the_directory_is_known_until_a_turn_may_change_it() -> None:
    """What is written in a loop is written in a known place unless a turn may go elsewhere."""

    def knows(body: str) -> bool:
        command = f"for i in 1 2; do touch a; {body}; done"
        analysis = analyze(command, directory="/ws", home="/home/u")
        return any(each.path == "/ws/a" for each in analysis.effects)

    assert [each for each in MOVES if knows(each)] == []
    assert [each for each in NO_MOVES if not knows(each)] == []
