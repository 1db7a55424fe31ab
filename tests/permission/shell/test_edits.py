"""Which commands are edits inside the working directories, and why others are more."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from agentscope_like.paths.look_budget import MAX_BELOW, Effort
from agentscope_like.permission.command.edits import redirects_stay_inside, why_not_an_edit
from agentscope_like.shell import CommandAnalysis, analyze
from agentscope_like.shell.analysis import Doubt
from agentscope_like.shell.surroundings import Surroundings
from agentscope_like.shell.syntax.tree import Span
from tests.permission.shell.workspace import filled

_FILES = """
home/.ssh/id_rsa home/.bashrc elsewhere/x
work/a work/b work/.env work/key.pem work/.git/config work/src/a.py work/src/sub/b.py work/d/f
work/repo/.git/config work/repo/f work/outer/inner/.svn/x work/hold/.envrc work/hold/f
work/over/src/sub/c work/kept/src/sub/c work/.docker/notes work/deep/hold/.envrc
"""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory that holds a home, a workspace with links in it, and what is elsewhere."""
    base = filled(tmp_path_factory.mktemp("edits"), _FILES)
    work = base / "work"
    (work / "out").symlink_to(base / "elsewhere")
    (work / "way").symlink_to("src/sub")
    (work / "env").symlink_to(".env")
    (work / "torepo").symlink_to("repo")
    (work / "over" / "src" / "a.py").symlink_to(base / "elsewhere" / "x")
    (work / "kept" / "src" / "a.py").symlink_to("../../a")
    (work / "gl").symlink_to(".github")
    for name in (".github", "big", "bigger/.git"):
        (work / name).mkdir(parents=True)
    for number in range(MAX_BELOW):
        (work / "big" / str(number)).touch()
        (work / "bigger" / str(number)).touch()
    return base


def around(base: Path) -> Surroundings:
    """Return what surrounds a command of the workspace."""
    work = str(base / "work")
    return Surroundings(directory=work, working=(work,), root=work, home=str(base / "home"))


def read(command: str, base: Path) -> CommandAnalysis:
    """Return how a command of the workspace reads; `BASE` stands for what holds it all."""
    text = command.replace("BASE", str(base))
    return analyze(text, directory=str(base / "work"), home=str(base / "home"))


def why_not(command: str, base: Path) -> str:
    """Return why a command of the workspace is no edit; empty where it is one."""
    return why_not_an_edit(read(command, base), around(base)) or ""


EDITS = """
mkdir q
touch q
rm a
rmdir d
mv a q
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
cat /etc/passwd; touch q
ls out/../x; touch q
touch key.pem
mv a key.pem
rm .git2
cp .git/config q
cd src/..; touch q
cd src && touch ../q
mkdir -p nn/../q
mkdir -p src/../q
mkdir -p ../elsewhere/../work/q
mkdir -p BASE/elsewhere/../work/q
mkdir -p /..BASE/elsewhere/../work/q
mkdir -p .git/../q
touch ../elsewhere/../work/q
rm -r d
rm -r src d
rm -r torepo
rm -r big
rm repo/f
rmdir repo
mv repo q
cp -r d repo
cp -r src q
mv hold q
ln -s hold q
cp a hold
cp a b
cp -r src kept
mv src/sub over
ln -s a q
ln -sf a q
ln -sfn src gl
touch ../x/../work/q
cp -r d over/src < src
cd src/sub && ln -s ../../b q
echo x > d/n; cp -r d over/src
ln -s BASE/work/a q
ln -s a.py src/q
ln -s notes .docker/q
ln fish_history .local/share/fish/q
cp -T fish_history .local/share/fish/s
cp --preserve fish_history .local/share/fish/q
mv --suffix=x fish_history .local/share/fish/q
cd src/sub && ln ../../a ../../q
cd src/sub && ln -s a ../../q
cd src/sub && ln -s sub/../b.py ../../q
cd src/sub && cp ../../a ../../q
cd src/sub && cp -p ../../a ../../q
cd src/sub && cp -- ../../a ../../s
cd src/sub && cp --preserve ../../a ../../q
mv --strip-trailing-slashes a q
"""

