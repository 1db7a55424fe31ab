"""Secrets in directories that nobody knows before the command runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.permission.command.safety_checks import find_danger
from agentscope_like.shell import analyze
from agentscope_like.shell.secrets.endings import may_be_secret, may_hold_secrets
from agentscope_like.shell.surroundings import Surroundings

_PROJECT, _HOME = "/work/project", "/home/u"

SHOWN = r"""
cd -P ~/.aws; cat credentials
cd -P ~/.docker && cat config.json
cd -P ~/.kube; cat config
cd -P ~/.config; cat gh/hosts.yml
cd -P ~; cat .n*
cd -P /etc && head -c 20 shadow
cd ~/.aws; cd /; cd -; cat credentials
cd "$(dirname ~/.aws/x)" && cat credentials
cd "$(git rev-parse --git-dir)/.."; cat .e*
cd ~/.aws; cd /; cat ~-/credentials
cd /proc/$$; cat environ
cd /proc && for p in [0-9]*; do cat $p/environ; done
bash -c 'cd $0; cat credentials' ~/.aws
find ~/.docker -execdir cat config.json \;
find ~ -name config -execdir cat config \;
for d in ~/.a*; do cat $d/credentials; done
cat ~root/.net*
cat ~root/.ss*/id*
cat ~root/.azure/tok
cat ~0/credentials
cat "${FOO:-$HOME}"/.net*
cat "$(git rev-parse --show-toplevel)"/.e?v
cat ${PWD/project/.aws}/credentials
d=~/.aws/x; cat ${d%/*}/credentials
f() { cat $1/credentials; }; f ~/.aws
read d <<< ~/.aws; cat $d/credentials
xargs -I{} cat {}/credentials <<< ~/.aws
cat ~/.a${x}ws/credentials
cat ~/.doc$(true)ker/config.json
cat ~/.net${x}rc
cd -P ~; grep -r . .
cd -P ~; rg --hidden .
cd -P ~; find . -type f -exec cat {} +
cd -P ~; ls -A | xargs cat
cd -P ~/.ssh; grep -r .
cd ~/.s*h && rg S
cd "$x"; cat *
find ~root -type f -exec cat {} +
find $x -type f | xargs cat
find ~/.ssh -execdir grep -r . \;
""".strip().splitlines()

QUIET = r"""
cd -P src; cat main.py
cd "$x"; cat README.md package.json
cd "$x" && ls -la && git status
cd "$x"; cat *.py
cd "$x"; grep -n foo main.py
cd - && head -3 setup.cfg
find . -name package.json -execdir cat package.json \;
cat "$x"/src/*.ts
cat "$x/package.json"
cat ~bob/notes.txt
ls -la ~root
find "$x/src" -type f -exec cat {} +
for d in */; do cat "$d/README.md"; done
for d in */; do grep -rn foo "$d"; done
find . -name src -type d | xargs grep -rn foo
wc -l "$x"/*
cd "$x"; wc -l *
rg foo src/
""".strip().splitlines()


def _finds_danger(command: str) -> bool:
    analysis = analyze(command, directory=_PROJECT, home=_HOME)
    around = Surroundings(directory=_PROJECT, working=(), root=_PROJECT, home=_HOME)
    return find_danger(analysis, around) is not None


@pytest.mark.parametrize("command", SHOWN)
def test_what_may_be_a_secret_in_an_unknown_place_is_asked_about(command: str) -> None:
    """A name that is a secret's in some directory asks where the directory is not known."""
    assert _finds_danger(command)


@pytest.mark.parametrize("command", QUIET)
def test_other_names_in_an_unknown_place_are_quiet(command: str) -> None:
    """A name that is no secret's anywhere needs no question, nor does listing."""
    assert not _finds_danger(command)


SECRET = [
    "/.env",
    "/.e?v",
    "/credentials",
    "ws/credentials",
    "/gh/hosts.yml",
]
SECRET += [
    "/etc/shadow",
    "/shadow-",
    "/x.pem",
    "/*.pem",
    "/.SSH/id_rsa",
    "/a/.ssh/x/y",
    "/.a*/cred*",
]
HARMLESS = [
    "/README.md",
    "/*.py",
    "/public.pem",
    "/.env.example",
    "/.ssh/known_hosts",
    "/private/x",
]
HARMLESS += ["/*", "", "/", "/x/etc/passwd", "/[.]env", "rc", "/tok"]


