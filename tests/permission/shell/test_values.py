"""What is known of computed words: whether they are an option, one argument, a number, a place."""

from __future__ import annotations

import pytest

from tests.permission.kit import EffectKind, doubts_of, paths_of, reads

KNOWN = r"""
x="v$(nproc)"; git show $x
x="$(nproc)v"; git show $x
x="$(nproc)$(nproc)"; git show $x
git show "v$x"
git show "v$1"
git show v*
git show "v"*
git show ./*
git show ~
git show ~bob
for f in a b; do git show "$f"; done
for f in a b.c; do git show $f; done
for f in "a$x" b; do git show "$f"; done
for f in $(git log --format=%H); do git show "$f"; done
a=(x y); git show "${a[0]}"
a=(x y); git show "${a[@]}"
set -- a b; git show "$@"
for i in 1 2; do head -n "$i" f; done
for i in 1 "$(nproc)"; do head -n "$i" f; done
for i in $(seq 3); do head -n "$i" f; done
cat < ./"$x/a"
cat < "/etc/$x/a"
cat < ~bob/x
for f in "src/$x/a"; do cat < "$f"; done
for f in a "b/$x/a"; do cat < "$f"; done
for f in etc/hosts "src/$x/a"; do cat < "$f"; done
for f in /etc/hosts /etc/group; do cat < "$f"; done
for f in a b/*; do cat < "$f"; done
for f in */; do cat < "$f"; done
a=(-v); a=(w); git show "${a[0]}"
a=v; a+=-x; git show "$a"
seq 3 | xargs git show
seq 3 | xargs git show 2>/dev/null
seq 3 | { xargs git show; }
seq 3 | while read x; do git show "$x"; done
seq 3 | while read x; do read y; git show "$y"; done
x=-12; head -n "$x" f
for i in 12 -12; do head -n "$i" f; done
for i in "$(nproc)" 4; do head -n "$i" f; done
for i in "$(nproc)" "$(nproc)"; do head -n "$i" f; done
for f in é ~ '{a,b}'; do git show "$f"; done
for f in é a-1; do git show $f; done
for f in a ''; do git show $f; done
for f in a ''; do git show "v$f"; done
x=$(git rev-parse HEAD); git show "$x"
for f in a "$(git rev-parse HEAD)"; do git show "$f"; done
a=(x y); for f in "${a[@]}"; do git show "$f"; done
x=a; a=(-v); git show "$x"
for f in $(seq 3); do git show "v$f"; done
for f in $(git rev-parse HEAD); do git show "$f"; done
git show $(nproc)
git show $(git rev-parse HEAD)
head -n $(nproc) f
set -- a; git show "${2:-b}"
git show "${x:+a}"
head -n "${#x}" f
for f in a.b "$(git rev-parse HEAD)"; do git show $f; done
for f in a.b- "$(git rev-parse HEAD)"; do git show $f; done
for f in ab "$(git rev-parse HEAD)"; do git show $f; done
echo ab | xargs git show
echo 12 | xargs head f -n
x=$(git rev-parse HEAD); a=($x); git show "${a[0]}"
x=$(git rev-parse HEAD); for f in $x; do sort -k $f a; done
for f in $(git rev-parse HEAD); do sort -k $f a; done
""".strip().splitlines()