MORE = r"""
ls ' | quote
touch a; $(< | not understood
# nothing | there is no command in it
dd if=a of=q | `dd` is no plain edit of files
sort -o q a | `sort` is no plain edit of files
chmod u+x a | `chmod` is no plain edit of files
make > q | `make`
npm i | `npm i`
touch "$x" | may be an option
touch -- "$x" | is not known before it runs
cd out/..; touch q | `out/..` may lead to another directory, through a symlink
cd out/..; ls; touch q | `out/..` may lead to another directory, through a symlink
pushd out/..; touch q | `out/..` may lead to another directory, through a symlink
mkdir -p ../x/../work/q | `BASE/x` lies outside
mkdir -p BASE/x/../work/q | `BASE/x` lies outside
mkdir -p /..BASE/x/../work/q | `BASE/x` lies outside
mkdir -p ../elsewhere/../x/../work/q | `BASE/x` lies outside
mkdir -p .vscode/../q | can make an editor run programs
touch /tmp/q | `/tmp/q` lies outside
touch out/q | lies outside
touch .env | holds secrets
rm -r .github | would be the place|is the place of
rm -r repo | `~/../work/repo/.git` holds the whole history|repo/.git` holds the whole history
rm -r d repo | holds the whole history
rm -r outer | inner/.svn` holds the whole history
rm -r torepo/ | history
touch /proc/*/*/*/*/* | reaches too many paths to look at each
mv key.pem q | `key.pem` would get another name
mv env q | `env` would get another name
cp key.pem q | `key.pem` would get another name
ln key.pem q | `key.pem` would get another name
ln .git/config q | `.git/config` would get another name
cp -l .git/config q | `.git/config` would get another name
cp -r .docker/. q | `.docker/.` would get another name
cp -r hold q | `hold` holds something sensitive
cp -r deep q | `deep` holds something sensitive
cp -r d hold q | `hold` holds something sensitive
gcp -r hold q | `hold` holds something sensitive
cp -r big q | `big` holds too many files to look at each
cp -r src over | leads outside the working directories
gcp -r src over | leads outside the working directories
cp -r d src over | leads outside the working directories
echo x > d/a.py; cp -r d/. over/src | leads outside the working directories
rm -r bigger | bigger/.git` holds the whole history
ln -s src .github | the link would stand for something sensitive
ln -s src d/.github | the link would stand for something sensitive
cd src/sub && ln -s ../../a ../../q | the link to `../../a` leads outside
cd src/sub && ln -fs ../../a ../../q | the link to `../../a` leads outside
cd src/sub && ln -sf ../../a ../../q | the link to `../../a` leads outside
cd src/sub && ln --symbolic ../../a ../../q | the link to `../../a` leads outside
cd src/sub && ln --sym ../../a ../../q | the link to `../../a` leads outside
cd src/sub && ln -s -- ../../a ../../q | the link to `../../a` leads outside
cd src/sub && ln -s '../../a' ../../q | the link to `../../a` leads outside
cd src/sub && x=../../a && ln -s $x ../../q | leads outside
cd src/sub && cp -s ../../a ../../q | the link to `../../a` leads outside
cd src/sub && ln -s ../../[a] ../../q | leads outside
ln -s config .git/q | git
ln -s config.json .docker/q | leads to something sensitive
ln -s share .local/q | leads to something sensitive
ln -s fish_history .local/share/fish/q | leads to something sensitive
ln -s fish .local/share/q | leads to something sensitive
cp --sparse=always fish_history .local/share/fish/q | leads to something sensitive
ln -s /etc q | lies outside
ln -s ../x q | lies outside
"""


@pytest.mark.parametrize("command", EDITS.strip().splitlines())
def test_an_edit_inside_is_no_more_than_that(base: Path, command: str) -> None:
    """What is written, moved and removed in the workspace by plain editors is part of the work."""
    assert why_not(command, base) == ""


