"""Which commands only edit files inside the working directories, and why others are asked about."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentscope_like.paths import MAX_BELOW
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.tool import Bash
from tests.permission.shell.workspace import filled

ALLOW, ASK, DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY

_FILES = """
home/.ssh/id_rsa home/.bashrc elsewhere/x elsewhere/d/f
work/a work/b work/.env work/key.pem work/.git/config work/src/a.py work/src/sub/b.py work/d/f
work/repo/.git/config work/repo/f work/outer/inner/.svn/x work/hold/.envrc work/hold/f
work/over/src/sub/c work/.docker/notes work/deep/hold/.envrc work/linked/f work/way/y/f
work/build/o work/.bash work/lefthook work/[x]/f work/globs/one/Jenkinsfile work/v/site-packages/m
work/.config/gh/hosts.yml
"""
_FAR = "/".join(["a" * 63] * 70)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a project in which links lead elsewhere, to secrets and to plain files."""
    base = filled(tmp_path_factory.mktemp("edits"), _FILES)
    work = base / "work"
    for link, target in (
        ("out", base / "elsewhere"),
        ("env", ".env"),
        ("config", ".git/config"),
        ("torepo", "repo"),
        ("over/src/a.py", base / "elsewhere" / "x"),
        ("way/y/l", base / "elsewhere" / "x"),
        ("linked/key", base / "home" / ".ssh" / "id_rsa"),
        ("hop", "src"),
    ):
        (work / link).symlink_to(target)
    os.mkfifo(work / "pipe")
    for name in (".github", "big", "bigger/.git"):
        (work / name).mkdir(parents=True)
    for number in range(MAX_BELOW):
        (work / "big" / str(number)).touch()
        (work / "bigger" / str(number)).touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(base / "home"))
        yield work


async def decide(
    command: str, work: Path, *rules: str | None, mode: str = "accept_edits"
) -> PermissionDecision:
    """Return what the engine says of a command; `BASE` stands for what holds the project.

    The rules allow what they name, and None allows each command.
    """
    engine = PermissionEngine(PermissionContext(mode=PermissionMode(mode)))
    for text in rules:
        engine.add_rule(PermissionRule(tool_name="Bash", rule_content=text, behavior=ALLOW))
    text = command.replace("BASE", str(work.parent))
    return await engine.check_permission(Bash(cwd=work, confine="off"), {"command": text})


EDITS = """
mkdir q
mkdir -p q/r && touch q/r/s
touch q
rm a
rmdir d
mv a q
mv src q
cp a q
sed -i s/a/b/ a
ln a q
echo x | tee q
gsed -i s/a/b/ a
gcp a q
gmv a q
grm a
echo x > q
sort a > q
sed s/a/b/ a > q && mv q a
cat /etc/passwd; touch q
ls out/../x; touch q
rm .git2
cp .git/config q
cd src/..; touch q
cd src && touch ../q
mkdir -p src/../q
mkdir -p ../elsewhere/../work/q
mkdir -p BASE/elsewhere/../work/q
touch ../elsewhere/../work/q
touch ../x/../work/q
rm -r d
rm -r src d
rm -r torepo
rm -r big
rm repo/f
rmdir repo
mv repo q
mv hold q
cp a hold
cp a b
cp -r d repo
cp -r src q
cp -r d .
cp -r src/* build/
cp -r build linked
cp -r d over/src < src
cp --parents src/a.py build
cp -b -S .bak src/a.py build/o
sed -i.bak s/a/b/ src/a.py
mv src/sub over
ln -s a q
ln -sf a q
ln -s hold q
ln -s BASE/work/a q
ln -s a.py src/q
cd src/sub && ln -s ../../b q
cd src/sub && ln ../../a ../../q
cd src/sub && ln -s a ../../q
cd src/sub && cp -p ../../a ../../q
ln -s notes .docker/q
cp --preserve config.json .docker/q
mv --suffix=x config.json .docker/q
mv --strip-trailing-slashes a q
rm -f q; ln -s a q
mkdir q && ln -s a q/l
ln -s src q; cat q/a.py
ln -s a q; ls; ls q
ln -s a q 2> /dev/null; cat q
cp -s a q; cat q
mv linked q
mv out q
mv linked q && ls q
cat linked/f; mv linked q
cp -r linked q
cp a q && touch q
cp -a src q && touch q/f
mv src q && touch q/f
mv d/nothing q && touch q/f
mv a q && mv b a && mv q b
for f in src/*.py; do cp "$f" build/; done
echo x > src/n.py; cp -r src build
sed -i s/a/b/ src/*.py && cp src/*.py build/
mkdir -p d/n/m; cp d/f* build
cp src/*.py build/ && rm src/*.py
mkdir q; cp a* way
"""

