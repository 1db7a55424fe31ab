"""What a variable, a parameter or a descriptor may be when a later command is reached."""

from __future__ import annotations

import pytest

from tests.permission.kit import analyze

HARMFUL = r"""
s=; for j in "${s:=-oPWNED}"; do :; done; sort "$s" f
s=; case ${s:=1wPWNED} in *) sed -n "$s" f;; esac
s=; case x in ${s:=1wPWNED}) :;; esac; sed -n "$s" f
s=; { :; } < "${s:=1wPWNED}"; sed -n "$s" f
s=; { cat; } <<< "${s:=1wPWNED}"; sed -n "$s" f
s=; git log --grep "${s:=--output=PWNED}" "$s"
s=; TZ=$s date ${s:=x/../..}
a=1p; a=1wPWNED b=$a; sed -n "$b" f
a=x; a=-oPWNED b=("$a"); sort "${b[@]}"
b=(x); b=(-oPWNED) a="${b[0]}"; sort "$a" f
x=-oPWNED; { x=a; } < nofile; sort "$x" f
x=-oPWNED; declare x=a < nofile; sort "$x" f
x=-oPWNED; declare x=a 2>&7; sort "$x" f
x=-oPWNED; if true; then x=a; fi < nofile; sort "$x" f
x=1wPWNED; ((x=1)) < nofile; sed -n "$x" f
set -- -oPWNED; set -- a < nofile; sort "$1" f
set -- -oPWNED a; shift < nofile; sort "$1" f
x=-oPWNED; local x=a; sort "$x" f
x=-oPWNED; bash -c 'x=-oPWNED; local x=a; sort "$x" f'
readonly x=-oPWNED; declare x=a; sort "$x" f
declare -r x=-oPWNED; declare x=a; sort "$x" f
readonly x=1wPWNED; ((x=1)); sed -n "$x" f
readonly x=1wPWNED; wc -l < f | { read x; sed -n "${x}" f; }
for i in 1 2; do x=a; sort "$x" f; readonly x=-oPWNED; done
f() { readonly x=-oPWNED; }; f; declare x=a; sort "$x" f
(ls); if true; then readonly x=-oPWNED; fi; declare x=a; sort "$x" f
d=readonly; $d x=-oPWNED; declare x=a; sort "$x" f
x=-oPWNED; ((x=1/0)); sort "$x" f
wc -l < f | { exec < g; read x; sort "$x" f; }
seq 3 | { command exec 0< g; xargs sort; }
seq 3 | while exec <&3; do xargs sort; done 3< g
e=exec; seq 3 | ($e < g; xargs sort)
find . -print0 | { ls | exec < g; xargs -0 sort; }
set -- a; set -o -- -oPWNED; sort "$1" f
set -- a; set +o -- -oPWNED; sort "$1" f
sort "${OLDPWD}-oPWNED" f
a=(1); declare a='($(touch PWNED))'
a=(1); x=$(cat f); declare a="$x"
f() { a=(1); }; f; declare a='($(touch PWNED))'
f() { local a; read -ra a <<< "1 2"; local a='($(touch PWNED))'; }; f
mapfile -t a < f; declare -r a='($(touch PWNED))'
ls | xargs -I{} -n2 env
ls | xargs -i -l env
ls | xargs -I X -i sort {}
p=$(cat f); ls | xargs -I "$p" ls
x=-oPWNED; let y=08 x=1; sort "$x" f
x=-oPWNED; let 'x=1+'; sort "$x" f
x=-oPWNED; y=08; ((x=y)); sort "$x" f
x=-oPWNED; z=0; echo $((5 % z))
x=-oPWNED; for ((x=2**-1;;)); do break; done
echo $(($(nproc)/0))
readonly y=1; y=2; x=a
shopt -s failglob; ls *.nope
x=a; case x in x) x=-oPWNED ;& y) sort "$x" f;; esac
x=a; case x in x) x=-oPWNED ;;& *) sort "$x" f;; esac
x=a; case x in x) x=-oPWNED ;& y) ;& z) sort "$x" f;; esac
x='a PATH=.'; d=declare; $d y=$x; ls
read() { find . -name $RANDOM -name -delete; }; IFS=0123456789 read
find . -name $! -name -delete
find . -name $(wc -l < nofile) -name -delete
n=$(wc -l < nofile); find . -name $n -name -delete
wc -l < nofile | { read n; find . -name $n -name -delete; }
n=$((RANDOM)); find . -name ${n%?} -name -delete
xargs -I $! echo touch PWNED
sh -c 'xargs -I $EUID echo touch PWNED'
sh -c 'n=$RANDOM; xargs -I $n echo touch PWNED'
n=$(wc -l < nofile); set -- $n -oPWNED a; sort "$3" f "$1"
sort "$(wc -l < nofile)-oPWNED" f
sh -c 'sort "$1" f' $! _ -oPWNED
sh -c 'sort "$1" f' $x _ -oPWNED
jq -L $! d -n 'include "m"; x'
git log "$(git rev-parse HEAD)--output=PWNED"
for ((i=1;i<3;i++)); do sort "${i%?}-oPWNED" f; done
find . $!-delete
ls 2< f > /dev/stderr
ls 1< f 2> /dev/stdout
ls < f >&0 2> /dev/stdout
ls < f 1<&0 2> /dev/stdout
exec 2< f; ls > /dev/stderr
{ ls > /dev/stderr; } 2< f
(ls >&3 2> /dev/stdout) 3< f
exec 3<&0 < f; ls >&3 2> /dev/stdout
f() { ls >&4 2> /dev/stdout; }; f 3< f 4<&3
x=a; for i in 1; do x=--output=P; done; git show "$x"
x=a; for i in 1 2; do git show "$x"; x=b; done
x=a; for i in 1 2; do git show "$x"; x=--output=P; done
x=a; for i in 1 2; do git show "$x"; : ${x:=--output=P}; done
x=a; for i in 1 2; do git show "$x"; : ${x=--output=P}; done
x=a; for i in 1 2; do git show "$x"; : $((x)); done
x=a; for i in 1 2; do git show "$x"; ((x=1)); done
x=a; for i in 1 2; do git show "$x"; let x=1; done
x=a; for i in 1 2; do git show "$x"; read x; done
x=a; for i in 1 2; do git show "$x"; read -r x; done
x=a; for i in 1 2; do git show "$x"; read -ax; done
x=a; for i in 1 2; do git show "$x"; export x; done
x=a; for i in 1 2; do git show "$x"; declare x=--output=P; done
x=a; for i in 1 2; do git show "$x"; command read x; done
x=a; for i in 1 2; do git show "$x"; command -p read x; done
x=a; for i in 1 2; do git show "$x"; builtin read x; done
x=a; for i in 1 2; do git show "$x"; TZ=--output=P date; done
TZ=a; for i in 1 2; do git show "$TZ"; TZ=--output=P date; done
x=a; for i in 1 2; do git show "$x"; { x=--output=P; }; done
x=a; f() { x=--output=P; }; for i in 1 2; do git show "$x"; f; done
x=a; f() { y=-b; }; for i in 1 2; do git show "$x"; f; done
x=a; for i in 1 2; do git show "$x"; printf -v x y; done
x=a; for i in 1 2; do git show "$x"; mapfile x; done
x=a; for i in 1 2; do git show "$x"; for x in b; do :; done; done
x=a; for i in 1 2; do git show "$x"; x+=b; done
x=1; for i in 1 2; do head -n $x f; x=b; done
x=1; for i in 1 2; do head -n $x f; x=$(nproc); done
x=1; for i in 1 2; do head -n $x f; x=(2); done
x=1; for i in 1 2; do head -n $x f; x+=2; done
x=1; for i in 1 2; do head -n $x f; x=2$y; done
set -- a; for i in 1 2; do git show "$1"; shift; done
set -- a; for i in 1 2; do git show "$1"; set -- -b; done
for i in 1 2; do x=a; git show "$x"; readonly x=--output=P; done
for i in 1 2; do x=a; git show "$x"; declare -r x=--output=P; done
x=a; ls | while read -r x; do git show "$x"; done
x=a; while read -r x; do echo "$x"; done; git show "$x"
x=a; if ls; then x=--output=P; fi; git show "$x"
x=a; ls && x=--output=P; git show "$x"
x=a; case y in y) x=--output=P;; esac; git show "$x"
x=a; until ls; do x=--output=P; done; git show "$x"
x=a; ! x=--output=P; git show "$x"
x=a; bash -c 'git show "$x"'
""".strip().splitlines()

