"""Credentials whose names a command does not show: what asks, and which neighbour runs.

Each case is a command line, decided in a small world with an `.env`, a key in the project, and a
home with keys; all of it through the tool, in DEFAULT mode and without rules.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
)
from agentscope_like.tool.builtin.bash.bash_tool import Bash

ASK, ALLOW, DENY = PermissionBehavior.ASK, PermissionBehavior.ALLOW, PermissionBehavior.DENY


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project beside a home, each with credentials; no symlink leads to one."""
    home, work = tmp_path / "home", tmp_path / "work"
    files = (
        *(work / name for name in (".env", "deploy.pem", "src/api/.env.local", "src/a.py", "a.py")),
        *(home / name for name in (".ssh/id_rsa", ".netrc", ".aws/credentials", "notes/a.txt")),
        *(work / name for name in ("names", "docs/x.md", "plain")),
    )
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    (work / ".git").mkdir()
    monkeypatch.setenv("HOME", str(home))
    return work


async def decide(
    command: str, work: Path, mode: PermissionMode = PermissionMode.DEFAULT
) -> PermissionDecision:
    """Return the decision about a command."""
    engine = PermissionEngine(PermissionContext(mode=mode))
    return await engine.check_permission(Bash(cwd=work, confine="off"), {"command": command})


def rows(text: str) -> list[tuple[str, bool]]:
    """Return each command with whether it asks: `ask COMMAND` or `run COMMAND`."""
    pairs = (line.partition(" ") for line in text.strip().splitlines() if line.strip())
    return [(command.strip(), word == "ask") for word, _, command in pairs]


PRINTED = r"""
ask cat $(date +.env)
ask cat $(date)
run cat $(git ls-files)
run cat $(ls)
run cat $(ls -la)
ask cat $(ls -l --time-style=+.env a.py)
run cat $(ls *.py 2>/dev/null || true)
run cat $(find src -name '*.py')
ask cat $(find src -printf '.env\n')
run cat $(fd x src)
ask cat $(fd --format .env x src)
run cat $(rg -l x src)
ask cat $(rg --files --path-separator x)
run cat $(grep -l x a.py)
ask cat $(grep -l --label=.env x)
ask cat $(grep -o '.e.*' names)
run cat $(git diff --name-only)
ask cat $(git diff)
ask cat $(git status)
run cat $(git status --short)
ask cat $(git log --name-only)
run cat $(git log --name-only --format=)
ask cat $(git log -1 --format=.env)
run git diff $(git merge-base main HEAD)
ask cat $(git for-each-ref)
ask cat $(cat names)
ask cat `cat names`
ask cat $(< names)
run wc -l $(cat names)
run head -1 $(which cat)
run cat $(type -P cat)
run cat $(basename src/a.py)
ask cat $(basename src/a.py .py)
ask cat $(basename .envX X)
run cat $(dirname src/a.py)/a.py
ask cat $(dirname .env/x)
ask cat $(echo .env)
run cat $(echo a.py)
ask cat $(echo '\056env')
ask cat $(printf '%c%s' . env)
ask cat $(printf '%s' .e nv)
run cat $(printf '%s\n' a.py plain)
ask cat $(printf '%s\n' a.py .env)
ask cat $(ls; cat names)
run cat $(ls; git ls-files)
ask cat $(if true; then cat names; fi)
run cat $(if true; then ls; fi)
ask cat $(for ((i=0;i<1;i++)); do cat names; done)
run cat $(for ((i=0;i<1;i++)); do ls; done)
ask f() { cat names; }; cat $(f)
run f() { ls; }; cat $(f)
ask f() { ls; }; for i in 1 2; do cat $(f); f() { cat names; }; done
run f() { cat names; }; for i in 1 2; do f() { ls; }; cat $(f); done
ask cat $(cat names)/README.md
run cat $(git rev-parse --show-toplevel)/README.md
ask cat $(git rev-parse --show-toplevel)/.env
"""