MORE = r"""
# nothing | contains no command
dd if=a of=q | `dd` does more than edit files
sort -o q a | `sort` does more than edit files
chmod u+x a | `chmod` does more than edit files
make > q | `make`
touch "$x" | may be an option
touch -- "$x" | is only known at run time
cd out/..; touch q | `out/..` may lead to a different directory through a symlink
cd out/..; ls; touch q | `out/..` may lead to a different directory through a symlink
pushd out/..; touch q | `out/..` may lead to a different directory through a symlink
mkdir -p ../x/../work/q | `BASE/x` would be created on the way
mkdir -p BASE/x/../work/q | `BASE/x` would be created on the way
mkdir -p ../elsewhere/../x/../work/q | `BASE/x` would be created on the way
mkdir -p .vscode/../q | .vscode` would be created on the way
mkdir -p nn/../q | nn` would be created on the way
touch ../q | lies outside
touch out/q | lies outside
touch way/y/l | lies outside
cp ../elsewhere/x q | lies outside
touch .env | holds secrets
rm -r .github | is the place of
rm -r repo | holds the whole history
rm -r d repo | holds the whole history
rm -r outer | inner/.svn` holds the whole history
rm -r torepo/ | history
rm -r bigger | holds the whole history
touch /proc/*/*/*/*/* | reaches too many
touch FAR | characters long
cd x/../FAR; touch q | characters long
ln -s a q; touch FAR | characters long
mv key.pem q | `key.pem` would get a name that no rule protects
mv linked/key q; cat q | a name that no rule protects
mv env q | `env` would get a name that no rule protects
ln key.pem q | `key.pem` would get a name that no rule protects
ln -s .env q | .env
cp -l .env q | .env
ln .config/gh/hosts.yml q | would write a sensitive path
ln -s .config/gh q | would get a name that no rule protects
ln .git/config q | would write a sensitive path
ln config q | would write a sensitive path
cp -l .git/config q | would write a sensitive path
ln -s .git/config q | `.git/config` would get a name that no rule protects
ln -s BASE/work/.git/config q | `BASE/work/.git/config` would get a name that no rule protects
cp -s .git/config q | `.git/config` would get a name that no rule protects
cp -s .git/con* q | `.git/con*` would get a name that no rule protects
cp -r hold q | `hold` contains a sensitive path
cp -r deep q | `deep` contains a sensitive path
cp -r d hold q | `hold` contains a sensitive path
cp -r ho* q | `ho*` contains a sensitive path
gcp -r hold q | `hold` contains a sensitive path
cp -r hold/. . | contains a sensitive path
cp hold/.e* . | .envrc
mv hold/.e* . | .envrc
cp -b -S rc src/a.py .bash | .bashrc
sed -i.yml s/a/b/ lefthook | lefthook.yml
cp -r big q | reaches too many files to check each one
cp -r src over | `over/src` contains symlinks
gcp -r src over | `over/src` contains symlinks
cp -r d src over | `over/src` contains symlinks
cp -rT src over/src | `over/src` contains symlinks
cp -r src/. over/src | `over/src` contains symlinks
cp -r src/. d over/src | `over/src` contains symlinks
cp -r d/. big | reaches too many files to check each one
echo x > d/a.py; cp -r d/. over/src | `over/src` contains symlinks
mkdir q; touch q/l; mv q r; cp -rT r way/y | `way/y` contains symlinks
echo x > l; cp l* way/y/ | another command may create files that `cp` takes to `way/y/`
echo x > l; for f in l*; do cp "$f" way/y/; done | another command may create files
echo x > q; cp q* build/ | another command may create files
touch src/n.py && cp src/*.py build/ | another command may create files
sed -i.bak s/a/b/ a; cp a* build | another command may create files
cp a d/l; cp d/* way/y | another command may create files
mkdir d/q; cp -r d/* way | another command may create files
mv src q; cp -r q*/s* way | another command may create files
mkdir -p d/n/m; cp -r d/n* way | another command may create files
sed -i.bak s/a/b/ d/*; cp d/*.bak way | another command may create files
shopt -s globstar; touch d/l; cp d/** build | another command may create files
sed -i.pth s/a/b/ v/a; cp v/a.p* v/site-packages/ | another command may create files
echo x > v/a.pth; cp v/a* v/site-packages/ | another command may create files
ln -s src .github | is the place of
ln -s src d/.github | is the place of
cp -rs src .github | .github
cd src/sub && ln -s ../../a ../../q | the link to `../../a` leads outside
cd src/sub && ln --sym ../../a ../../q | the link to `../../a` leads outside
cd src/sub && cp -s ../../a ../../q | the link to `../../a` leads outside
cd src/sub && ln -s ../../[a] ../../q | leads outside
ln -s /etc q | lies outside
ln -s ../x q | lies outside
ln -s config .git/q | git
ln -s config.json .docker/q | `config.json` would get a name that no rule protects
ln -s share .local/q | `share` would get a name that no rule protects
ln -s applications .local/share/q | `applications` would get a name that no rule protects
"""