HARMLESS = r"""
s=; for j in "${s:=a}"; do echo "$j"; done; echo "$s"
s=; case ${s:=a} in *) echo "$s";; esac
s=; cat <<< "${s:=a}"; echo "$s"
a=1p; a=2p b=$a; sed -n "$b" f
x=a; { echo "$x"; } < f; sort "$x" f
x=a; { x=b; } 2>/dev/null; sort "$x" f
x=-o; { x=b; } 2>&1; sort "$x" f
x=-o; declare x=b 2>/dev/null; sort "$x" f
set -- -o; set -- a 2>/dev/null; sort "$1" f
f() { local x=a; sort "$x" f; }; f
f() { local -r x=a; sort "$x" f; }; f
readonly x=a; sort "$x" f
readonly x=a; declare x=b; sort "$x" f
for i in 1 2; do x=a; sort "$x" f; done
y=8; ((x=y/2)); sort "$x" f
let y=8 x=y; echo $((x % 3 == 0 ? x : 1))
for ((i=0;i<9;i++)); do echo $((i*100/9)) $((2**i)) $(($?+1)); done
echo $(( ($(date +%s) - $(date -d "$(git log -1 --format=%ci)" +%s)) / 86400 )) days
readonly y=1; x=2; echo "$x"
shopt -s nullglob; ls *.md
x=a; case x in x) x=-o ;; y) sort "$x" f;; esac
x=a; case x in x) x=b ;& y) sort "$x" f;; esac
IFS=, read -r a b <<< x,y; echo "$a"
find . -name $$ -name -delete
xargs -I $EUID echo touch PWNED
bash -c 'xargs -I $EUID echo touch PWNED'
sh -c 'xargs -I $PPID echo touch PWNED'
find . -name $((1 + 2)) -name -delete
find . -maxdepth $(nproc) -name x
n=$(wc -l < f); head -n $n g
ps -u $USER
id $(whoami)
sh -c 'sort "$1" f' _ a
cut -f 1 -d $! f
n=$(wc -l < f); seq $n
n=$(wc -l < f); [ $n -gt 5 ] && echo $n
git cat-file -p $(git rev-parse HEAD)
git diff $(git merge-base main HEAD) $(git rev-parse HEAD)
set -- $$ a; sort "$2" f
sort "$((1))-oPWNED" "${#x}-oPWNED" "$#-oPWNED" f
git log "$(git rev-parse HEAD)..HEAD"
ls 3>&1 1>&2 2>&3 3>&-
ls > /dev/stderr
seq 3 | while read -r x; do cat < g; sort "$x" f; done
set -e; set -o pipefail -- a b; sort "$1" f
cd a; ls "$OLDPWD"; cat "$OLDPWD/README.md"
a=(1); declare b='(x)'; declare a=x; echo "$b" "${a[@]}"
f() { local a; read -ra a <<< "1 2"; echo "${a[0]}"; }; f
read -r a < f; declare a="$(cat f)"
find . -print0 | xargs -0 -n1 -I{} wc -l {}
find . -print0 | xargs -0 -I{} -n 1 sort {}
while read -r x <&3; do echo "$x"; done 3< f
exec 3< f; read -r x <&3; echo "$x"
exec 3>&1; ls >&3
x=a; for i in 1 2; do git show "$x"; y=b; done
x=a; for i in 1 2; do git show "$x"; : ${x:--b}; done
x=a; for i in 1 2; do git show "$x"; ((y=1)); done
x=a; for i in 1 2; do git show "$x"; let y=1; done
x=a; for i in 1 2; do git show "$x"; read y; done
x=a; for i in 1 2; do git show "$x"; read -ay; done
x=a; for i in 1 2; do git show "$x"; declare y=-b; done
x=a; for i in 1 2; do git show "$x"; command -p read y; done
x=a; for i in 1 2; do git show "$x"; builtin read y; done
x=a; for i in 1 2; do git show "$x"; (x=--output=P); done
x=a; for i in 1 2; do git show "$x"; x=--output=P | ls; done
x=a; for i in 1 2; do git show "$x"; y=$(x=--output=P); done
x=a; for i in 1 2; do git show "$x"; mapfile y; done
x=a; for i in 1 2; do git show "$x"; for y in b; do :; done; done
x=1; for i in 1 2; do head -n $x f; x=$((x+1)); done
x=1; for i in 1 2; do head -n $x f; ((x++)); done
x=1; for i in 1 2; do head -n $x f; x=2; done
x=1; for i in 1 2; do head -n $x f; let x=2; done
set -- a; for i in 1 2; do git show "$1"; done
for i in 1 2; do x=a; git show "$x"; declare y=-r; done
x=a; ls | while read -r y; do git show "$x"; done
x=a; ls | while read -r x; do echo "$x"; done; git show "$x"
x=a; if ls; then x=c; fi; git show "$x"
x=a; ls && x=c; git show "$x"
x=a; case y in y) x=c;; esac; git show "$x"
x=a; (x=--output=P); git show "$x"
x=a; ls | x=--output=P; git show "$x"
x=a; { x=--output=P; } | ls; git show "$x"
x=a; x=--output=P & git show "$x"
x=a; bash -c 'x=--output=P'; git show "$x"
ls() { :; }; ls
""".strip().splitlines()


