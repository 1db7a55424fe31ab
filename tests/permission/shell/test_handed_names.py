"""Names that one command prints and another one reads: which are known, and why others are not."""

from __future__ import annotations

import pytest

from tests.permission.kit import doubts_of

HANDED = r"""
find . -type f | xargs cat |
find "$x" | xargs cat | that `find` names
find . -printf x | xargs cat | that `find` names
find . -exec cat {} + |
find . -exec cat src/{} \; |
find . -exec cat ./{} \; |
fd x -X cat |
fd x --format y -X cat | whose names `fd` changes
fd x --format y | xargs cat | that `fd` names
fd -x cat |
fd -x cat {/} | whose names are built at run time
fd -x cat src/{} |
ls | xargs cat |
ls | xargs -I{} cat src/{} |
cd "$x"; ls | xargs -I{} cat src/{} | whose names are built at run time
cd "$x"; ls | xargs -I{} cat /src/{} |
ls | xargs -I{} cat src{} | whose names are built at run time
ls | xargs -I{} cat {}/a |
ls | xargs -I{} cat {}.py |
ls | xargs -I{} cat src/{}.py |
echo a | xargs -I{} cat src/{} | whose names are built at run time
echo a | xargs -I{} cat {} |
seq 3 | xargs -I{} cat src/{} |
seq 3 | xargs -I{} cat .e{} | whose names are built at run time
xargs -a f cat | listed in `f`
xargs --arg-file=f cat | listed in `f`
xargs cat < f | listed in `f`
xargs cat <<< a |
xargs cat <<< $x | `$x`
ls | xargs -d, cat | whose names are cut from other text
ls | xargs -d '\n' cat |
ls | xargs -E x cat | whose names are cut from other text
ls | { read x; cat "$x"; } |
ls | { read -n 3 x; cat "$x"; } | whose names are cut from other text
ls | { IFS=, read x; cat "$x"; } | whose names are cut from other text
ls | { IFS= read x; cat "$x"; } |
ls | { IFS=$y read x; cat "$x"; } | whose names are cut from other text
ls | { IFS=' ' read x; cat "$x"; } |
ls | { mapfile x; cat "${x[@]}"; } |
ls | { mapfile -d, x; cat "${x[@]}"; } | whose names are cut from other text
cat $(ls) |
cat $(< f) | whose names are only known at run time
cat $(x=1) |
cat $(seq 3) |
cat $(git log) | that `git log` names
cat $(cat f) | listed in `f`
cat $(cat "$x") | that `cat` names
cat $(ls -l | cat) |
cat $(grep -rn x .) | that `grep` names
cat $(grep -rn x . | cut -d: -f1) |
cat $(grep -rn x . | cut -d: -f1 | cut -d: -f1) | whose names are cut from other text
cat $(grep -rn x . | sort | cut -d: -f1) |
cat $(ls | cut -d: -f1) | whose names are cut from other text
cat $({ grep -rn x .; seq 3; } | cut -d: -f1) |
cat $({ grep -rn x .; ls; } | cut -d: -f1) | whose names are cut from other text
cat $({ grep -rn x .; no-such-tool; } | cut -d: -f1) | whose names are cut from other text
cat $(> f | cut -d: -f1) | whose names are cut from other text
cat $(seq 3 | cut -d: -f1) |
cat $(echo a) |
cat $(echo $x) | `$x`
cat $(echo "$(ls)") |
cat $(printf %d a) | whose names `printf` builds
cat $(printf %d $x) | `$x`
cat $(printf %s%s $(ls)) | whose names `printf` builds
cat $(ls | sort -u) |
cat $(ls | uniq -c) |
cat $(ls | no-such-tool) | that `no-such-tool` names
cat $(ls | base64) | that `base64` names
cat $(ls | sed s/a/b/) | that `sed` names
f() { ls; }; cat $(f) |
f() { cat g; }; cat $(f) | listed in `g`
f() { ls | base64; }; f | xargs cat | that `base64` names
sort <(ls) <(find .) |
cat $(sh -c 'ls') |
cat $(timeout 3 ls) |
cat $(find . -exec ls {} \;) |
cat $(find . -exec cat {} \;) | that `cat` names
cat $(env ls | sort) |
cat "$x" | `$x`
cat "$x" "$y" | `$x`
cat $(no-such-tool) "$x" | that `no-such-tool` names
for f in $(ls) "$x"; do cat "$f"; done | `$x`
for f in a $(ls); do cat "$f"; done |
for f in $(ls) $(cat g); do cat "$f"; done | listed in `g`
cat "$x/a.py" |
cat "a$x" | `$x`
ls | while read x; do cat "$x"; done |
ls | while IFS=, read x; do cat "$x"; done | whose names are cut from other text
find . | xargs -I{} head -1 {} |
xargs cat < <(ls) |
xargs cat < <(cat f) | listed in `f`
rg -l x | xargs -d '\n' cat |
cat $(grep -l x *) |
cat $(grep -rn x src) | listed in `src`
cat $(grep -rn x src/ | head -3 | cut -d: -f1) |
cat $(grep -rn x src | cut -d: -f1) | whose names are cut from other text
cat $(git -C src ls-files) |
cat $(find . | grep "$x") | that `grep` names
cat $(basename "$(ls)") |
cat $(dirname $x) | `$x`
cat $(cat $(ls)) | that `cat` names
cat $(cat <(ls)) | that `cat` names
cat $(ls; git log) | that `git log` names
cat $(git status -s) |
ls | { LC_ALL=C read x; cat "$x"; } |
ls | xargs cat "$x" | `$x`
ls | xargs cat 2> /dev/null |
find . -printf x -exec cat {} + |
cat $(find . -printf x -exec wc -l {} \;) | that `find` names
cat $(find . -exec wc -l {} \;) |
cat $(curl http://h) | that `curl` names
cat $(git log > >(cat)) | that `git log` names
xargs cat < <(ls; git log) | that `git log` names
cat $(timeout 3 git log) | that `git log` names
ls > >(xargs cat) | that its input names
cat $(test -f a) |
f() { cat "$1"; }; f a | xargs cat | listed in `a`
ls | xargs -n "$(nproc)" cat |
cd "$x"; cat a b |
cd "$x"; cat a "$y" | `$y`
"""
"""Commands, and which names are shown that nobody knows; nothing where all are known."""


@pytest.mark.parametrize("row", HANDED.strip().splitlines())
def test_names_are_known_where_all_that_hand_them_on_are(row: str) -> None:
    """Each program has to print names or to pass them on whole, and nothing may be put to them."""
    command, _, shown = row.rpartition(" |")
    doubts = doubts_of(command)
    if shown:
        assert any(shown.strip() in doubt for doubt in doubts)
    else:
        assert doubts == []
