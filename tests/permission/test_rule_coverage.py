"""What an allow rule covers of the commands that it matches, and what is told where it is less."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agentscope_like.permission.explain import explain_call
from agentscope_like.tool import Bash
from tests.permission.kit import context_of, decide, make_place, place

COVERED = r"""
npm test:* | npm test > f | output
npm test:* | npm test < f | input
npm test:* | npm test < /dev/null | allow
npm test:* | npm test <&- | allow
npm test:* | npm test < $x | input
npm test:* | X=1 npm test | variable
npm test:* | LANG=C npm test | allow
npm test:* | LANG=$x npm test | variable
npm test:* | LANG+=C npm test | variable
npm test:* | CI=1 npm test | allow
npm test:* | CI=$x npm test | variable
npm test:* | cd src; npm test | directory
npm test:* | cd src; npm test; cd .. | directory
npm test:* | cd .; npm test | allow
npm test:* | cd "$PWD/x/.."; npm test | allow
npm test:* | (cd src); npm test | allow
npm test:* | { npm test; } < f | input
npm test:* | exec < f; npm test | input
npm test:* | ls | npm test | input
npm test:* | npm test | head | allow
npm test:* | env -C src npm test | directory
npm test:* | npm test $x | run time
npm test:* | npm test "a$x" | run time
npm test:* | npm test "a/$x" | allow
npm test:* | npm test a=$x | run time
npm test:* | npm test --x; npm test a=b | `--x`
npm test:* | ls; x=1; npm test --x | `--x`
npm test:* | npm test x=1 | `x=1`
npm test:* | npm test @f | `@f`
npm test:* | npm test - | `-`
npm test:* | npm test -- --x | allow
npm test:* | npm test -- --script-shell | `--script-shell`
npm test:* | npm test --loglevel=x | allow
npm test:* | npm test --loglevel x=1 | allow
npm test:* | npm test --loglevel --x | `--x`
npm test:* | npm test --loglevel "$x" | allow
npm test:* | npm test --loglevel $x | run time
npm test:* | npm test -5 | allow
npm test:* | npm test -s5 | `-s5`
npm test:* | npm test -qs | allow
npm test:* | npm test -qsx | `-qsx`
npm test:* | for i in a b; do npm test $i; done | allow
npm test:* | for i in a -b; do npm test $i; done | run time
npm test:* | for i in a b=c; do npm test $i; done | run time
npm test x | npm test x | allow
npm test x | npm test x y | ask
tool -m * | tool -m x=1 | allow
tool -m * | tool -m -x | `-x`
tool -m * | tool -m @x | allow
tool * | tool x=1 | `x=1`
tool * | tool @x | `@x`
tool * | tool x | allow
tool * | tool --config | `--config`
tool a=* | tool a=b | allow
tool m * | tool m x=1 | `x=1`
tool * x=1 | tool -v x=1 | allow
tool * * | tool -f x=1 | `-f`
tool --config=* | tool --config=evil | allow
git commit -m *:* | git commit -m x=y a=b | `a=b`
git commit -m *:* | git commit -m x -q | allow
python3 -m pytest:* | python3 -m pytest -q | allow
python3 -m pytest:* | python3 -m pytest -p evil | `-p`
python3 -m pytest:* | python3 -m pytest -k x | allow
python3 -m pytest:* | python3 -q pytest | ask
python3:* | python3 -m pytest | `-m`
python3:* | python3 a.py x=y | `x=y`
python3:* | python3 a.py @x | `@x`
python3:* | python3 a.py --x | `--x`
python3 a.py:* | python3 a.py --config=x | `--config=x`
python3 a.py:* | python3 a.py --deep | `--deep`
git:* | git -c a=b push | `-c`
git:* | git push | allow
git:* | git push -q | allow
git:* | git commit -m x=y | allow
git:* | git commit -amx | `-amx`
git:* | git commit -sm x=y | allow
git:* | git commit -sm -x | `-x`
git:* | git commit --message x=y | allow
git -C src:* | git -C src push | allow
npm:* | npm install -g | `-g`
npm:* | npm install -D x | allow
npm:* | npm ci -D | `-D`
npm:* | npm x -D | `-D`
npm:* | npm -s ci | allow
npm:* | npm install x --save-dev | allow
tar:* | tar xf a | `xf`
tar:* | tar xzf a | `xzf`
tar:* | tar xfC a b | `xfC`
tar:* | tar -xf a | `-xf`
tar:* | tar vxf a --to-command=x | `vxf`
tar:* | tar cPf a x | `cPf`
tar cf a:* | tar cf a -C x | `-C`
find:* | find . -name x -delete | `-delete`
go test:* | go test -v ./... | allow
go test:* | go test -vx ./... | `-vx`
go test:* | go test -run X=1 | allow
go test:* | go test -exec x | `-exec`
mytool:* | mytool -vV | allow
mytool:* | mytool -vx | `-vx`
mytool:* | mytool -5 | allow
mytool:* | mytool --deep | allow
mytool:* | mytool --deep x=y | `x=y`
mytool:* | mytool --deep=x=y | allow
mytool:* | mytool --color x | allow
mytool:* | mytool --color x=y | allow
mytool:* | mytool --color=x | allow
mytool:* | mytool --dirs | allow
mytool:* | mytool --DIR | `--DIR`
mytool:* | mytool --myDir | `--myDir`
mytool:* | mytool --sh | `--sh`
mytool:* | mytool --pa | allow
mytool:* | mytool --pas | `--pas`
mytool:* | mytool --a-pas | `--a-pas`
mytool:* | mytool --fish | allow
mytool:* | mytool --testrc | `--testrc`
mytool:* | mytool -- --config | `--config`
mytool:* | mytool -- --deep | allow
mytool:* | mytool -- -x | `-x`
mytool:* | mytool -- -v | allow
mytool:* | mytool -- -xv | `-xv`
mytool:* | mytool -xv | `-xv`
mytool:* | mytool -- --no-pager | allow
mytool:* | mytool -- --color --colour --progress | allow
mytool:* | mytool -- --color=x --progress=x | allow
mytool:* | mytool /dev/stdinx | allow
mytool:* | mytool "-x/$y" | run time
mytool:* | mytool +x | `+x`
mytool:* | mytool a:=b | `a:=b`
mytool:* | mytool a+=b | `a+=b`
mytool:* | mytool a.b=c | `a.b=c`
mytool:* | mytool 1=c | allow
mytool:* | mytool /a=c | allow
mytool:* | mytool /dev/stdin | `/dev/stdin`
mytool:* | mytool /dev/fd/3 | `/dev/fd/3`
mytool:* | mytool "" | allow
mytool:* | mytool "x$x" | run time
mytool:* | mytool "$x" | run time
mytool:* | mytool "/$x" | allow
mytool:* | mytool "a=/$x" | run time
mytool:* | mytool "a/=$x" | allow
mytool:* | mytool $(date +%s) | allow
mytool:* | mytool $((1+x)) | allow
mytool:* | mytool $? | allow
mytool:* | mytool *.py | allow
mytool:* | mytool * | allow
mytool:* | mytool ./* | allow
mytool:* | cd "$x"; mytool * | run time
awk:* | awk 'BEGIN{system("x")}' f | `BEGIN{system("x")}`
awk 'BEGIN{system("x")}':* | awk 'BEGIN{system("x")}' f | allow
sed:* | sed -n s/a/b/e f | `s/a/b/e`
sed -n s/a/b/e:* | sed -n s/a/b/e f | allow
sed -n *:* | sed -n s/a/b/e f | allow
sed:* | sed s/a/b/w\ x f | `s/a/b/w x`
sed:* | sed -i s/a/b/ f | `-i`
sed:* | sed --in-place s/a/b/ f | `--in-place`
sed -i:* | sed -i s/a/b/ f | allow
sqlite3:* | sqlite3 f .shell | `.shell`
sqlite3:* | sqlite3 f 'select 1' | allow
tee:* | echo x | tee f | input
tee:* | date | tee f | input
tee f | echo x | tee f | input
timeout:* & npm test:* | timeout 5 npm test | allow
timeout:* & npm test:* | timeout 5 npm test --script-shell=x | `--script-shell=x`
timeout:* & npm test:* | timeout 5 npm test -q | allow
timeout:* & npm test:* | timeout -v 5 npm test | allow
timeout:* & npm test:* | timeout -s KILL 5 npm test | allow
timeout:* & make:* | timeout 5 make x=1 | `x=1`
timeout:* & mytool:* | timeout 5 mytool -x | `-x`
timeout:* & mytool:* | timeout 5 mytool -v | allow
timeout:* & mytool -x:* | timeout 5 mytool -x | allow
timeout 5 mytool -x & mytool -x | timeout 5 mytool -x | allow
nohup:* & mytool:* | nohup mytool -x | `-x`
env:* & mytool:* | env X=1 mytool | `X=1`
env:* & mytool:* | env CI=1 mytool | allow
env:* & mytool:* | env -i mytool | `-i`
nice:* & mytool:* | nice -n 5 mytool | allow
xargs:* & rm:* | echo a | xargs rm | input
xargs rm & rm:* | xargs rm | run time
python3 -m pytest:* | python3 -m pytest --x | `--x`
python3 -m:* | python3 -m pytest | allow
python3 -m:* | python3 -m pytest -p x | `-p`
python3 -m:* | python3 -m mytool --deep | allow
python3 -mpytest:* | python3 -mpytest -q | `-q`
python3 -q:* | python3 -q a.py | allow
find:* | find . -name x -ok rm {} + | ask
git rebase:* | git rebase main | allow
make:* | make -j4 | allow
make:* | make -j 4 x=1 | `x=1`
make:* | make -j x=1 | allow
make:* | make -kj4 | allow
make:* | make -kj | allow
make:* | make --silen x=1 | `--silen`
make:* | make --jobs= x=1 | `x=1`
make:* | make -kC x | `-kC`
make:* | make -Ck | `-Ck`
/usr/bin/make:* | make -k | allow
make:* | /usr/bin/make -k | allow
./make:* | ./make -k | `-k`
./make:* | ./make --fix | `--fix`
ruff check:* | ruff check --fix | allow
ruff format:* | ruff format --fix | `--fix`
cargo +nightly test:* | cargo +nightly test | allow
cargo test:* | cargo test -- --nocapture | allow
cargo test:* | cargo test -- --logfile | `--logfile`
pytest:* | pytest -k x=y | allow
pytest:* | pytest -xk x=y | allow
pytest:* | pytest -kx=y | allow
pytest:* | pytest -x=y | `-x=y`
pytest:* | pytest a --tb=short | allow
pytest:* | pytest a --tb short=x | allow
pytest:* | pytest --tb -k | allow
pytest a:* | pytest a -k x | allow
pytest -k:* | pytest -k x=y | allow
pytest -k x:* | pytest -k y | ask
chmod:* | chmod -R u+x d | allow
chmod:* | chmod u+x d | allow
chmod:* | chmod --reference=x d | `--reference=x`
docker run:* | docker run x | allow
docker run:* | docker run -v a:b x | `-v`
kubectl:* | kubectl apply -f x | `-f`
mkdir:* | mkdir -p x | allow
mkdir:* | mkdir -m 777 x | allow
mkdir:* | mkdir -vp x | allow
mkdir:* | mkdir --mode=777 x | allow
mkdir:* | mkdir --parents x | allow
install:* | install -D a b | allow
install:* | install -m 755 a b | allow
install:* | install -t d a | `-t`
rm:* | rm -rf d | allow
rm:* | rm -r --interactive=never d | `--interactive=never`
rm:* | rm --no-preserve-root d | allow
cp:* | cp -S .bak a b | `-S`
cp:* | cp -b a b | allow
cp:* | cp --backup=simple a b | `--backup=simple`
ln:* | ln -s a b | allow
touch:* | touch -d now a | allow
touch:* | touch -r a b | `-r`
touch:* | touch -t 1 a | allow
touch:* | touch -dnow a | allow
tee:* | tee -a f | allow
dd:* | dd if=a of=b | `if=a`
sort:* | sort -o a b | `-o`
sort:* | sort -k 2 a -o b | `-o`
mv:* | mv -t d a | `-t`
mv:* | mv -n a b | allow
npx eslint:* | npx eslint --fix | allow
npx:* | npx -y eslint | allow
npx -y eslint:* | npx -y eslint --fix | allow
uv run pytest:* | uv run pytest -q | allow
uv run pytest:* | uv run pytest -x | allow
uv run pytest:* | uv run pytest -p x | `-p`
npx eslint:* | npx eslint --max-warnings 0 | allow
docker exec c:* | docker exec c pytest -x | allow
docker exec c:* | docker exec c pytest -p x | `-p`
docker:* | docker --debug x | `--debug`
npm:* | npm fund -g a | allow
git branch:* | git branch -i a | allow
a:* | for i in /x=1 y; do a $i; done | allow
a:* | for i in y x=1; do a $i; done | run time
a b c d e:* | a b c d e --deep | allow
a:* | a "$x" | run time
a:* | a 'x y'=z | allow
a:* | a --x="$y" | run time
a:* | a -"$y" | run time
a:* | a -v "$y" | run time
a -v:* | a -v "x/$y" | allow
a:* | a "x y$z" | run time
a:* | a ~ | allow
a:* | a ~/x | allow
a:* | a {a,b} | allow
a:* | a {a,-b} | `-b`
a:* | a $(id -u) | allow
a:* | a "$(id -u)" | allow
a:* | a $(date) | run time
a:* | a "$(pwd)" | allow
a:* | a $PWD | allow
a:* | a "$HOME" | allow
a:* | a $# | allow
a:* | a "$@" | run time
a:* | a -- | allow
a:* | a -- "$x" | run time
a:* | a -- x=1 | `x=1`
a:* | a --config -v | `--config`
a --config *:* | a --config x -v | allow
a --config *:* | a --config -v | allow
a --config *:* | a --config=x | ask
a -* | a -x | `-x`
a -c *x=* | a -c x=y | allow
a b* | a b=c | `b=c`
a b=*c* | a b=c | allow
a *=c | a b=c | `b=c`
* x=1 | a x=1 | allow
*:* | a | allow
*:* | a -x | `-x`
"""
"""Rules, a command, and what becomes of it: it runs, or what no rule covers is told in such words.

Where only "ask" stands, no rule matches all parts.
"""


@pytest.mark.parametrize("row", COVERED.strip().splitlines())
def test_what_a_rule_does_not_cover_is_told(row: str) -> None:
    """A command runs if rules cover all of it; else a person learns what they do not cover."""
    before, _, expected = row.rpartition(" | ")
    rules, _, command = before.partition(" | ")
    context = context_of([f"allow Bash({rule})" for rule in rules.split(" & ")])
    bash = Bash(cwd=place().work, confine="off")
    found = asyncio.run(explain_call(bash, {"command": command}, context))
    assert (found.decision.behavior.value == "allow") is (expected == "allow")
    assert bool(found.uncovered_words) is (expected not in {"allow", "ask"})
    if found.uncovered_words:
        assert expected in found.uncovered_words


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("mytool *", True),
        ("mytool src/*", True),
        ("mytool */x", False),
        ("mytool *x", True),
        ("mytool ?x", False),
    ],
)
def test_a_glob_is_what_it_matches_now(tmp_path: Path, command: str, runs: bool) -> None:
    """A file like an option makes it one, and so may a directory that the glob does not show."""
    where = make_place(tmp_path, "src/x ax bx")
    if not runs:
        (where.work / "-x").touch()
    for rule in ("mytool:*", f"= {command}"):
        found = decide(command, where, rules=[f"allow Bash({rule})"])
        assert (found.behavior.value == "allow") is runs