def _only_reads(command: str) -> bool:
    return analyze(command, directory="/ws", home="/home/u").read_only


@pytest.mark.parametrize("command", HARMFUL)
def test_what_a_later_command_gets_is_not_taken_for_something_else(command: str) -> None:
    """Nothing is proven where what the commands before it leave behind would make it harmful."""
    assert not _only_reads(command)


@pytest.mark.parametrize("command", HARMLESS)
def test_what_is_harmless_whatever_is_left_behind_is_proven(command: str) -> None:
    """The same forms are proven where nothing that they leave behind does any harm."""
    assert _only_reads(command)


@pytest.mark.parametrize(
    "error",
    [
        *("$((1/n))", "$((1 % n))", "$((5/(n)))", "$((2**n))", "$((2 ** n))", "$((1/${#n}))"),
        *("$((1/0x0))", "$((1/16#0))", "$((1/ 2 % n))", "$((2**(n)))"),
    ],
)
def test_a_line_that_breaks_off_leaves_what_was_before(error: str) -> None:
    """Where arithmetic may be an error, what its line would set is not known in the next one."""
    start = "n=$(wc -l < f)\nx=-oPWNED\n"
    assert not _only_reads(f'{start}: {error}; x=a\nsort "$x" f')
    assert not _only_reads(f'{start}x={error}\nsort "$x" f')
    assert not _only_reads(f'{start}f() {{ : {error}; }}\nf; x=a\nsort "$x" f')
    assert not _only_reads(f'{start}set -- -oPWNED\n: {error} && set -- a\nsort "$1" f')
    assert _only_reads(f'{start}: {error}; x=a; sort "$x" f')
    assert _only_reads(f'{start}: {error}\nx=a; echo "$x"\nsort "$x" f')