@pytest.mark.parametrize("ending", SECRET)
def test_an_end_that_a_secret_has_is_told(ending: str) -> None:
    """What a path ends with is compared with all that is sensitive to read."""
    assert may_be_secret(ending) is not None


@pytest.mark.parametrize("ending", HARMLESS)
def test_an_end_that_no_secret_has_is_none(ending: str) -> None:
    """An end that fits nothing of the table, or only what it leaves alone, is harmless."""
    assert may_be_secret(ending) is None


@pytest.mark.parametrize(
    "ending", ["", "/", "/..", "/x/..", "/.aws", "/.config", "/etc", "/u", "/.*"]
)
def test_a_place_of_secrets_is_told_by_its_end(ending: str) -> None:
    """A directory that may be one in which secrets have their place is known by its end."""
    assert may_hold_secrets(ending, _HOME)


@pytest.mark.parametrize("ending", ["/src", "/node_modules", "/a/b", "/*.d"])
def test_another_place_is_told_by_its_end(ending: str) -> None:
    """A directory of another name is not the place of secrets."""
    assert not may_hold_secrets(ending, _HOME)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a directory beside a home with a secret, and a symlink in it that leads there."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".netrc").write_text("secret")
    directory = tmp_path / "project"
    directory.mkdir()
    (directory / "link").symlink_to(tmp_path / "home" / ".netrc")
    return directory


def _asks_in(project: Path, command: str) -> bool:
    home = str(project.parent / "home")
    analysis = analyze(command, directory=str(project), home=home)
    around = Surroundings(directory=str(project), working=(), root=str(project), home=home)
    return find_danger(analysis, around) is not None


@pytest.mark.parametrize(
    ("command", "asks"),
    [
        ("find . -type f -exec cat {} +", False),
        ("find . -exec cat {} +", True),
        ("find . ! -type f -exec cat {} +", True),
        ("find . -not -type f -print0 | xargs -0 cat", True),
        (r"find . \( -type f -o -type l \) -exec cat {} +", True),
        (r"find . -type f \( -name a -o -name b \) -exec cat {} +", True),
        ("find . -name x -prune -o -type f -print | xargs cat", False),
    ],
)
def test_find_opens_symlinks_unless_it_lists_files_alone(
    command: str, asks: bool, project: Path
) -> None:
    """A symlink to a secret is shown by what `find` is told to run, except for `-type f` alone."""
    assert _asks_in(project, command) is asks


@pytest.mark.parametrize(
    ("command", "asks"),
    [
        ("find ~ -name '*.py' -exec cat {} +", False),
        ("find ~ -name '*.py' -o -type f -exec cat {} +", True),
        ("find ~ -name node_modules -prune -o -name '*.js' -exec cat {} +", False),
        ("find ~ -name node_modules -prune -o -type f -exec cat {} +", True),
        (r"find ~ -type f \( -name '*.py' -o -name '*.pyi' \) -exec cat {} +", False),
        (r"find ~ -type f -a \( -name x.py -o -prune \) -exec cat {} +", True),
        ("find ~ -type f -prune -exec grep . {} +", True),
        ("grep -h . $(find ~ -type f -prune)", True),
        ("find ~/ -type f -exec tail -n +1 {} + -prune", True),
        (r"find ~ -type f -exec true -name x.py \; -exec cat {} +", True),
        (r"find ~ -name x.py -exec true \; -exec cat {} +", False),
    ],
)
def test_only_source_code_is_read_anywhere(command: str, asks: bool, project: Path) -> None:
    """What `find` hands on below a home directory is harmless if its tests name source code."""
    assert _asks_in(project, command) is asks