IN_DOUBT = r"""
x="a b$(nproc)"; git show $x
x="v$(nproc) b"; git show $x
x="-$(nproc)"; git show $x
x="v$(cat f)"; git show $x
git show "$x"
git show "$1"
git show "$@"
git show v$x
git show *
git show "-"*
for f in a -b; do git show "$f"; done
for f in a 'b c'; do git show $f; done
for f in "a$x" b; do git show $f; done
for f in $(cat f); do git show "$f"; done
a=(x -y); git show "${a[0]}"
a=(x -y); git show "${a[@]}"
x="$(nproc)$(nproc)"; head -n $x f
x="1$(nproc)"; head -n $x f
for i in 1 b; do head -n "$i" f; done
for i in 1 "$(git describe)"; do head -n "$i" f; done
cat < "$x"
cat < "/$x"
cat < "/de$x"
for f in "$x"; do cat < "$f"; done
for f in a "/$x"; do cat < "$f"; done
for f in /etc/hosts "src/$x"; do cat < "$f"; done
for f in a /dev/*; do cat < "$f"; done
a=(v); a+=(-x); git show "${a[0]}"
a=v; a+="$y"; git show "$a"
a=-; a+=v; git show "$a"
cat f | xargs git show
seq 3 | xargs git show < f
seq 3 | xargs git show 0< f
seq 3 | xargs git show <<< -x
seq 3 | xargs git show 0<&3
seq 3 | xargs git show 0>&3
seq 3 | { xargs git show; } < f
cat f | while read x; do git show "$x"; done
seq 3 | while read x; do git show "$x"; done < f
seq 3 | while read x; do read y < f; git show "$y"; done
cat <> /dev/null
for i in 12 ''; do head -n "$i" f; done
for i in 12 '12 '; do head -n "$i" f; done
for i in 12 ²; do head -n "$i" f; done
for f in a 'a*'; do git show $f; done
for f in a '[a'; do git show $f; done
for f in a 'a\b'; do git show $f; done
for f in -a /b -a; do git show "$f"; done
for f in '' 1; do head -n "v$f" f; done
x=$(git rev-parse HEAD); head -n "$x" f
for f in a "$(cat f)"; do git show "$f"; done
a=(x -y); for f in "${a[@]}"; do git show "$f"; done
x='-a b'; git show $x
x='a -b'; git show $x
x=' '; git show $x
x=''; git show $x
for f in $(git log --format=%s); do git show "$f"; done
head -n $(git rev-parse HEAD) f
git show "${x:-a}"
head -n "${x:-3}" f
for f in -a.b "$(git rev-parse HEAD)"; do git show $f; done
for f in 'a b' "$(git rev-parse HEAD)"; do git show $f; done
for i in 1x "$(nproc)"; do head -n "$i" f; done
echo a-b | xargs git show
echo é | xargs git show
x=$(git rev-parse HEAD); sort -k $x a
for f in "$(git rev-parse HEAD)"; do sort -k $f a; done
if [ -f a ]; then set -- $(git log --format=%H); else set -- a; fi; git show "$@"
set -- $(git log --format=%H) b; git show "$1"
""".strip().splitlines()


@pytest.mark.parametrize("command", KNOWN)
def test_a_computed_word_is_known_as_far_as_its_parts_are(command: str) -> None:
    """Literal beginnings, loops over literals, numbers and globs with a beginning are harmless."""
    assert doubts_of(command) == []


@pytest.mark.parametrize("command", IN_DOUBT)
def test_what_may_be_an_option_or_a_connection_is_in_doubt(command: str) -> None:
    """One part of which too little is known is enough."""
    assert not reads(command)
    assert doubts_of(command)


@pytest.mark.parametrize(
    ("texts", "connects"),
    [
        ("a /dev/tcp/h/1", True),
        ("/dev/tcp/h/1 a", True),
        ('"/$x"', True),
        ('"/dev$x"', True),
        ("a /etc/x", False),
        ("a/dev/tcp/h/1 b", False),
        ('"a/dev/$x"', False),
        ('"/dew/$x"', False),
    ],
)
def test_bash_connects_where_a_path_may_begin_with_dev(texts: str, connects: bool) -> None:
    """One of the texts that a variable may hold is enough."""
    doubts = doubts_of(f'for f in {texts}; do cat < "$f"; done')
    assert any("connection" in doubt for doubt in doubts) is connects


@pytest.mark.parametrize(("names", "known"), [(2, True), (64, True), (65, False)])
def test_a_variable_may_hold_64_texts(names: int, known: bool) -> None:
    """Each of so many texts is a path of its own; of more of them, none is told."""
    texts = " ".join(f"f{number}" for number in range(names))
    removed = set(paths_of(f'for f in {texts}; do rm "$f"; done', EffectKind.DELETE))
    assert removed == ({f"/ws/f{number}" for number in range(names)} if known else {None})


@pytest.mark.parametrize(("names", "endings", "known"), [(8, 8, True), (5, 13, False)])
def test_a_word_of_two_variables_may_be_64_texts(names: int, endings: int, known: bool) -> None:
    """Each text of one is joined to each of the other, as long as there are not more than that."""
    first, second = ([str(number) for number in range(count)] for count in (names, endings))
    loops = f"for f in {' '.join(first)}; do for g in {' '.join(second)}; do"
    removed = set(paths_of(f'{loops} rm "a$f.$g"; done; done', EffectKind.DELETE))
    joined = {f"/ws/a{one}.{other}" for one in first for other in second}
    assert removed == (joined if known else {None})