@pytest.mark.parametrize(
    ("padded", "plain"), [("+%m", "+%s"), ("+%H%M", "+%Y%m%d"), ("+0%Y", "+1%Y"), ("+%j", "+%u")]
)
def test_a_number_of_date_that_may_begin_with_0_is_none(padded: str, plain: str) -> None:
    """In August, `$(($(date +%m)+1))` is an error, as 08 is no octal number."""
    assert _only_reads(f"echo $(($(date {plain})+1))")
    assert not _only_reads(f"echo $(($(date {padded})+1))")
    assert _only_reads(f"echo $(date {padded})")


@pytest.mark.parametrize(
    "harmless",
    [
        *("n / 2 + 1", "n/10", "n % 7", "n /\t2", "n*(n)", "2**3 + n", "2 ** 10", "2**\t3"),
        *("n*n", "n-1", "n > 2", "${#n}", "n/2/3"),
    ],
)
def test_a_line_whose_arithmetic_cannot_fail_sets_what_it_sets(harmless: str) -> None:
    """Division by a number that is written down, and all that is no division, ends no line."""
    assert _only_reads(f'n=$(wc -l < f)\nx=$(({harmless}))\nsed -n "${{x}}p" f')
    assert not _only_reads('n=$(wc -l < f)\nx=$((n / 2 + y))\nsed -n "${x}p" f')


@pytest.mark.parametrize(
    "script",
    [
        "tail -f f &",
        "tail -f f & sleep 1",
        "ls && tail -f f &",
        "(tail -f f) &",
        "while read -r x; do tail -f f & done",
        "x() { tail -f f; }; x &",
        'bash -c "tail -f f" &',
        "head -1 <(tail -f f)",
    ],
)
def test_what_a_shell_does_not_wait_for_is_not_ended_with_it(script: str) -> None:
    """A time limit ends only what is still there; what runs in the background may outlast it."""
    for waited, is_proven in ((script, False), (script.replace("tail -f f", "timeout 3 ls"), True)):
        command = f"timeout 5 bash -c '{waited}'"
        assert analyze(command, directory="/ws", home="/home/u").read_only is is_proven, command
    ends = "timeout 5 bash -c 'tail -f f; tail -f g | cat'"
    assert analyze(ends, directory="/ws", home="/home/u").read_only