THROUGH_LINKS = """
ln -s src q; touch q/f
ln -s src q && echo x > q/f
ln a q; touch q
gln -s src q; touch q/f
ln -s src q; touch r
ln -s src q; rm r
ln -s src q; cp -r q/sub r; cat r/b.py
cp -s a q; touch q
cp -l a q; touch q
cp --link a q; touch q
cp --sym a q; touch q
cp -fl a q; touch q
touch q & ln -s a q
(touch q; ln -s a q)
if ls; then ln -s a q; fi; touch q
for i in 1 2; do touch q; ln -s a q; done
mv out q; touch q/x
mv out q; cat q/x
mv linked q; cat q/f
mv linked q && grep -r x q
mv linked q && cd q && grep -r x
mv linked q && cd q && ag x
gmv linked q; cat q/f
mkdir q; mv linked q; touch q/linked/f
mv pipe q; cat q
mv big q; cat q/1
mv way/* q; touch q/l
cp -r linked q; cat q/f
cp -r linked q; cat < q/f
cp -r linked q; for f in q/*; do cat "$f"; done
cp -r linked q; cat a
cp -r linked q; cp -r d q
cp -a linked q && cat q/f
cp -d hop q; cat q/a.py
cp -P hop q; touch q/x
cp --no-dereference hop q; touch q/x
gcp -r linked q; cat q/f
cat q/f & mv linked q
for i in 1 2; do cat q/f; mv linked q; done
"""


@pytest.mark.parametrize("command", EDITS.strip().splitlines())
async def test_an_edit_inside_the_working_directories_is_allowed(work: Path, command: str) -> None:
    """What is written, moved and removed in the project by plain editors is part of the work."""
    assert (await decide(command, work)).behavior is ALLOW
    assert (await decide(command, work, mode="dont_ask")).behavior is ALLOW
    assert (await decide(command, work, mode="default")).behavior is ASK


@pytest.mark.parametrize("row", MORE.strip().splitlines())
async def test_what_is_more_than_an_edit_is_asked_about(work: Path, row: str) -> None:
    """What leads outside, may be anything or touches what is sensitive needs a person's word."""
    command, _, said = row.replace("BASE", str(work.parent)).replace("FAR", _FAR).partition(" | ")
    decision = await decide(command, work)
    assert decision.behavior is ASK
    assert any(words in decision.message for words in said.split("|"))
    assert "``" not in decision.message
    assert (await decide(command, work, mode="dont_ask")).behavior is DENY


@pytest.mark.parametrize("command", THROUGH_LINKS.strip().splitlines())
async def test_a_command_that_puts_a_link_somewhere_does_no_more(work: Path, command: str) -> None:
    """What a new link leads to can be looked up only once it is there."""
    decision = await decide(command, work)
    assert decision.behavior is ASK
    assert "link could redirect " in decision.message
    assert (await decide(command, work, mode="dont_ask")).behavior is DENY