LINES = """
echo x | tee f | allow
date | tee f | allow
npm test > f | allow
npm test > "$x" | ask
npm test > /tmp/f | ask
npm test $x | ask
npm test *.py | allow
npm test * | allow
npm test "$x"*.py | ask
npm test < f | allow
npm test < $x | ask
npm test <<< a | allow
npm test <<< $x | ask
ls | npm test | allow
ls | npm test | npm run x | ask
npm run x | npm test | ask
npm run x | tee f | allow
npm run x | tee $f | ask
npm run x | xargs rm | ask
npm run x | head | allow
cd src && npm test | allow
cd $x && npm test | ask
X=1 npm test | allow
X=$x npm test | ask
npm test ( | ask
for i in a b; do npm test $i; done | allow
for i in a $x; do npm test $i; done | ask
for i in a -b; do npm test $i; done | allow
npm test {a,b} | allow
> f | ask
npm test ~ | allow
npm test $(date) | ask
npm test "$(pwd)" | allow
npm test $((x)) | ask
exec < $x; npm test | ask
exec < f; npm test | allow
{ npm test; } < $x | ask
{ npm test; } < f | allow
npm run x | sed -i s/a/b/ f | allow
npm run x | python3 - | ask
npm run x | rm f | allow
npm run x | cp a b | allow
npm run x | mv a b | allow
npm run x | dd of=f | ask
npm run x | sort -o f | ask
npm run x | patch | ask
npm test x*.py | allow
x=1; npm test $x | allow
x=$(date); npm test $x | ask
"""
"""Command lines, and whether a rule for the whole line may let them run."""


@pytest.mark.parametrize("row", LINES.strip().splitlines())
def test_a_line_that_tells_all_that_it_does_may_have_a_rule(row: str) -> None:
    """What the text does not tell, a person has not seen who gave the rule for it."""
    line, _, expected = row.rpartition(" | ")
    assert decide(line, rules=[f"allow Bash(= {line})"]).behavior.value == expected