PIPED = r"""
run find . -type f | xargs cat
run find . -type f -exec cat {} +
run ls -A | head | xargs cat
run git ls-files -o | xargs cat
run grep -rl x . | sort -u | xargs cat
ask git ls-files -o '.e*' | xargs cat
ask git ls-files -oi --exclude='.e*' | xargs cat
run git ls-files '*.md' src/ | xargs cat
run find src | sort | uniq | head -3 | tac | shuf | xargs cat
run find src | sed 's|^\./||' | xargs cat
ask find src | sed 's/a/b/' | xargs cat
ask ls | sed 's/$/.py/' | xargs cat
run find src | sed -n 1,5p | xargs cat
run find src | grep py | xargs cat
run find src | grep -v test | xargs cat
ask find src | grep -o py | xargs cat
ask find src | grep "$x" | xargs cat
run git status --short | awk '{print $2}' | xargs cat
run git ls-files | awk '{print $1}' | xargs cat
run git ls-files | awk '!seen[$0]++' | xargs cat
ask git ls-files | awk '{print $1 $2}' | xargs cat
ask git ls-files | awk '{print ".env"}' | xargs cat
run du -a src | cut -f2 | xargs cat
ask git ls-files | cut -d. -f1 | xargs cat
ask git ls-files | cut -c2- | xargs cat
run git ls-files | tr '\n' '\0' | xargs -0 cat
run git ls-files | tr -d '\r' | xargs cat
ask git ls-files | tr a-z b-z | xargs cat
ask printf '.e\nnv' | tr -d '\n' | xargs cat
run grep -rn x . | cut -d: -f1 | xargs cat
ask ls | cut -d: -f1 | xargs cat
ask cat names | xargs cat
ask head -1 names | xargs cat
ask sort names - | xargs cat
ask xargs cat < names
ask xargs -a names cat
ask xargs cat < <(cat names)
run xargs cat < <(ls)
ask ls > >(cat names) | xargs cat
ask ls | cat names > >(xargs cat)
run ls > >(sort) | xargs ls
ask xargs cat
ask xargs cat <<< .env
run xargs cat <<< a.py
run git ls-files | xargs -d '\n' cat
ask git ls-files | xargs -dX cat
ask git ls-files | xargs -0d X cat
run git ls-files | xargs cut -d: -f1
ask git ls-files | xargs -E x cat
run ls | xargs env cat
run ls | xargs -I{} cat {}
run ls src | xargs -I{} cat src/{}
ask echo nv | xargs -I{} cat .e{}
ask ls ~/.aws | xargs -I{} cat ~/.aws/{}
run ls ~/notes | xargs -I{} cat ~/notes/{}
run ls | xargs -I F head -1 F
run ls | xargs -n1 basename | xargs cat
ask ls | xargs -I{} echo .e{} | xargs cat
ask ls | xargs cat | xargs cat
ask echo LmVudgo= | base64 -d | xargs cat
ask locate a.py | xargs cat
ask find ~ -type f | xargs cat
run find ~/notes -type f | xargs cat
ask echo ~/.s*/* | xargs cat
run echo ~/n*/* | xargs cat
ask echo .env | xargs cat
ask echo "a.py '.env'" | xargs cat
ask ls -A | grep .env | xargs cat
ask find . -name .env | xargs cat
ask find . -name '.e*' -exec cat {} +
ask find . -name 'deploy*' -exec cat {} +
run find . -name 'log*' -exec cat {} +
run find . -name 'a*' -exec cat {} +
run find . -name '*.json' | xargs cat
run find . -name '.e*' | xargs ls -l
run find . -name a.py -execdir cat a.py \;
ask find . -name a.py -execdir cat .env \;
ask echo /inet/tcp/0/host/80 | xargs awk 1
ask echo a.py | xargs awk 1
run ls | xargs awk 1
"""