@pytest.mark.parametrize(
    ("redirects", "behavior"),
    [
        ("", ALLOW),
        ("> q", ALLOW),
        (">> q 2> d/q", ALLOW),
        ("2>&1", ALLOW),
        ("> /dev/null", ALLOW),
        ("> out/q", ASK),
        ("> q 2> /tmp/q", ASK),
        ("2> /tmp/q > q", ASK),
        ("> .envrc", ASK),
        ('> "$x"', ASK),
        ("> /dev/tcp/localhost/80", ASK),
        ("< /dev/tcp/localhost/80", ASK),
        ("< a", ASK),
        ("> q < /etc/hosts", ASK),
    ],
)
async def test_an_allow_rule_covers_output_that_stays_inside(
    work: Path, redirects: str, behavior: PermissionBehavior
) -> None:
    """Where edits run, output is judged by where it leads; input is never covered."""
    decision = await decide(f"make {redirects}", work, "make:*")
    assert decision.behavior is behavior


@pytest.mark.parametrize(
    ("redirects", "behavior"),
    [("> q", ASK), (">> q 2> d/q", ASK), ("2>&1", ALLOW), ("> /dev/null", ALLOW)],
)
async def test_an_allow_rule_covers_no_output_into_files_where_edits_ask(
    work: Path, redirects: str, behavior: PermissionBehavior
) -> None:
    """A file inside is written without a question only where the mode lets edits run."""
    decision = await decide(f"make {redirects}", work, "make:*", mode="default")
    assert decision.behavior is behavior


@pytest.mark.parametrize(
    ("command", "behavior"),
    [
        ("cp -r linked q; cat q/f", ASK),
        ("mv linked q; cat q/f", ASK),
        ("cp -r linked q; ls q", ALLOW),
        ("cp -r src q; cat q/a.py", ALLOW),
        ("ln -s src q; cat q/a.py", ALLOW),
        ("ln -s src q; touch q/a.py", ASK),
        ("ln -s .env q; cat q", ASK),
        ("install a q; cat q", ALLOW),
        ("install a q; touch q", ASK),
        ("install a q; touch q/r", ASK),
        ("install a q; touch */r", ASK),
        ("install a src/q; touch hop/q", ASK),
        ("install a d/q; cp -r build d", ASK),
        ("install a d/q; cp -r build q", ASK),
        ("install a d/build; cp -r build d", ASK),
        ("install a d/l; cp -r d q; touch q/l", ASK),
        ("install a q > r; touch q", ASK),
        ("install a q 2> r; touch q/r", ASK),
        ("install a q > r; touch d/r", ASK),
        ("install a q; touch r", ASK),
        ("install a q; cat r", ALLOW),
        ("chmod 600 a; touch a", ALLOW),
        ("touch q; install a q", ALLOW),
        ("touch q & install a q", ASK),
        ("install $x y; mv nothing q; touch q", ASK),
        ("install a y; mv nothing q; touch q", ASK),
        ("mv nothing q; touch q", ALLOW),
        ("install a FAR; touch q", ASK),
    ],
)
async def test_allow_rules_do_not_cover_what_is_reached_through_links(
    work: Path, command: str, behavior: PermissionBehavior
) -> None:
    """What a program of a rule puts somewhere may be a link, and may be copied on."""
    command = command.replace("FAR", _FAR)
    rules = ("install:*", "chmod:*", "ln:*", "cp:*", "mv:*")
    assert (await decide(command, work, *rules)).behavior is behavior


@pytest.mark.parametrize(
    ("command", "immune"),
    [
        ('cp a "$(git rev-parse --git-dir)/hooks/pre-commit"', True),
        ('cp a "$x/.git/hooks/pre-commit"', True),
        ('cp a "$x/.bashrc"', True),
        ("cp a ~root/.ssh/authorized_keys", True),
        ('cd "$x" && cp ../a .git/config', True),
        ('cp a "$x/src/data.json"', False),
        ('cp a "$(git rev-parse --show-toplevel)/b"', False),
        ('cd "$x" && cp ../a b.json', False),
    ],
)
async def test_a_sensitive_end_is_asked_about_whatever_the_start(
    work: Path, command: str, immune: bool
) -> None:
    """A path that ends as a sensitive one does is a safety question, which no rule spares."""
    decision = await decide(command, work, None, mode="default")
    assert decision.bypass_immune is immune
    assert decision.behavior is (ASK if immune else ALLOW)