@pytest.mark.parametrize("row", MORE.strip().splitlines())
def test_what_is_more_than_an_edit_says_why(base: Path, row: str) -> None:
    """What leads outside, may be anything or touches what is sensitive needs a person's word."""
    command, _, said = row.replace("BASE", str(base)).partition(" | ")
    found = why_not(command, base)
    assert found
    assert any(words in found for words in said.split("|"))


@pytest.mark.parametrize(
    ("command", "inside"),
    [
        ("make", True),
        ("make > q", True),
        ("make >> q 2> d/q", True),
        ("make > q < /etc/hosts", True),
        ("make < a", True),
        ("make 2>&1", True),
        ("make > /dev/null", True),
        ("make > out/q", False),
        ("make > q 2> /tmp/q", False),
        ("make 2> /tmp/q > q", False),
        ("make > .envrc", False),
        ('make > "$x"', False),
        ("make > /dev/tcp/localhost/80", False),
        ("make < /dev/tcp/localhost/80", False),
    ],
)
def test_what_redirections_write_lies_inside(base: Path, command: str, inside: bool) -> None:
    """Whatever the program does, a redirection is judged by where it leads."""
    assert redirects_stay_inside(read(command, base).parts[0], around(base)) is inside


def test_a_redirection_that_nobody_understands_does_not_stay_inside(base: Path) -> None:
    """One that is doubted has to be known to write something inside."""
    part = read("make > q", base).parts[0]
    assert redirects_stay_inside(part, around(base))
    assert not redirects_stay_inside(replace(part, effects=()), around(base))
    unlike = replace(part, doubts=(*part.doubts, Doubt("is doubted", Span(0, 4))))
    assert redirects_stay_inside(unlike, around(base))


def test_what_could_not_be_read_is_no_edit(base: Path) -> None:
    """The first doubt about the whole command is told of; there is always something to tell."""
    edit = read("touch q", base)
    assert why_not_an_edit(edit, around(base)) is None
    doubts = (Doubt("one", Span(0, 1)), Doubt("two", Span(0, 1)))
    assert why_not_an_edit(replace(edit, doubts=doubts), around(base)) == "one"
    unread = CommandAnalysis("x", "/", None)
    assert why_not_an_edit(unread, around(base)) == "it could not be read"
    assert why_not_an_edit(replace(unread, doubts=doubts), around(base)) == "one"


def test_a_part_of_which_nothing_is_known_is_no_edit(base: Path) -> None:
    """What changes has to be known, and a doubt about anything else counts."""
    edit = read("touch q", base)
    (part,) = edit.parts
    nothing = replace(edit, parts=(replace(part, effects=()),))
    assert why_not_an_edit(nothing, around(base)) == "nothing in it is known to be an edit"
    more = (*part.doubts, Doubt("an option", Span(0, 5)))
    doubted = replace(edit, parts=(replace(part, doubts=more),))
    assert why_not_an_edit(doubted, around(base)) == "an option"


_FAR = "/".join(["a" * 63] * 70)


def test_what_cannot_be_looked_at_is_no_edit(base: Path) -> None:
    """A path that is too long, and more paths than are looked at, are told of."""
    assert "characters long" in why_not(f"touch {_FAR}", base)
    assert "characters long" in why_not(f"cd x/../{_FAR}; touch q", base)
    assert "characters long" in why_not(f"cd x/../{_FAR}; ls", base)
    edit = read("touch q d/q", base)
    short = replace(around(base), effort=Effort(60))
    assert why_not_an_edit(edit, short) == "`q` reaches too many paths to look at each"
    copy = read("cp a q", base)
    found = {
        why_not_an_edit(copy, replace(around(base), effort=Effort(effort)))
        for effort in range(40, 200)
    }
    assert found == {
        None,
        "`a` reaches too many paths to look at each",
        "`q` reaches too many paths to look at each",
        "`q/a` reaches too many paths to look at each",
        "it reaches too many files to look at each",
    }