VARIABLES = r"""
ask cat "$x"
ask cat $x
ask cat < "$x"
run ls "$x"
run wc -l "$x"
run cat "$x/README.md"
run cat $x/src/a.py
ask cat "$x/.env"
ask cat "$x/a/id_rsa"
ask cat "$x/credentials.json"
ask cat "$x"/*
run cat "$x"/*.py
ask cat "$x$y"
ask cat "$x/$y"
ask cat src/$x
ask cat .e$x
ask cat ${x}nv
run cat "$x.py"
ask cat "${x:-a.py}"
ask cat ${x:-.e*}
ask cat "$1"
run cat "$PWD/a.py"
run cat "a$$"
run for i in $(seq 3); do cat src/f$i.py; done
run for i in 1 2; do cat part[$i].txt; done
run i=a-z; cat src/["$i"].py
ask i=n; cat .e[$i]v
ask for i in a-z 1; do cat .e[$i]v; done
ask i='n .env'; cat x[$i]
ask cat part[$i].txt
run for f in *.py; do cat "$f"; done
run for f in $(git ls-files); do cat "$f"; done
ask for f in $(cat names); do cat "$f"; done
run x=$(ls | head -1); cat "$x"
ask x=$(cat names); cat "$x"
run for d in $(ls); do cat "$d/README.md"; done
run for f in $(git ls-files); do cat "$(dirname "$f")/README.md"; done
ask ls | while read f; do cat "$x/$f"; done
run git ls-files | while read -r f; do cat "$f"; done
run git ls-files -z | while IFS= read -r -d '' f; do cat "$f"; done
ask git ls-files | while read -d X f; do cat "$f"; done
ask git ls-files | while read -n 4 f; do cat "$f"; done
ask git ls-files | while read -u 3 f; do cat "$f"; done 3< names
ask git ls-files | while IFS=: read a b; do cat "$b"; done
ask git ls-files | while IFS=$x read a b; do cat "$b"; done
ask while read f; do cat "$f"; done < names
ask cat names | while read f; do cat "$f"; done
ask read f <<< .env; cat "$f"
run mapfile -t a < <(git ls-files); cat "${a[@]}"
ask mapfile -t a < names; cat "${a[@]}"
run git ls-files | while read f; do cat "${f##*/}"; done
ask git ls-files | while read f; do cat "${f%X}"; done
ask git ls-files | while read f; do cat "${f/a/b}"; done
run git ls-files | while read f; do cat "${f%.py}.txt"; done
ask if true; then x=.env; fi; cat "$x"
ask f() { x=.env; }; f; cat "$x"
ask false && x=$(ls); cat "$x"
ask cat "$x"; x=$(ls)
ask (x=$(ls)); cat "$x"
ask x=$(ls) & cat "$x"
run true && x=$(ls) && cat "$x"
run x=$(ls) || cat "$x"
ask : "${x:=a.py}"; cat "$x"
ask x=a.py; : "${x:=plain}"; cat "$x"
run x=a.py; : "${x:-plain}"; cat "$x"
ask x+=nv; cat "$x"
ask x=.e; x+=nv; cat "$x"
run x=a; x+=.py; cat "$x"
ask x=.e; x+=$(ls | head -c 2); cat "$x"
ask x=a.py; while true; do x=$(cat names); break; x=a.py; done; cat "$x"
ask x=a.py; f() { x=.env; }; f; cat "$x"
ask x="q b"; cat ${x/q/.env}
run x="a.py b"; cat $x
ask x=a.py; : "${x:=.env}"; cat "$x"
run ls && x=$(ls) && cat "$x" || cat a.py
ask false && x=$(ls) || cat "$x"
ask true || x=$(ls) && cat "$x"
ask true || x=$(ls) && ls && cat "$x"
ask x=$(ls); unset x; cat "$x"
ask f() { cat "$1"; }; f $(ls)
run f() { cat "$1"; }; f a.py
ask f() { cat "$1"; }; f $(cat names)
ask f() { cat "$1"; }; f .env
run set -- $(ls); cat "$1"
ask set -- $(cat names); shift; cat "$1"
ask if ls; then set -- $(ls); else set -- $(cat names); fi; cat "$1"
run if ls; then set -- $(ls); else set -- a.py; fi; cat "$1"
ask set -- $(cat names); cat "$1"
run find . -type f -exec sh -c 'cat "$1"' _ {} \;
run find . -type f -exec sh -c 'for f; do cat "$f"; done' _ {} +
ask find . -type f -exec sh -c 'cat "$x"' _ {} \;
ask find . -type f -exec sh -c 'cat "$1nv"' _ {} \;
run find src | xargs sh -c 'cat "$@"' _
ask xargs sh -c 'cat "$@"' _ < names
ask bash -c 'cat "$0"' .env
run bash -c 'cat "$0"' a.py
ask bash -c 'cat $(cat names)'
run ls | bash -c 'xargs cat'
ask cat $(bash -c 'cat' < names; ls | bash -c 'cat')
ask cat $(ls | bash -c 'cat'; bash -c 'cat' < names)
run cat $(ls | bash -c 'cat'; ls src | bash -c 'cat')
ask ls | { exec < names; xargs cat; }
ask ls | while read f; do cat "$f"; exec 0< names; done
ask { exec < names; xargs cat; } < <(ls)
ask ls | bash -c 'exec < names; xargs cat'
ask ls | { eval 'exec < names'; xargs cat; }
run ls | { xargs cat; }
run { xargs cat; } < <(ls)
ask bash -c 'cat() { ls; }'; x=$(cat names); cat "$x"
ask cat names | bash -c 'xargs cat'
run cd "$x"; cat private/x
ask cd "$x"; cat .env
ask cd "$x"; cat *
run cd "$x"; wc -l *
run ls | awk 1 | head -2 | xargs cat
run cd -P src; cat a.py
ask cd -P ~/.aws; cat credentials
ask cd src/api; echo .env.local | xargs cat
ask cat $(cat $(ls))
ask x=$y; y=$x; cat "$x"
"""

ALLOWED_ON_PURPOSE = r"""
run grep -r . .
run rg -uuu .
run rg --hidden x
ask rg x -g .env
ask rg x -g '*.pem'
ask rg x -g 'deploy*'
run rg x -g 'src/**'
run rg x -g '!.env'
run rg x -g '*.py'
ask grep -r x --include='.e*' .
run grep -r x --include='*.py' .
ask grep -r x ~
ask git show HEAD:.env
run git show HEAD:a.py
ask git grep x -- '.e*'
run git grep x -- '*.py'
ask cat .e*
run cat *.py
"""


@pytest.mark.parametrize(
    ("command", "asks"),
    [*rows(PRINTED), *rows(PIPED), *rows(VARIABLES), *rows(ALLOWED_ON_PURPOSE)],
)
async def test_names_that_a_command_does_not_show(command: str, asks: bool, work: Path) -> None:
    """A name passes that is known, or that only known programs print and pass on; others ask."""
    decision = await decide(command, work)
    assert decision.behavior is (ASK if asks else ALLOW), decision.message


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ('cat "$x"', "`$x` is only known at run time, so it cannot be checked for secrets."),
        ("xargs cat < names", "`cat` shows the files listed in `names`; one of them may be secret"),
        ("cat $(date)", "`cat` shows the files that `date` names; one of them may be secret"),
        ("cat $(git log)", "`cat` shows the files that `git log` names; one of them may be secret"),
    ],
)
async def test_a_person_is_told_which_name_is_not_known(
    command: str, message: str, work: Path
) -> None:
    """The message names the variable, the file or the program that the name comes from."""
    assert message in (await decide(command, work)).message


@pytest.mark.parametrize("command", ['cat "$x"', "cat $(date +.env)", "xargs cat < names"])
async def test_a_name_that_is_not_known_is_no_read(command: str, work: Path) -> None:
    """Nothing is proven of it, so EXPLORE denies it; a listed name runs there too."""
    assert (await decide(command, work, PermissionMode.EXPLORE)).behavior is DENY
    assert (await decide("cat $(ls)", work, PermissionMode.EXPLORE)).behavior is ALLOW


@pytest.mark.parametrize(
    ("command", "asks"),
    [
        ("cat hard", True),
        ("cat h*", True),
        ("head -1 < hard", True),
        ("echo hard | xargs cat", True),
        ("ls -l hard", False),
        ("cat twin", False),
        ("cat key", True),
    ],
)
async def test_a_hard_link_to_a_credential_is_one(command: str, asks: bool, work: Path) -> None:
    """A file is a credential where one of its names is, in the project or the home; else not."""
    os.link(work / "src" / "api" / ".env.local", work / "hard")
    os.link(work / "plain", work / "twin")
    os.link(work.parent / "home" / ".ssh" / "id_rsa", work / "key")
    assert (await decide(command, work)).behavior is (ASK if asks else ALLOW)


@pytest.mark.parametrize(
    ("command", "asks"),
    [
        ("cat link", True),
        ("echo link | xargs cat", True),
        ("grep -R x d", True),
        ("rg -L x d", True),
        ("diff -r d docs", True),
        ("diff -r --no-dereference d docs", False),
        ("grep -r x d", False),
        ("grep -R x docs", False),
        ("find d | xargs cat", True),
        ("find -L d -type f | xargs cat", True),
        ("find d -type f | xargs cat", False),
        ("find d ! -type f | xargs cat", True),
        ("find d -type f -o -name x | xargs cat", True),
        ("find d -name x -prune -o -type f -print | xargs cat", True),
        (r"find d \( -type f -o -type l \) | xargs cat", True),
        (r"find d \( -name x -exec cat {} + \) -type f", True),
        ("find d -exec cat {} + -type f", True),
        ("cd d && ls | xargs cat", True),
        ("find docs | xargs cat", False),
    ],
)
async def test_links_below_a_directory_lead_to_credentials(
    command: str, asks: bool, work: Path
) -> None:
    """Where the symlinks below a directory are opened, what they lead to counts."""
    (work / "link").symlink_to(".env")
    (work / "d").mkdir()
    (work / "d" / "key").symlink_to(work.parent / "home" / ".netrc")
    assert (await decide(command, work)).behavior is (ASK if asks else ALLOW)


@pytest.mark.parametrize(
    ("command", "safety"),
    [
        ("find ~ | sed s/a/b/ | xargs cat", True),
        ("find $x | xargs cat", True),
        ("find src | sed s/a/b/ | xargs cat", False),
        ('echo x > "$d/.bashrc"', True),
        ('cp a.py "$d/.git/hooks/pre-commit"', True),
        ('echo x > "$d/notes.txt"', False),
    ],
)
async def test_a_known_place_is_a_safety_question(command: str, safety: bool, work: Path) -> None:
    """No rule or mode silences it where a credential's place, or a sensitive end, is known."""
    decision = await decide(command, work)
    assert (decision.behavior, decision.bypass_immune) == (ASK, safety)


def test_commands_are_of_either_kind() -> None:
    """Each table has commands that ask and commands that run, each once."""
    for table in (PRINTED, PIPED, VARIABLES, ALLOWED_ON_PURPOSE):
        found = rows(table)
        assert {asks for _, asks in found} == {True, False}
        assert len(dict(found)) == len(found)
